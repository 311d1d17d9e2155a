#!/bin/sh
# payloads.sh: what it costs to keep payloads as they came (store.keepRaw). Readings per second from standard input
# through a store to files, with the setting and without, on the same lines in turn; and bytes of the data directory
# for each reading. The best round of each counts.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here
# when not given. KYMO_READINGS: how many (1000000).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
need_kymo
make_folder
readings=${KYMO_READINGS:-1000000}
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "$readings" 1000
printf 'store: {keepRaw: 30d}\n' >"$folder/kept.yaml"
"$python" "$here/durable/payloads.py" "$KYMO" "$folder" "$here/workload" "$readings"
