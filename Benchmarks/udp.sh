#!/bin/sh
# udp.sh: no loss over UDP on loopback, windows on, at 90 % of the rate at which a bare receiver in C loses nothing.
#
# The limit is found by bisection with netprobe.c, in the same run, on the same machine; then the same rate of readings
# is sent to `kymo run` by udpsend.c. KYMO_SHARED: folder that holds bench/*.c. KYMO: the binary, built when not given.
# KYMO_UDP_SECONDS: length of each run (2). KYMO_UDP_SHARE: percentage of the limit (90).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
if [ ! -f "$shared/bench/netprobe.c" ]; then
    echo "udp: skipped, there is no $shared/bench/netprobe.c (set KYMO_SHARED)" >&2
    exit 0
fi
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cc -O2 -D_GNU_SOURCE -w -o "$folder/netprobe" "$shared/bench/netprobe.c" -lpthread
cc -O2 -w -o "$folder/udpsend" "$shared/bench/udpsend.c"
python3 "$here/compare/udp.py" "$folder" "$KYMO" "$here/workload" "${KYMO_UDP_SECONDS:-2}" "${KYMO_UDP_SHARE:-90}"
