#!/bin/sh
# growth.sh [--short] [series] [lengths] [memory] [long] [quiet] [start] [templates] [idle]: how cost and memory grow, all parts or
# those that are named; fails above what is promised. Each figure is a ratio within the run, memory or time of a start.
#   - a reading among 1,000,000 series, against 10:                1.3 times the CPU
#   - a reading in windows of 24 hours, against 1 minute:          1.3 times
#   - a reading that comes to 10 times as many quiet series:       1.3 times
#   - 1,000,000 open windows:                                      600 MiB
#   - a reading more of a window of a day:                        6 B
#   - starting with every mapping of the catalogue:                50 ms
#   - a mapping of 200 templates, against 1:                       twice
#   - doing nothing:                                               0.5 % of a processor
# Needs idle cores, a quarter of an hour, and 3 GiB of memory. KYMO: the binary, built here when not given.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
python3 "$here/growth/measure.py" "$KYMO" "$folder" "$here/workload" "$@"
