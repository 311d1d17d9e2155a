#!/bin/sh
# rivals.sh [READINGS]: the same readings by kymo, by the scripts that it replaces (Python with orjson and with json), and by
# a database that takes them all at once (DuckDB on one thread), in turns. Prints a table, and fails when they do not all
# agree on the count, the least and the greatest value of each window.
#
# KYMO_SHARED: folder that holds bench/*.py. KYMO: the binary, built here when not given. The rivals are installed into
# Benchmarks/.venv. Needs idle cores.
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
need_kymo
[ -x "$here/.venv/bin/python" ] || python3 -m venv "$here/.venv"
"$here/.venv/bin/pip" install -q --disable-pip-version-check -r "$here/rivals/requirements.txt"
make_folder
"$here/.venv/bin/python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "${1:-1000000}"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/compare:$PYTHONPATH" "$here/.venv/bin/python" "$here/rivals/table.py" \
    "$KYMO" "$folder" "${1:-1000000}" "$shared/bench"
