#!/usr/bin/env python3
"""Checks the two SBOMs in a folder by the schema of CycloneDX 1.5 and by the rules of SPDX 2.3: `check_sbom.py FOLDER`.

Both must name the same parts, and no licence that SPDX does not know.
"""

import json
import logging
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

folder = Path(sys.argv[1])
problems = []
text = (folder / "kymo.cdx.json").read_text(encoding="utf-8")
# That there may be more than the schema names is no finding here.
logging.getLogger("cyclonedx").setLevel(logging.ERROR)
fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if fault:
    problems.append(f"CycloneDX: {fault}")
document = parse_file(str(folder / "kymo.spdx.json"))
problems += [f"SPDX: {found.validation_message}" for found in validate_full_spdx_document(document)]

bom = json.loads(text)
named = {(part["name"], part["version"]) for part in bom["components"] + [bom["metadata"]["component"]]}
packages = {(package.name, package.version) for package in document.packages}
problems += [f"only one of the SBOMs has {part}" for part in sorted(named ^ packages)]
licensing = get_spdx_licensing()
for part in bom["components"]:
    for licence in part.get("licenses", []):
        unknown = [name for name in licensing.unknown_license_keys(licence["expression"]) if not name.startswith("LicenseRef-")]
        problems += [f"{part['name']}: SPDX has no licence {name}" for name in unknown]
for problem in problems:
    print(problem, file=sys.stderr)
print(f"{len(named)} parts")
sys.exit(1 if problems else 0)
