#!/bin/bash
# Builds a commit (COMMIT, or the last one) twice, in folders with names of different length, and compares what would be installed:
# reproducible.sh [FOLDER]. Says what differs, and exits with status 1 if anything does. Takes as long as two builds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-$(mktemp -d)}
commit=$(git rev-parse "${COMMIT:-HEAD}")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH

build() {
    rm -rf "$work/$1"
    git clone -q --no-hardlinks . "$work/$1"
    git -C "$work/$1" checkout -q --detach "$commit"
    echo "== building in $work/$1"
    # The packages that are pinned, as they are here.
    (cd "$work/$1" && make build >"$work/$1.log" 2>&1) || { tail -20 "$work/$1.log" >&2; exit 1; }
}
build first
build second/and-longer
first=$work/first/.build/install/kymo second=$work/second/and-longer/.build/install/kymo
sha256sum "$first" "$second"
if cmp -s "$first" "$second"; then
    echo "both builds of $commit are the same"
    exit 0
fi
echo "the builds differ:" >&2
for section in $(readelf -SW "$first" | sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]+) .*/\1/p'); do
    objcopy -O binary --only-section="$section" --set-section-flags "$section=alloc" "$first" "$work/a.bin" 2>/dev/null || continue
    objcopy -O binary --only-section="$section" --set-section-flags "$section=alloc" "$second" "$work/b.bin" 2>/dev/null || continue
    cmp -s "$work/a.bin" "$work/b.bin" ||
        echo "  $section: $(stat -c %s "$work/a.bin") and $(stat -c %s "$work/b.bin") bytes, $(cmp -l "$work/a.bin" "$work/b.bin" 2>/dev/null | wc -l) differ" >&2
done
echo "texts of only the first:" >&2
diff <(strings -n 8 "$first" | sort) <(strings -n 8 "$second" | sort) | sed -n 's/^< /  /p' | head -20 >&2 || true
exit 1
