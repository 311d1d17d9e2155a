#!/bin/sh
# compare.sh [--smoke]: readings per CPU-second from standard input to Observations in files, beside the script that a
# hospital engineer would write (Python with orjson), on the same lines in the same run.
#
# --smoke takes 100,000 readings of 100 devices instead of 1,000,000 of 1,000, and one round instead of five.
# KYMO_SHARED: folder that holds bench/gen_workload.py and bench/py_stdin.py. KYMO_PYTHON: an interpreter with orjson.
# KYMO: the binary, built here when not given. KYMO_RATIO: the least ratio that passes (8, of a quiet machine). KYMO_MEMORY:
# the MiB of peak memory that pass (32).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
python=${KYMO_PYTHON:-python3}
readings=1000000
rounds=5
[ "${1:-}" = "--smoke" ] && readings=100000 && rounds=1

if [ ! -f "$shared/bench/gen_workload.py" ]; then
    echo "compare: skipped, there is no $shared/bench/gen_workload.py (set KYMO_SHARED)" >&2
    exit 0
fi
if ! "$python" -c 'import orjson' 2>/dev/null; then
    echo "compare: skipped, $python has no orjson (set KYMO_PYTHON)" >&2
    exit 0
fi
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "$readings" $((readings / 1000))
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/compare/measure.py" "$KYMO" "$folder/workload.ndjson" "$readings" \
    "$shared/bench" "${KYMO_RATIO:-8}" "$rounds"
