# begin.sh: what measurements begin with, read by each. Sets `here`, their folder, `root`, the project's, `shared`
# (KYMO_SHARED), `scratch`, where probes are built (KYMO_SCRATCH), and `python` (KYMO_PYTHON), which finds running.py.
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
shared=${KYMO_SHARED:-$root/../shared}
scratch=${KYMO_SCRATCH:-$root/.build/benchmarks}
python=${KYMO_PYTHON:-python3}
export PYTHONPATH="$here/running${PYTHONPATH:+:$PYTHONPATH}"

# skip WHY: says why there is no measurement, which is no failure, and ends.
skip() {
    echo "$(basename "$0" .sh): skipped, $1" >&2
    exit 0
}

# need_shared FILE: skips where `shared` has no such file.
need_shared() {
    [ -f "$shared/$1" ] || skip "there is no $shared/$1 (set KYMO_SHARED)"
}

# need_kymo: builds the binary where KYMO does not name one.
need_kymo() {
    [ -z "${KYMO:-}" ] || return 0
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
}

# build_probe NAME: builds $scratch/release/NAME.
build_probe() {
    KYMO_BENCHMARKS=1 swift build --package-path "$root" --scratch-path "$scratch" -c release --product "$1" >&2
}

# make_folder: makes `folder`, which is removed at the end.
make_folder() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
