#!/bin/sh
# mqtt.sh: messages of QoS 1 per second that kymo takes from a broker and has on disk, beside those that mosquitto_sub
# takes from the same broker, which keeps none. Both get the same messages, which wait in the broker.
#
# KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here when not given. KYMO_MQTT: the least share that
# passes (1.0). Needs the Debian packages mosquitto and mosquitto-clients.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/mqtt.py" "$KYMO" "$folder" "${KYMO_MQTT:-1.0}"
