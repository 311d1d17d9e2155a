#!/bin/sh
# mllp.sh: messages per second by MLLP, of a monitor with three results each, beside the same readings by a Unix stream
# socket, all of them on disk before they count.
#
# KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here when not given. KYMO_MLLP: the least messages per
# second that pass (20000).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/mllp.py" "$KYMO" "$folder" "${KYMO_MLLP:-20000}"
