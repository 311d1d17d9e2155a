#!/bin/sh
# limits.sh: what this machine can do at most, by probes in C and C++: packets of 200 bytes over loopback, rings between two
# threads, scanning readings, reading and writing files. For people, on idle cores; run.sh has our stages beside twins of
# these in one run.
#
# KYMO_SHARED: folder that holds bench/*.c. Needs cc; simdprobe needs c++ and libsimdjson-dev.
set -eu
. "$(dirname "$0")/begin.sh"
need_shared bench/netprobe.c
probes=$shared/bench
make_folder
cc -O2 -D_GNU_SOURCE -w -o "$folder/netprobe" "$probes/netprobe.c" -lpthread
cc -O2 -w -o "$folder/ringprobe" "$probes/ringprobe.c" -lpthread
cc -O2 -w -o "$folder/scanprobe" "$probes/scanprobe.c"
cc -O2 -Wall -Wextra -Werror -o "$folder/files" "$here/limits/files.c"
case $(uname -m) in x86_64) arch=-march=haswell ;; *) arch= ;; esac
c++ -O2 $arch -std=c++17 -w -o "$folder/simdprobe" "$probes/simdprobe.cpp" -lsimdjson 2>/dev/null ||
    echo "simdprobe: not built (libsimdjson-dev is missing)"

echo "$(nproc) processors: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1); kernel $(uname -r); load $(cut -d' ' -f1 /proc/loadavg); $(date -u +%F)"
port=$((20000 + $$ % 20000))
# net NAME RECEIVER-OPTIONS SENDER-OPTIONS: as fast as the sender can for two seconds.
net() {
    port=$((port + 1))
    "$folder/netprobe" recv udp $port 2 ovfl $2 >"$folder/received" &
    receiver=$!
    sleep 0.2
    "$folder/netprobe" send udp $port 2 200 0 $3 >"$folder/sent"
    wait $receiver
    echo "$1"
    sed 's/^/    /' "$folder/sent" "$folder/received"
}
net "UDP, plain sender" "" ""
net "UDP, sender with UDP_SEGMENT" "" "gso 40"
net "UDP, sender with UDP_SEGMENT, receiver with UDP_GRO" "gro" "gso 40"
for probe in ringprobe scanprobe simdprobe; do
    [ -x "$folder/$probe" ] || continue
    echo "$probe"
    "$folder/$probe" | sed 's/^/    /'
done
echo "files (in $folder)"
"$folder/files" "$folder" | sed 's/^/    /'
