#!/bin/sh
# compare.sh [--smoke]: readings per CPU-second from standard input to Observations in files, beside the script that a
# hospital engineer would write (Python with orjson), on the same lines in the same run.
#
# --smoke takes 100,000 readings of 100 devices instead of 1,000,000 of 1,000, and one round instead of five.
# KYMO_SHARED: folder that holds bench/gen_workload.py and bench/py_stdin.py. KYMO_PYTHON: an interpreter with orjson.
# KYMO: the binary, built here when not given. KYMO_RATIO: the least ratio that passes (8, of a quiet machine). KYMO_MEMORY:
# the MiB of peak memory that pass (32).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
"$python" -c 'import orjson' 2>/dev/null || skip "$python has no orjson (set KYMO_PYTHON)"
need_kymo
make_folder
readings=1000000
rounds=5
[ "${1:-}" = "--smoke" ] && readings=100000 && rounds=1
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "$readings" $((readings / 1000))
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/compare/measure.py" "$KYMO" "$folder/workload.ndjson" "$readings" \
    "$shared/bench" "${KYMO_RATIO:-8}" "$rounds"
