#!/bin/sh
# timeline.sh [PATIENTS]: how long the timeline of one patient's day takes, at 1 Hz of five types (432,000 readings), in a store
# with that day of PATIENTS patients (default 232: 100 million readings, about 700 MB).
#   - the first answer, and the best of five behind it, for buckets of a minute and of an hour: 500 ms at most
# One patient's day is written by `kymo run`; the rows of its windows are copied for the others, whose readings are not looked
# at. KYMO: the binary, built here when not given. KYMO_SCRATCH names another folder for building the probe.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scratch=${KYMO_SCRATCH:-$root/.build/benchmarks}
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
if [ -z "${TIMELINE_PROBE:-}" ]; then
    KYMO_BENCHMARKS=1 swift build --package-path "$root" --scratch-path "$scratch" -c release --product TimelineProbe >&2
    TIMELINE_PROBE=$scratch/release/TimelineProbe
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
python3 "$here/timeline/measure.py" "$KYMO" "$TIMELINE_PROBE" "$folder" "${1:-232}"
