#!/bin/bash
# Makes the root filesystem of the container image: rootfs.sh FOLDER [BUILD/install/kymo]. The binary, the libraries that it links and
# loads, as this Debian has them, authorities for TLS, time zones, and a user. No shell, no package manager.
set -euo pipefail
root=$1
kymo=${2:-$(dirname "$0")/../.build/install/kymo}
sources=$(dirname "$0")/../Sources
rm -rf "$root"
mkdir -p "$root"/{usr/bin,usr/share,etc/ssl/certs,etc/kymograph,tmp}
install -m 755 "$kymo" "$root/usr/bin/kymo"

# What CCurl, CPostgres and CKafka load at run time, and the loader finds by the names that libraries bear.
loaded=()
for name in $(sed -n 's/^#define LIBRARY "\(.*\)"$/\1/p' "$sources"/{CCurl,CPostgres,CKafka}/library.c); do
    loaded+=("$(ldconfig -p | awk -v name="$name" '$1 == name { found = $NF } END { print found }')")
done
needed=$(ldd "$kymo" "${loaded[@]}" | awk '$2 == "=>" { print $3 } $1 ~ /^\/lib.*ld-linux/ { print $1 }' | sort -u)
for library in "${loaded[@]}" $needed; do
    mkdir -p "$root$(dirname "$library")"
    [ -e "$root$library" ] || install -m 755 "$(realpath "$library")" "$root$library"
done

# What is in it, for who scans images. The build is the one that has made this binary.
build=$(dirname "$kymo")/..
"$(dirname "$0")/sbom.py" "$kymo" "$root/usr/share/doc/kymo/sbom" --build "$build" --map "$build/kymo.map" >/dev/null

cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
# Without the copies for other clocks and other programs.
cp -r /usr/share/zoneinfo "$root/usr/share/zoneinfo"
rm -rf "$root"/usr/share/zoneinfo/{posix,right}
printf 'kymo:x:10001:10001::/var/lib/kymo:/sbin/nologin\n' >"$root/etc/passwd"
printf 'kymo:x:10001:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
install -d -m 1777 "$root/tmp"
# The user's folders, which the Containerfile makes: it says whose they are.
mkdir -p "$root/var/lib" "$root/run" "$root/../empty"
# As in the Debian package, but that other containers and the host can send: what is published decides who may.
sed 's/udp: 127\.0\.0\.1:/udp: 0.0.0.0:/' "$(dirname "$0")/kymo.yaml" >"$root/etc/kymograph/kymo.yaml"
