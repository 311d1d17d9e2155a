#!/bin/sh
# timeline.sh [PATIENTS]: how long the timeline of one patient's day takes, at 1 Hz of five types (432,000 readings), in a store
# with that day of PATIENTS patients (default 232: 100 million readings, about 420 MB).
#   - the first answer, and the best of five behind it, for buckets of a minute and of an hour: 500 ms at most
# All days are written by `kymo run`, the same readings under other names: a store takes pages of another writer for damaged.
# KYMO: the binary, built here when not given. KYMO_SCRATCH names another folder for building the probe.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
if [ -z "${TIMELINE_PROBE:-}" ]; then
    build_probe TimelineProbe
    TIMELINE_PROBE=$scratch/release/TimelineProbe
fi
make_folder
python3 "$here/timeline/measure.py" "$KYMO" "$TIMELINE_PROBE" "$folder" "${1:-232}"
