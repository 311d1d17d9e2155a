"""What the release binary consists of, from the linker's map. Exit status 1 when it is larger than promised."""

import collections
import os
import re
import sys

LARGEST_STRIPPED = 40_000_000
# Of the stripped file, what the map must explain: less means that the map is of another binary, or of an unknown form.
LEAST_EXPLAINED = 0.6

# lld's form: two addresses, size, alignment, then an output section behind one blank, or behind nine an object and in
# parentheses its section; symbols stand further to the right.
ROW = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +[0-9]+ ( {8})?(\S.*)$")
NOT_LOADED = (".debug", ".bss", ".tbss", ".comment", ".symtab", ".strtab")


def owner(path):
    """The module or library that an object file belongs to."""
    archive = re.search(r"/lib([^/]+)\.a\(", path)
    if archive:
        return archive.group(1)
    module = re.search(r"/([^/]+)\.build/", path)
    return module.group(1) if module else "runtime start files"


def group(name):
    """What brings a module or library into the binary."""
    if name in ("Kymograph", "KymographCore", "KymographTemplates", "KymographTestKit", "kymo") or name.startswith("CKymograph"):
        return "Kymograph"
    if name in ("CSIMD", "CPrefetch", "CCurl", "CNoICUData"):
        return "Kymograph"
    if "Foundation" in name or name.startswith("_CF"):
        return "Foundation"
    if name.startswith("swift") or name in ("dispatch", "BlocksRuntime", "gcc"):
        return "Swift"
    return "packages"


def contents(map_path):
    """Bytes loaded at run time, by module or library."""
    sizes = collections.Counter()
    section = ""
    with open(map_path, errors="replace") as lines:
        for line in lines:
            row = ROW.match(line)
            if not row:
                continue
            size, is_object, name = row.groups()
            if not is_object:
                section = name
            elif not section.startswith(NOT_LOADED) and ".o" in name:
                sizes[owner(name.partition(":(")[0])] += int(size, 16)
    return sizes


def main(kymo, stripped, map_path):
    for path in (kymo, stripped, map_path):
        if not os.path.exists(path):
            sys.exit(f"size.sh: there is no {path}: run `make build` first")
    if os.path.getmtime(stripped) < os.path.getmtime(kymo):
        sys.exit(f"size.sh: {stripped} is older than {kymo}: run `make build` again")
    size = os.path.getsize(stripped)
    sizes = contents(map_path)
    explained = sum(sizes.values())
    if not LEAST_EXPLAINED * size < explained <= size:
        sys.exit(f"size.sh: {map_path} explains {explained:,} of {size:,} bytes: it is not the map of this binary")

    print(f"{'module or library':34}{'bytes':>12}  part of")
    for name, count in sizes.most_common():
        if count >= 100_000:
            print(f"{name:34}{count:12,}  {group(name)}")
    small = [count for count in sizes.values() if count < 100_000]
    print(f"{f'{len(small)} others':34}{sum(small):12,}")
    print(f"{'unwind tables, relocations, rest':34}{size - explained:12,}\n")
    groups = collections.Counter()
    for name, count in sizes.items():
        groups[group(name)] += count
    for name, count in groups.most_common():
        print(f"{name:34}{count:12,}")
    print(f"\nstripped {size:,} bytes of at most {LARGEST_STRIPPED:,}; with symbols {os.path.getsize(kymo):,}")
    if size > LARGEST_STRIPPED:
        sys.exit(f"size.sh: the stripped binary has {size - LARGEST_STRIPPED:,} bytes too many; see docs/decisions/0025-what-is-in-the-binary.md")


main(*sys.argv[1:])
