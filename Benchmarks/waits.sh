#!/bin/sh
# waits.sh [--short] [latency] [throughput] [lanes]: what the ways of waiting between lanes and shards (`wait`) cost and
# give on this machine, and what a second lane does; all parts, or those that are named. For people: it promises nothing.
#   - latency:    datagram to standard output at two rates, with the CPU that the pipeline takes meanwhile
#   - throughput: CPU and wall time of readings from standard input, with waits for room in the ring
#   - lanes:      readings taken of four senders that offer more than one lane takes
# KYMO: the binary, built here when not given.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
exec python3 "$here/waits/measure.py" "$KYMO" "$here/workload" "$@"
