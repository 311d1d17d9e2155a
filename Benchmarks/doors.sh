#!/bin/sh
# doors.sh: readings per second by HTTP, in NDJSON bodies of 100 readings, beside those by a Unix stream socket, and by TCP
# with TLS beside TCP without, the same readings in turn, all of them on disk before they count.
#
# KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here when not given. KYMO_DOORS, KYMO_TLS: the least shares
# that pass (0.8, 0.6).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/measure.py" "$KYMO" "$folder" "${KYMO_DOORS:-0.8}" "${KYMO_TLS:-0.6}"
