#!/bin/bash
# Checks the Debian package in .build/deb: lintian, unit, manual pages, completions, and that what it installs in a
# fresh Debian 12 without a compiler receives a reading and writes an Observation. Then the container image. Needs root,
# and Debian's mirror once.
set -euo pipefail
cd "$(dirname "$0")/.."
packaging/need.sh debootstrap buildah lintian mandoc man-db bash-completion zsh fish strace systemd
deb=$(echo .build/deb/kymo_*.deb)
[ -f "$deb" ] || { echo "test.sh: there is no package in .build/deb: run make deb" >&2; exit 1; }

echo "== lintian"
lintian --fail-on error,warning --allow-root "$deb"

echo "== a Debian 12 to install it in"
cache=.build/debootstrap
if [ ! -f "$cache/base.made" ]; then
    rm -rf "$cache"
    mkdir -p "$cache"
    debootstrap --variant=minbase bookworm "$cache/base" http://deb.debian.org/debian >"$cache/log" ||
        { tail "$cache/log" >&2; exit 1; }
    touch "$cache/base.made"
fi
root=$cache/root
finish() { umount -q "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"; }
trap finish EXIT
finish
cp -a "$cache/base" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"

began=$SECONDS
echo "== installation"
cp "$deb" "$root/tmp/"
# No service may be started in there.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
install="apt-get install -y -qq --no-install-recommends /tmp/$(basename "$deb")"
run() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
# Old lists name what the mirror has no more.
run $install >"$cache/log" 2>&1 || { run apt-get update -qq && run $install; } >"$cache/log" 2>&1 ||
    { tail -20 "$cache/log" >&2; exit 1; }
# What it depends on is the same next time.
cp -an "$root/var/cache/apt/archives/." "$cache/base/var/cache/apt/archives/"
cp -a "$root/var/lib/apt/lists/." "$cache/base/var/lib/apt/lists/"
for tool in cc gcc clang swift ld; do
    ! run sh -c "command -v $tool" || { echo "test.sh: there is a compiler in the root: $tool" >&2; exit 1; }
done

echo "== what the documents name"
for file in docs/monitoring/alerts.yml docs/tutorials/first-observation.md examples/bridges/bleak_bridge.py; do
    [ -s "$root/usr/share/doc/kymo/$file" ] || { echo "test.sh: $file is not in the package" >&2; exit 1; }
done

echo "== the SBOM"
sbom=$root/usr/share/doc/kymo/sbom
"${KYMO_PYTHON:-.venv/bin/python}" -B Tests/Validation/check_sbom.py "$sbom"
digest=$(sha256sum "$root/usr/bin/kymo" | cut -d ' ' -f 1)
grep -q "$digest" "$sbom/kymo.cdx.json" && grep -q "$digest" "$sbom/kymo.spdx.json" ||
    { echo "test.sh: the SBOM is of another binary" >&2; exit 1; }

echo "== the demo, without a network"
unshare --net chroot "$root" env LC_ALL=C.UTF-8 timeout 60 kymo demo >"$cache/demo" 2>"$cache/log" ||
    { tail -20 "$cache/log" >&2; exit 1; }
grep -q '"resourceType": "Observation"' "$cache/demo" && grep -q '^Next:' "$cache/demo" ||
    { echo "test.sh: the demo shows no Observation, or not what comes next" >&2; exit 1; }

echo "== the unit's commands"
python3 packaging/test_unit.py "$root"
echo "   from installation to the first Observation and the end: $((SECONDS - began)) s (at most 120)"
[ $((SECONDS - began)) -lt 120 ]
"${KYMO_PYTHON:-.venv/bin/python}" Tests/Validation/check_model.py "$root"/var/lib/kymo/observations/*.ndjson

echo "== the unit"
run systemd-analyze verify --man=no /lib/systemd/system/kymo.service
systemd-analyze security --offline=true --threshold=15 --no-pager "$root/lib/systemd/system/kymo.service" | tail -1

echo "== manual pages"
gunzip -k "$root"/usr/share/man/man1/kymo*.1.gz
mandoc -Tlint -W warning "$root"/usr/share/man/man1/kymo*.1
for page in "$root"/usr/share/man/man1/kymo*.1; do
    told=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings=w -l "$page" 2>&1 >/dev/null || true)
    [ -z "$told" ] || { echo "test.sh: $page: $told" >&2; exit 1; }
done
rm "$root"/usr/share/man/man1/kymo*.1

echo "== completions"
share=$(realpath "$root/usr/share")
completes() {
    [[ " $2 " == *" status "* ]] || { echo "test.sh: $1 completes 'kymo stat' to '$2'" >&2; exit 1; }
}
completes bash "$(bash --norc -c '. "$1"; COMP_WORDS=(kymo stat); COMP_CWORD=1; COMP_LINE="kymo stat"; COMP_POINT=9
    _kymo kymo stat kymo; echo "${COMPREPLY[*]}"' _ "$share/bash-completion/completions/kymo")"
completes fish "$(HOME=$(mktemp -d) fish --no-config -c 'source $argv[1]; complete -C "kymo stat"' \
    "$share/fish/vendor_completions.d/kymo.fish" | cut -f 1 | tr '\n' ' ')"
# zsh completes in its line editor only, for which it needs a terminal of its own.
completes zsh "$(HOME=$(mktemp -d) timeout 30 zsh -f packaging/complete.zsh "$share/zsh/vendor-completions" 'kymo stat')"

echo "== removal"
run dpkg --purge kymo >"$cache/log" 2>&1 || { cat "$cache/log" >&2; exit 1; }
[ ! -e "$root/etc/kymograph/kymo.yaml" ] && [ -d "$root/var/lib/kymo/store" ]

echo "== container image"
container=.build/container
packaging/rootfs.sh $container/root
# Without a registry, and without what a container engine wants of the kernel.
builder() { buildah --storage-driver vfs --root "$PWD/$container/storage" --runroot "$PWD/$container/run" "$@"; }
builder bud -q --isolation chroot -t kymo . >/dev/null
image=$(builder from kymo)
got=$(echo '{"deviceId":"a","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":61,"unit":"/min"}' |
    builder run --isolation chroot "$image" -- /usr/bin/kymo run --stdin --format ndjson 2>$container/log)
[[ $got == *'"8867-4"'* ]] || { cat "$container/log" >&2; exit 1; }
"${KYMO_PYTHON:-.venv/bin/python}" -B Tests/Validation/check_sbom.py $container/root/usr/share/doc/kymo/sbom
builder run --isolation chroot "$image" -- /usr/bin/kymo check --config /etc/kymograph/kymo.yaml 2>&1
# libcurl is there, with all that it needs, and the user may keep data.
got=$(builder run --isolation chroot "$image" -- /usr/bin/kymo run --server http://127.0.0.1:9/ --server-identity create \
    --stdin --out none 2>&1 </dev/null) || { echo "$got" >&2; exit 1; }
rm -f $container/kymo.tar
builder push -q kymo "oci-archive:$container/kymo.tar"
bytes=$(stat -c %s $container/kymo.tar)
unpacked=$(du -sm --apparent-size $container/root | cut -f 1)
echo "   $((bytes / 1000000)) MB as it is pulled (at most 60), $unpacked MiB unpacked"
[ "$bytes" -lt 60000000 ]
builder rm -a >/dev/null
builder rmi -a >/dev/null
echo "the packages hold"
