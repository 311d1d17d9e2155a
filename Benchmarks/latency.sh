#!/bin/sh
# latency.sh [--short]: how long a reading takes through the pipeline, in memory, on this machine; fails above what is
# promised. Measured by `kymo simulate --latency` at fixed times, from when each reading was due.
#   - instance mode, UDP to standard output, at half of the rate that the machine bears: p50 150 us, p99 1 ms, of three
#     runs in one
#   - windows, from the reading that closes one:                                        p99 5 ms
# KYMO: the binary, built here when not given. KYMO_LATENCY_SLACK, KYMO_LATENCY_TAIL: how many times the promised p50 and
# the promised p99 the figures may be (1, and as KYMO_LATENCY_SLACK).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
exec python3 "$here/latency/measure.py" "$KYMO" "${KYMO_LATENCY_SLACK:-1}" "${KYMO_LATENCY_TAIL:-${KYMO_LATENCY_SLACK:-1}}" "$@"
