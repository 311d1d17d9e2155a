#!/usr/bin/env python3
"""Says what is in a binary: `sbom.py KYMO FOLDER [--build FOLDER] [--map FILE]` writes kymo.cdx.json (CycloneDX 1.5) and
kymo.spdx.json (SPDX 2.3) there.

All of it is read from the build: Swift packages from its checkouts (which must be those of Package.resolved), the archives of
the Swift toolchain from the linker's map, libraries of the system from the binary itself (ldd) and from what CCurl loads at
run time, with the Debian packages that they are of. The same build gives the same bytes: the time in it is SOURCE_DATE_EPOCH,
or that of the last commit.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"
# Archives of the toolchain that have another licence, or one more.
TOOLCHAIN_LICENCES = {"_FoundationICU": "Unicode-3.0"}
# Debian's short names of licences (DEP 5), in SPDX's.
DEBIAN_LICENCES = {
    "apache-2.0": "Apache-2.0", "expat": "MIT", "mit": "MIT", "zlib": "Zlib", "curl": "curl", "isc": "ISC",
    "public-domain": "LicenseRef-public-domain", "bsd-3-clause": "BSD-3-Clause", "bsd3": "BSD-3-Clause", "bsd-2-clause": "BSD-2-Clause",
    "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later", "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later",
    "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only", "lgpl-2.1+": "LGPL-2.1-or-later",
    "lgpl-3": "LGPL-3.0-only", "lgpl-3+": "LGPL-3.0-or-later", "openldap-2.8": "OLDAP-2.8",
}
# Source packages whose copyright file no machine reads, or where the library has another licence than what is around it.
SOURCE_LICENCES = {
    "glibc": "LGPL-2.1-or-later", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-14": "GPL-3.0-or-later WITH GCC-exception-3.1", "krb5": "MIT", "sqlite3": "blessing",
    "gnutls28": "LGPL-2.1-or-later", "libtasn1-6": "LGPL-2.1-or-later", "rtmpdump": "LGPL-2.1-or-later",
    "keyutils": "LGPL-2.0-or-later", "libidn2": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "postgresql-15": "PostgreSQL", "e2fsprogs": "MIT", "cyrus-sasl2": "BSD-4-Clause-UC",
}


class SBOMError(Exception):
    """What keeps an SBOM from being true."""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout


class Component:
    """Something that a binary consists of, or needs."""

    def __init__(self, kind, name, version, purl, licence, how, **more):
        self.kind, self.name, self.version, self.purl = kind, name, version, purl
        # `how` it gets into a process: static, linked, or loaded.
        self.licence, self.how = licence, how
        self.source = more.get("source")
        self.revision = more.get("revision")
        self.supplier = more.get("supplier")

    @property
    def spdx_id(self):
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{self.kind}-{self.name}")


def needed_packages():
    """Identities of the packages that the products need; those of measurements (KYMO_BENCHMARKS) have an exact version."""
    locations = re.findall(r'\.package\(url: "([^"]+)", from:', (ROOT / "Package.swift").read_text())
    return {location.rsplit("/", 1)[-1].removesuffix(".git").lower() for location in locations}


def swift_packages(build, linked):
    """The packages of the build; `linked` are the modules in the linker's map, or None without one."""
    pins = {pin["identity"]: pin for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]}
    state = json.loads((build / "workspace-state.json").read_text())
    found = set()
    for dependency in state["object"]["dependencies"]:
        reference = dependency["packageRef"]
        pin = pins.get(reference["identity"])
        checkout = dependency["state"].get("checkoutState", {})
        if pin is None:
            # What only measurements need (KYMO_BENCHMARKS) is in no product.
            continue
        if checkout.get("revision") != pin["state"]["revision"]:
            raise SBOMError(f"{reference['identity']}: the build has another revision than Package.resolved: build again")
        found.add(reference["identity"])
        folder = build / "checkouts" / dependency["subpath"]
        if linked is not None and not linked & modules(folder):
            continue
        location = reference["location"].removesuffix(".git")
        yield Component(
            "swift", folder.name, checkout["version"], f"pkg:swift/{location.removeprefix('https://')}@{checkout['version']}",
            text_licence(folder), "static", source=location, revision=checkout["revision"])
    # More may be pinned than this build has, for measurements, but nothing that Package.swift needs may be missing.
    missing = needed_packages() - found
    if missing:
        raise SBOMError(f"the build in {build} lacks {', '.join(sorted(missing))}: build first")


def modules(checkout):
    """Names that targets of a package may have: those of the folders of its sources."""
    return {path.name for path in (checkout / "Sources").iterdir() if path.is_dir()} | {checkout.name.split(".")[0]}


def text_licence(folder):
    files = sorted(folder.glob("LICENSE*"))
    text = files[0].read_text(encoding="utf-8") if files else ""
    if "Apache License" in text:
        return SWIFT_LICENCE if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    raise SBOMError(f"{folder}: no licence that is known here; read it, and name it in packaging/sbom.py")


def map_text(path):
    """The linker's map; None when none is named."""
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SBOMError(f"the map {path} cannot be read ({error.strerror}): build with make build, which writes it") from None


def toolchain(libraries, text):
    """What is of the Swift toolchain: archives in the linker's map, or shared libraries."""
    version = re.search(r"Swift version ([0-9.]+)", output("swift", "--version"))[1]
    names = {(name, "static") for name in re.findall(r"/swift_static/(?:linux/)?(?:[^/\s]+/)*lib(\w+)\.a", text or "")}
    names |= {(Path(path).name.removeprefix("lib").split(".so")[0], "linked") for path in libraries if "/lib/swift/" in path}
    if not names:
        raise SBOMError("nothing of the Swift runtime is found: name the linker's map of this binary with --map")
    for name, how in sorted(names):
        yield Component(
            "toolchain", name, version, f"pkg:generic/swift-toolchain-{name}@{version}",
            TOOLCHAIN_LICENCES.get(name, SWIFT_LICENCE), how, source="https://github.com/swiftlang/swift")


def shared(path):
    """Paths of the shared libraries of `path`."""
    found = []
    for line in output("ldd", path).splitlines():
        words = line.split()
        if "not found" in line:
            raise SBOMError(f"{path}: {line.strip()}")
        if "=>" in words:
            found.append(words[2])
        elif words[0].startswith("/"):
            found.append(words[0])
    return found


# What is loaded at run time when it is needed, by the target that does it, and the package that has it.
LOADED = {"CCurl": "libcurl4", "CPostgres": "libpq5", "CKafka": "librdkafka1"}


def loaded_library(target, package):
    """The path of the library that a target loads at run time."""
    name = re.search(r'^#define LIBRARY "(.*)"$', (ROOT / f"Sources/{target}/library.c").read_text(), re.M)[1]
    for line in output("/sbin/ldconfig", "-p").splitlines():
        if line.split()[:1] == [name]:
            return line.split()[-1]
    raise SBOMError(f"there is no {name} here: install {package}")


def owner(path):
    """The Debian package that a file is of. On a system with merged /usr dpkg knows one of two names."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


def quoted(version):
    """`version` as package URLs have it."""
    return urllib.parse.quote(version, safe="~")


def distribution():
    """The name and release of this system, as os-release(5) has them."""
    words = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    system, release = (words.get(key, "").strip("\"'") for key in ("ID", "VERSION_ID"))
    # Unstable releases have no number.
    return system or "debian", release or words.get("VERSION_CODENAME", "unstable").strip("\"'")


def debian_packages(libraries, how, known):
    fields = "${Version}\t${Architecture}\t${source:Package}\t${source:Version}"
    system, release = distribution()
    for path in sorted(libraries):
        if "/lib/swift/" in path:
            continue
        name = owner(path)
        if name is None:
            raise SBOMError(f"{path} is of no Debian package: build on a system that has it from one")
        if name in known:
            continue
        known.add(name)
        version, architecture, source, source_version = output("dpkg-query", "-W", f"-f={fields}", name).split("\t")
        yield Component(
            "deb", name, version, f"pkg:deb/{system}/{name}@{quoted(version)}?arch={architecture}&distro={system}-{release}",
            debian_licence(name, source), how, source=f"{source} {source_version}", supplier=system.capitalize())


def debian_licence(package, source):
    """The licence of the project as a whole; the copyright file of the package names those of parts."""
    if source in SOURCE_LICENCES:
        return SOURCE_LICENCES[source]
    text = Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8", errors="replace")
    whole = re.search(r"^Files:\s*\*.*?^License:[ \t]*(\S[^\n]*)", text, re.M | re.S)
    if not whole:
        return None
    words = re.split(r"(?i)[ ,]+(and|or)[ ,]+", whole[1].strip())
    named = [word.upper() if word.lower() in ("and", "or") else licence_name(word) for word in words]
    return " ".join(named)


def licence_name(word):
    return DEBIAN_LICENCES.get(word.lower().strip()) or "LicenseRef-Debian-" + re.sub(r"[^A-Za-z0-9.-]", "-", word.strip())


class Product:
    """The binary."""

    def __init__(self, path):
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        # `kymo 0.1.0 (commit 0123456789ab, Swift …`
        text = output(path, "--version")
        self.version = text.split()[1]
        self.commit = re.search(r"commit ([^,]+)", text)[1]
        self.purl = f"pkg:generic/kymo@{self.version}"

    def time(self):
        seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
        return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def cyclonedx(product, components):
    def component(one):
        made = {"type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version, "purl": one.purl}
        if one.supplier:
            made["supplier"] = {"name": one.supplier}
        # A part that only a process with a FHIR server loads is optional.
        made["scope"] = "optional" if one.how == "loaded" else "required"
        if one.licence:
            made["licenses"] = [{"expression": one.licence}]
        if one.kind == "swift":
            made["externalReferences"] = [{"type": "vcs", "url": one.source, "comment": f"revision {one.revision}"}]
        made["properties"] = [{"name": "kymo:linking", "value": one.how}]
        return made

    main = {
        "type": "application", "bom-ref": product.purl, "name": "kymo", "version": product.version, "purl": product.purl,
        "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": product.digest}],
        "properties": [{"name": "kymo:commit", "value": product.commit}],
    }
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": product.time(), "component": main,
            "tools": {"components": [{"type": "application", "name": "packaging/sbom.py", "version": product.version}]},
        },
        "components": [component(one) for one in components],
        "dependencies": [{"ref": product.purl, "dependsOn": [one.purl for one in components]}]
        + [{"ref": one.purl} for one in components],
    }


RELATIONS = {"static": "STATIC_LINK", "linked": "DYNAMIC_LINK", "loaded": "DEPENDS_ON"}


def spdx(product, components):
    def package(one):
        made = {
            "SPDXID": one.spdx_id, "name": one.name, "versionInfo": one.version, "filesAnalyzed": False,
            "downloadLocation": f"git+{one.source}@{one.revision}" if one.kind == "swift" else "NOASSERTION",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": one.licence or "NOASSERTION", "copyrightText": "NOASSERTION",
            "externalRefs": [
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": one.purl}],
        }
        if one.kind == "deb":
            made["sourceInfo"] = f"Debian source package {one.source}"
        return made

    main = {
        "SPDXID": "SPDXRef-kymo", "name": "kymo", "versionInfo": product.version, "filesAnalyzed": False,
        "downloadLocation": "NOASSERTION", "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": product.digest}],
        "sourceInfo": f"built from commit {product.commit}",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": product.purl}],
    }
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-kymo"}]
    relations += [
        {"spdxElementId": "SPDXRef-kymo", "relationshipType": RELATIONS[one.how], "relatedSpdxElement": one.spdx_id}
        for one in components]
    named = sorted({name for one in components for name in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", one.licence or "")})
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"kymo-{product.version}",
        "creationInfo": {"created": product.time(), "creators": [f"Tool: kymograph-sbom-{product.version}"]},
        "packages": [main] + [package(one) for one in components], "relationships": relations,
    }
    if named:
        document["hasExtractedLicensingInfos"] = [
            {
                "licenseId": name, "name": name.removeprefix("LicenseRef-Debian-").removeprefix("LicenseRef-"),
                "extractedText": "The text is in /usr/share/doc/PACKAGE/copyright of the Debian package.",
            }
            for name in named]
    return document


def identity(document):
    """A UUID that the content of a document gives."""
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return uuid.uuid5(uuid.NAMESPACE_OID, digest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kymo", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / ".build")
    parser.add_argument("--map", type=Path, default=None)
    options = parser.parse_args()
    if not options.kymo.is_file():
        raise SBOMError(f"there is no {options.kymo}: build it with make build")
    text = map_text(options.map)
    linked = None if text is None else set(re.findall(r"/(\w+)\.build/", text))
    libraries = shared(str(options.kymo))
    known = set()
    components = [*swift_packages(options.build, linked), *toolchain(libraries, text)]
    components += debian_packages(libraries, "linked", known)
    for target, package in LOADED.items():
        library = loaded_library(target, package)
        components += debian_packages([library, *shared(library)], "loaded", known)
    components.sort(key=lambda one: (one.kind, one.name))
    product = Product(options.kymo)
    options.folder.mkdir(parents=True, exist_ok=True)
    bom = cyclonedx(product, components)
    bom["serialNumber"] = f"urn:uuid:{identity(bom)}"
    document = spdx(product, components)
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/kymo-{product.version}-{identity(document)}"
    for name, content in (("kymo.cdx.json", bom), ("kymo.spdx.json", document)):
        (options.folder / name).write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{options.folder}/kymo.cdx.json and kymo.spdx.json: {len(components)} components")


if __name__ == "__main__":
    try:
        main()
    except SBOMError as error:
        sys.exit(f"sbom.py: {error}")
