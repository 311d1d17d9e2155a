#!/bin/sh
# durable.sh: what it costs to lose nothing. Readings per second from standard input to files, with a store and without,
# on the same lines in turn; the time from the reading that closes a window to the window's bytes in the file; and the
# time of a start after SIGKILL until it is ready, in a small store and in one of 2,400,000 readings.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here
# when not given. KYMO_DURABLE: the least share of the throughput that passes (0.75). KYMO_LATENCY: the longest 99th
# percentile that passes, in ms (30). KYMO_RESTART, KYMO_READY: the longest start that passes, in ms, until it accepts clients
# (2000), and until it has taken the journal (2000).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
need_kymo
make_folder
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" 1000000 1000
"$python" "$here/durable/throughput.py" "$KYMO" "$folder" "$here/workload" "${KYMO_DURABLE:-0.75}"
"$python" "$here/durable/latency.py" "$KYMO" "$folder" "${KYMO_LATENCY:-30}"
"$python" "$here/durable/restart.py" "$KYMO" "$folder" "$here/workload" "${KYMO_RESTART:-2000}" \
    "${KYMO_READY:-2000}"
