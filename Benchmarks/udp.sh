#!/bin/sh
# udp.sh: no loss over UDP on loopback, windows on, at 90 % of the rate at which a bare receiver in C loses nothing.
#
# The limit is found by bisection with netprobe.c, in the same run, on the same machine; then the same rate of readings
# is sent to `kymo run` by udpsend.c. KYMO_SHARED: folder that holds bench/*.c. KYMO: the binary, built when not given.
# KYMO_UDP_SECONDS: length of each run (2). KYMO_UDP_SHARE: percentage of the limit (90).
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/netprobe.c
need_kymo
make_folder
cc -O2 -D_GNU_SOURCE -w -o "$folder/netprobe" "$shared/bench/netprobe.c" -lpthread
cc -O2 -w -o "$folder/udpsend" "$shared/bench/udpsend.c"
python3 "$here/compare/udp.py" "$folder" "$KYMO" "$here/workload" "${KYMO_UDP_SECONDS:-2}" "${KYMO_UDP_SHARE:-90}"
