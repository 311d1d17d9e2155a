#!/bin/sh
# console.sh [PATIENTS]: what the console costs, and how fast its pages are.
#   - readings a second, and CPU time of each, beside 8 viewers of the pages that people look at, and beside 8 of the page Live,
#     against none, in turn, the medians of five rounds of KYMO_SECONDS: 2 % at most; their memory: 6 MiB at most
#   - the list of 1,000 devices: 100 ms at most
#   - bytes of each page over the wire, with its data: 120 KB at most; first paint: 300 ms at most
#   - a page that shows 1,000 series, each with a new reading a second: 10 % of a processor at most in the browser
#   - first paint, and the timeline of a device's day on the screen when it is opened by its address, in a store with a day of
#     1,000 devices that send once a minute: 300 ms and 500 ms at most
#   - the timeline of a patient's day, 1 Hz of five types, on the screen, in a store with that day of PATIENTS patients
#     (default 232: 100 million readings, about 420 MB): 500 ms at most
# The pages are looked at by a real Chromium on the same processors.
#
# KYMO_SHARED: folder that holds bench/gen_workload.py. KYMO_PYTHON: a Python interpreter with Playwright. KYMO: the binary,
# built here when not given. KYMO_READINGS: how many the workload has (4000000), which is sent again and again. KYMO_SECONDS:
# how long a round is (20).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/gen_workload.py
need_kymo
make_folder
readings=${KYMO_READINGS:-4000000}
"$python" "$shared/bench/gen_workload.py" "$folder/workload.ndjson" "$readings" 1000
export PYTHONPATH="$here/timeline:$root/Tests/Console:$PYTHONPATH" KYMO_BINARY="$KYMO"
status=0
"$python" -B "$here/console/viewers.py" "$KYMO" "$folder" "$here/workload" "${KYMO_SECONDS:-20}" || status=1
rm "$folder/workload.ndjson"
"$python" -B "$here/console/pages.py" "$KYMO" "$folder" "${1:-232}" || status=1
exit $status
