#!/bin/sh
# rivals.sh [READINGS]: the same readings by kymo, by the scripts that it replaces (Python with orjson and with json), and by
# a database that takes them all at once (DuckDB on one thread), in turns. Prints a table, and fails when they do not all
# agree on the count, the least and the greatest value of each window.
#
# KYMO_SHARED: folder that holds bench/*.py. KYMO: the binary, built here when not given. The rivals are installed into
# Benchmarks/.venv. Needs idle cores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
if [ ! -f "$shared/bench/gen_workload.py" ]; then
    echo "rivals: skipped, there is no $shared/bench/gen_workload.py (set KYMO_SHARED)" >&2
    exit 0
fi
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
[ -x "$here/.venv/bin/python" ] || python3 -m venv "$here/.venv"
"$here/.venv/bin/pip" install -q --disable-pip-version-check -r "$here/rivals/requirements.txt"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$here/.venv/bin/python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "${1:-1000000}"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/compare" "$here/.venv/bin/python" "$here/rivals/table.py" \
    "$KYMO" "$folder" "${1:-1000000}" "$shared/bench"
