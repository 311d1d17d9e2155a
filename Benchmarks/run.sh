#!/bin/sh
# run.sh: builds and runs all benchmarks, and prints each stage beside its C twin or rival of the same run.
# For people: trust ratios, not nanoseconds. gate.sh is what CI runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
# Without jemalloc, which this package switches off, there is nothing to find.
export BENCHMARK_DISABLE_JEMALLOC=1
swift package --scratch-path "${KYMO_SCRATCH:-$here/.build}" --allow-writing-to-directory "$folder" \
    benchmark --no-progress --format jmh --path "$folder"
python3 compare/ratios.py "$folder"
