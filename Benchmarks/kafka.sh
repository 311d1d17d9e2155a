#!/bin/sh
# kafka.sh: readings per second, and per second of a processor, that kymo takes from a topic and has on disk: by one
# instance, by one that reads 256 MiB ahead, by two that have half the partitions each, and beside them those that librdkafka alone takes, which keeps
# none. The cluster is librdkafka's mock, in a process of its own.
#
# KYMO_PYTHON: a Python interpreter with confluent-kafka. KYMO: the binary, built here when not given. KYMO_TWO: the
# least that two instances do for each second of a processor, as a multiple of one, times two (1.8).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/kafka.py" "$KYMO" "$folder" "$root/Tests/Servers/kafka_brokers.py" "${KYMO_TWO:-1.8}"
