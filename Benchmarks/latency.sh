#!/bin/sh
# latency.sh [--short]: how long a reading takes through the pipeline, in memory, on this machine; fails above what is
# promised. Measured by `kymo simulate --latency` at fixed times, from when each reading was due.
#   - instance mode, UDP to standard output, at half of the rate that the machine bears: p50 150 us, p99 1 ms, of three
#     turns in one
#   - windows, from the reading that closes one:                                        p99 5 ms
# A bare relay in C takes turns with the pipeline: it shows what the machine itself takes, and excuses nothing.
# KYMO: the binary, built here when not given. KYMO_LATENCY_SLACK: how many times what is promised the figures may be (1).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
cc -O2 -Wall -o "$folder/relay" "$here/latency/relay.c"
python3 "$here/latency/measure.py" "$KYMO" "$folder/relay" "${KYMO_LATENCY_SLACK:-1}" "$@"
