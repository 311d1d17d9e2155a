#!/usr/bin/env python3
"""Check that every mapping satisfies the JSON Schemas, and that the schemas refuse what is wrong.

usage: check_schemas.py MAPPINGS_DIR     exit 1 when a mapping fails, or a spoiled one passes
"""
import copy
import json
import pathlib
import sys

import jsonschema


def spoiled(document):
    """Copies of a mapping with one mistake each: an unknown member, a missing one, a wrong kind."""
    for change in (
        lambda body: body.update(unknownMember=1),
        lambda body: body.pop("typeName"),
        lambda body: body.update(typeName=5),
    ):
        copied = copy.deepcopy(document)
        change(copied["template"][0]["template"])
        yield copied
    yield {"templateType": "Nothing", "template": document["template"]}


def main(root):
    checked = 0
    for kind in ("device", "fhir"):
        schema = json.loads((root / "schema" / f"{kind}.schema.json").read_text())
        jsonschema.validators.validator_for(schema).check_schema(schema)
        validator = jsonschema.validators.validator_for(schema)(schema)
        for path in sorted(root.glob(f"*/{kind}.json")):
            document = json.loads(path.read_text())
            for error in validator.iter_errors(document):
                print(f"{path}: {error.json_path}: {error.message}", file=sys.stderr)
                return 1
            if any(validator.is_valid(wrong) for wrong in spoiled(document)):
                print(f"{kind}.schema.json accepts a spoiled {path}", file=sys.stderr)
                return 1
            checked += 1
    print(f"{checked} mapping files satisfy their schemas")
    return 0 if checked else 1


sys.exit(main(pathlib.Path(sys.argv[1])))
