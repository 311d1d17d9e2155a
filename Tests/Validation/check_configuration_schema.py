"""Checks the JSON Schema of the configuration with a validator that is not ours.

Reads {"schema": …, "valid": [documents], "invalid": [documents]} from standard input; prints what is wrong, and exits
with status 1 when something is.
"""

import json
import sys

from jsonschema import Draft202012Validator


def main() -> int:
    """Validates the schema, and the documents with it."""
    given = json.load(sys.stdin)
    Draft202012Validator.check_schema(given["schema"])
    validator = Draft202012Validator(given["schema"])
    wrong = []
    for document in given["valid"]:
        wrong += [f"refused: {error.json_path}: {error.message}" for error in validator.iter_errors(document)]
    wrong += [f"taken: {json.dumps(document)}" for document in given["invalid"] if validator.is_valid(document)]
    for line in wrong:
        print(line)
    print(f"{len(given['valid'])} valid, {len(given['invalid'])} invalid")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
