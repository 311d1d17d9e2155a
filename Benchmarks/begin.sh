# begin.sh: what measurements begin with, read by each: `python`, `KYMO`, built where it is not given, and
# `folder`, which is removed at the end. `here` is its folder.
python=${KYMO_PYTHON:-python3}
if [ -z "${KYMO:-}" ]; then
    root=$(dirname "$here")
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
