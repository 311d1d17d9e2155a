#!/bin/sh
# run.sh [--table]: prints each stage beside its C twin or limit, measured in turns in one process, with what is promised;
# then, without --table, all benchmarks with ratios to the best of the others.
# For people, on idle cores: trust ratios, not nanoseconds. gate.sh is what CI runs. Exit status 1: a promise is not kept.
set -eu
. "$(dirname "$0")/begin.sh"
cd "$root"
make_folder
export KYMO_BENCHMARKS=1
# Without jemalloc, which Package.swift switches off, there is nothing to find.
export BENCHMARK_DISABLE_JEMALLOC=1
build_probe StageTable
status=0
echo "$(nproc) processors: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1); load $(cut -d' ' -f1 /proc/loadavg); $(date -u +%F)"
"$scratch/release/StageTable" || status=1
[ "${1:-}" = --table ] && exit $status
swift package --scratch-path "$scratch" --allow-writing-to-directory "$folder" \
    benchmark --no-progress --format jmh --path "$folder"
python3 Benchmarks/compare/ratios.py "$folder"
exit $status
