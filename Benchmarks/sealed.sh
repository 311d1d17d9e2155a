#!/bin/sh
# sealed.sh: what encryption costs. Readings per second from standard input through a store to files, with a key and
# without, on the same lines in turn. The best round of each counts.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here
# when not given. KYMO_SEALED: the least share of the throughput that passes (0.9). KYMO_READINGS: how many (1000000).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
python=${KYMO_PYTHON:-python3}
if [ ! -f "$shared/bench/gen_workload.py" ]; then
    echo "sealed: skipped, there is no $shared/bench/gen_workload.py (set KYMO_SHARED)" >&2
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
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "${KYMO_READINGS:-1000000}" 1000
"$KYMO" keys new "$folder/key"
"$python" "$here/durable/sealed.py" "$KYMO" "$folder" "$here/workload" "${KYMO_SEALED:-0.9}"
