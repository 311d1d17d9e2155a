#!/bin/sh
# durable.sh: what it costs to lose nothing. Readings per second from standard input to files, with a store and without,
# on the same lines in turn; the time from the reading that closes a window to the window's bytes in the file; and the
# time of a start after SIGKILL.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here
# when not given. KYMO_DURABLE: the least share of the throughput that passes (0.75). KYMO_LATENCY: the longest 99th
# percentile that passes, in ms (30). KYMO_RESTART: the longest start that passes, in ms (2000).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
python=${KYMO_PYTHON:-python3}
if [ ! -f "$shared/bench/gen_workload.py" ]; then
    echo "durable: skipped, there is no $shared/bench/gen_workload.py (set KYMO_SHARED)" >&2
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
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" 1000000 1000
"$python" "$here/durable/throughput.py" "$KYMO" "$folder" "$here/workload" "${KYMO_DURABLE:-0.75}"
"$python" "$here/durable/latency.py" "$KYMO" "$folder" "${KYMO_LATENCY:-30}"
"$python" "$here/durable/restart.py" "$KYMO" "$folder" "$here/workload" "${KYMO_RESTART:-2000}"
