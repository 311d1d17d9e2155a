#!/bin/sh
# single.sh: readings per second by HTTP, a request each, beside those of a service of aiohttp, orjson and SQLite that has
# them on disk before it answers, too.
#
# It needs wrk. KYMO_PYTHON: a Python interpreter with aiohttp and orjson. KYMO: the binary, built here when not given. KYMO_SINGLE: how
# many times the service's rate passes (3).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/single.py" "$KYMO" "$folder" "${KYMO_SINGLE:-3}"
