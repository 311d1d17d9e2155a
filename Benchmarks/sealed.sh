#!/bin/sh
# sealed.sh: what encryption costs. Readings per second from standard input through a store to files, with a key and
# without, on the same lines in turn. The best round of each counts.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here
# when not given. KYMO_SEALED: the least share of the throughput that passes (0.9). KYMO_READINGS: how many (1000000).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
need_kymo
make_folder
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "${KYMO_READINGS:-1000000}" 1000
"$KYMO" keys new "$folder/key"
"$python" "$here/durable/sealed.py" "$KYMO" "$folder" "$here/workload" "${KYMO_SEALED:-0.9}"
