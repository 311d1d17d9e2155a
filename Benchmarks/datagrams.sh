#!/bin/sh
# datagrams.sh [--short] [one|batch]: what a datagram costs, and how many readings come in when several share one.
#   - one: CPU per datagram of one reading, beside a bare receiver in C in the same run and at the same rate: of a lane that
#     does nothing with them, and of the whole pipeline, windows on. Plain senders, and senders that hand the kernel 40
#     datagrams at a time (UDP_SEGMENT), without and with UDP_GRO (`coalesce`).
#   - batch: readings a second and per CPU-second of NDJSON, arrays and binary frames in datagrams, one lane, without loss.
# For people, on idle cores; prints EXCEEDED where a figure misses what is promised, and then fails.
# KYMO_SHARED: folder that holds bench/netprobe.c. KYMO: the binary, built here when not given. KYMO_SCRATCH names another
# folder for building the probe.
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/netprobe.c
need_kymo
build_probe LaneProbe
make_folder
cc -O2 -D_GNU_SOURCE -w -o "$folder/netprobe" "$shared/bench/netprobe.c" -lpthread
cc -O2 -Wall -o "$folder/send" "$here/datagrams/send.c"
python3 "$here/datagrams/measure.py" "$folder" "$KYMO" "$scratch/release/LaneProbe" "$here/workload" "$@"
