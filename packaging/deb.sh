#!/bin/bash
# Makes .build/deb/kymo_VERSION_ARCHITECTURE.deb from the binary to install, BUILD/install/kymo: deb.sh [KYMO]. The same input gives the
# same bytes: times in it are that of the last commit (SOURCE_DATE_EPOCH).
set -euo pipefail
cd "$(dirname "$0")/.."
kymo=${1:-.build/install/kymo}
[ -x "$kymo" ] || { echo "deb.sh: there is no $kymo: run make build" >&2; exit 1; }
packaging/need.sh chrpath debhelper dpkg-dev fakeroot python3
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C.UTF-8 TZ=UTC
# `kymo 0.1.0 (commit …`
KYMO_VERSION=$("$kymo" --version | cut -d ' ' -f 2)
export KYMO_VERSION

# The library that CCurl loads at run time, and the package that has it where this is built. The newest option that is
# used of it is CURLOPT_PREREQFUNCTION, of 7.80.
soname=$(sed -n 's/^#define LIBRARY "\(.*\)"$/\1/p' Sources/CCurl/library.c)
library=$(ldconfig -p | awk -v name="$soname" '$1 == name { found = $NF } END { print found }')
owner=$(dpkg-query -S "$(realpath "$library")" | cut -d : -f 1)
[ -n "$soname" ] && [ -n "$owner" ] || { echo "deb.sh: cannot find the package of '$soname'" >&2; exit 1; }
export KYMO_LOADED="$owner (>= 7.80)"

tree=.build/deb/kymograph-$KYMO_VERSION
rm -rf .build/deb
mkdir -p "$tree"
cp -r packaging/debian packaging/examples packaging/kymo.yaml "$tree"
cp -r bridges "$tree/examples"
rm -rf "$tree/examples/bridges/__pycache__"
cp packaging/kymo.service "$tree/debian/kymo.service"
cp "$kymo" "$tree/kymo"
# All its libraries are the distribution's: it looks for none beside itself.
chrpath -d "$tree/kymo" >/dev/null
# Of the binary that is in the package, byte by byte, and of the build that has made it.
build=$(dirname "$kymo")/..
packaging/sbom.py "$tree/kymo" "$tree/sbom" --build "$build" --map "$build/kymo.map" >/dev/null
cp SECURITY.md "$tree/SECURITY.md"
mkdir -p "$tree/docs" "$tree/completions"/{bash,zsh,fish}
cp -r docs/*.md docs/monitoring docs/tutorials "$tree/docs"
# Sourced, not run.
"$kymo" completions bash | sed '1{/^#!/d}' >"$tree/completions/bash/kymo"
"$kymo" completions zsh >"$tree/completions/zsh/_kymo"
"$kymo" completions fish >"$tree/completions/fish/kymo.fish"
python3 packaging/manual.py "$kymo" "$tree/man"
cat >"$tree/debian/changelog" <<END
kymograph ($KYMO_VERSION) unstable; urgency=medium

  * Built from commit $(git rev-parse --short=12 HEAD).

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
(cd "$tree" && dpkg-buildpackage -b -us -uc >../build.log 2>&1) || { cat .build/deb/build.log >&2; exit 1; }
ls .build/deb/*.deb
