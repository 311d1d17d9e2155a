#!/usr/bin/env python3
"""Check NDJSON of FHIR R4 bundles or resources against the R4 model of fhir.resources.

usage: check_model.py FILE...     exit 1 when a resource is invalid
The full checks (profiles, invariants, UCUM, identities) are those of the test suite; this one needs only PyPI.
"""
import importlib
import json
import sys

models = {}


def model(name):
    if name not in models:
        models[name] = getattr(importlib.import_module("fhir.resources.R4B." + name.lower()), name)
    return models[name]


def main(paths):
    count = {}
    for path in paths:
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            resource = json.loads(line)
            try:
                model(resource["resourceType"]).model_validate_json(line)
            except Exception as error:
                print(f"{path}:{number}: {error}", file=sys.stderr)
                return 1
            for entry in resource.get("entry", []) or [{"resource": resource}]:
                kind = entry["resource"]["resourceType"]
                count[kind] = count.get(kind, 0) + 1
    print("valid FHIR R4: " + ", ".join(f"{n} {kind}" for kind, n in sorted(count.items())))
    return 0


sys.exit(main(sys.argv[1:]))
