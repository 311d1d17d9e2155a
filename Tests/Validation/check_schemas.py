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


# Members of a value besides its name, and whether the schema of device.json must accept them.
VALUES = [
    ({"valueExpression": "$.v"}, True),
    ({}, False),
    ({"constant": "home"}, True),
    ({"constant": 1.5, "required": True}, True),
    ({"constant": None}, False),
    ({"constant": 1, "valueExpression": "$.v"}, False),
    ({"constant": 1, "default": 2}, False),
    ({"valueExpression": "$.v", "default": False}, True),
    ({"valueExpression": "$.v", "default": []}, False),
    ({"valueExpression": "$.v", "map": {"1": "one", "2": 2}, "mapDefault": "many"}, True),
    ({"valueExpression": "$.v", "map": {}}, False),
    ({"valueExpression": "$.v", "map": {"1": {}}}, False),
    ({"valueExpression": "$.v", "mapDefault": "many"}, False),
    ({"valueExpression": "$.v", "unit": {"from": "mmol/L", "to": "mg/dL", "substance": "glucose"}}, True),
    ({"valueExpression": "$.v", "unit": {"expression": "$.u", "units": {"lb": "[lb_av]"}, "to": "kg"}}, True),
    ({"valueExpression": "$.v", "unit": {"from": "g", "to": "kg", "digits": 2}, "default": 0}, True),
    ({"valueExpression": "$.v", "unit": {"from": "g", "to": "kg"}, "map": {"1": "2"}}, False),
    ({"valueExpression": "$.v", "unit": {"to": "kg"}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "g"}}, False),
    ({"valueExpression": "$.v", "unit": {"expression": "$.u", "to": "kg"}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "g", "units": {"kg": "kg"}, "to": "kg"}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "g", "to": "kg", "substance": "urea"}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "g", "to": "kg", "digits": 18}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "g", "to": "kg", "digit": 1}}, False),
    ({"valueExpression": "$.v", "unit": {"from": "m m", "to": "m"}}, False),
]

# Members of device.json besides its templates, and whether its schema must accept them.
FIELD = {"name": "v", "offset": 0}
DEVICE_MEMBERS = [
    ({"payload": "gatt", "handles": {"0x0012": "2A37"}, "cgmStatusOrder": "warning-first"}, True),
    ({"payload": "gatt/2a37"}, True),
    ({"dialect": 1}, True),
    ({"dialect": 0}, False),
    ({"dialect": "1"}, False),
    ({"payload": "gatt/2A38"}, False),
    ({"payload": "gatt", "handles": {"18": "2A37"}}, False),
    ({"payload": "gatt", "handles": {"0x12": "heart"}}, False),
    ({"payload": "binary", "characteristic": "6e400003-b5a3-f393-e0a9-e50e24dcca9e", "fields": [FIELD]}, True),
    ({"payload": "binary", "length": 8, "header": "A5 5A", "fields": [{**FIELD, "bit": 7, "scale": 0.1}]}, True),
    ({"payload": "binary", "header": "A5 5", "fields": [FIELD]}, False),
    ({"payload": "binary", "fields": []}, False),
    ({"payload": "hl7v2"}, True),
    ({"payload": "binary", "fields": [{"name": "v"}]}, False),
    ({"payload": "binary", "fields": [{**FIELD, "width": 2}]}, False),
    ({"payload": "binary", "fields": [{**FIELD, "name": "time"}]}, False),
]


def device(value, kind, **members):
    """A device mapping with one value."""
    body = {
        "typeName": "t",
        "typeMatchExpression": "$..[?(@v)]",
        "deviceIdExpression": "$.d",
        "timestampExpression": "$.t",
        "values": [{"valueName": "x", **value}],
    }
    return {"templateType": "CollectionContent", **members, "template": [{"templateType": kind, "template": body}]}


def fhir(**members):
    """A FHIR mapping with one template."""
    body = {"typeName": "t", "codes": [], **members}
    return {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": body}]}


# Members of a value of fhir.json, and whether its schema must accept them.
FHIR_VALUES = [
    ({"valueType": "Integer", "valueName": "v"}, True),
    ({"valueType": "boolean"}, False),
    ({"valueType": "Range", "low": "a", "high": "b", "unit": "%", "code": "%"}, True),
    ({"valueType": "Period", "end": "b"}, True),
    ({"valueType": "Ratio", "numerator": "a"}, False),
    ({"valueType": "Ratio", "numerator": "a", "denominator": "b", "numeratorUnit": {"code": "mg"}}, True),
    ({"valueType": "Quantity", "valueName": "v", "comparator": True, "absent": {"NaN": "not-a-number"}}, True),
    ({"valueType": "Quantity", "valueName": "v", "absent": True, "comparatorName": "c"}, True),
    ({"valueType": "Quantity", "valueName": "v", "absent": {"NaN": "nan"}}, False),
    ({"valueType": "Quantity", "valueName": "v", "comparator": "<"}, False),
    ({"valueType": "Quantity", "valueName": "v", "interpretation": [{"below": 5, "code": "L"}, {"code": "N"}]}, True),
    ({"valueType": "Quantity", "valueName": "v", "interpretation": [{"below": 5}]}, False),
    ({"valueType": "Quantity", "valueName": "v", "referenceRange": [{"low": 5, "text": "a"}]}, True),
    ({"valueType": "Quantity", "valueName": "v", "referenceRange": [{}]}, False),
    (
        {
            "valueType": "Statistics",
            "valueName": "v",
            "aggregate": "median",
            "components": ["std-dev", "variance", "97.5-percent"],
            "timeInRanges": [{"text": "low", "below": 70}],
            "holdTime": "15m",
        },
        True,
    ),
    ({"valueType": "Statistics", "valueName": "v", "aggregate": "mode"}, False),
    ({"valueType": "SampledData", "valueName": "v", "dimensions": 2, "rateName": "r"}, True),
    ({"valueType": "SampledData", "valueNames": ["I", "II"], "periodName": "p", "origin": -1, "factor": 0.5}, True),
    ({"valueType": "SampledData", "valueName": "v", "dimensions": 2}, False),
    ({"valueType": "SampledData", "dimensions": 2, "rateName": "r"}, False),
    ({"valueType": "SampledData", "valueName": "v", "dimensions": 0, "rateName": "r"}, False),
    ({"valueType": "SampledData", "valueName": "v", "defaultPeriod": 4, "factor": 0}, False),
    ({"valueType": "Statistics", "valueName": "v", "aggregate": "mean", "components": ["mode"]}, False),
    ({"valueType": "Statistics", "valueName": "v", "aggregate": "mean", "timeInRanges": [{"text": "a"}]}, False),
]

# Members of a template of fhir.json, and whether its schema must accept them.
FHIR_MEMBERS = [
    ({"effectiveType": "Instant", "issued": True, "method": {"text": "a"}, "bodySite": {"codes": []}}, True),
    ({"effectiveType": "Timing"}, False),
    ({"issued": "yes"}, False),
    ({"identifier": [{"system": "urn:a", "value": "1"}, {"system": "urn:b", "valueName": "v"}]}, True),
    ({"identifier": [{"system": "urn:a"}]}, False),
    ({"identifier": [{"value": "1", "valueName": "v"}]}, False),
    ({"identifier": [{"system": "a", "value": "1"}]}, False),
    ({"status": "preliminary", "absoluteTimeRange": True}, True),
    ({"status": "amended"}, False),
    ({"absoluteTimeRange": "yes"}, False),
    ({"method": {}}, False),
    ({"note": "a"}, True),
    ({"note": ["a", "b"]}, True),
    ({"note": {"valueName": "v"}}, True),
    ({"note": {}}, False),
    ({"performer": [{"type": "Organization", "identifier": {"system": "urn:a", "value": "1"}}]}, True),
    ({"performer": [{"type": "Nurse", "identifier": {"value": "1"}}]}, False),
    ({"tag": [{"system": "urn:a", "code": "b"}], "security": [{"system": "urn:a", "code": "b"}]}, True),
    ({"extension": [{"url": "urn:a", "valueInteger": 1}]}, True),
    ({"extension": [{"url": "urn:a", "valueInteger": 1.5}]}, False),
    ({"extension": [{"url": "urn:a"}]}, False),
]

# The resource of a ResourceFhir template, and whether the schema must accept it.
RESOURCES = [
    ({"status": "active", "identifier": [{"value": {"$value": "v"}}]}, True),
    ({"serialNumber": {"$value": "v", "as": "DateTime", "required": True}}, True),
    ({"serialNumber": {"$value": "v", "as": "date"}}, False),
    ({"serialNumber": {"$value": "v", "unit": "kg"}}, False),
    ({"note": [{"text": {"$text": ["a ", {"$value": "v"}]}}]}, True),
    ({"note": [{"text": {"$text": "a"}}]}, False),
    ({"patient": {"$reference": "patient"}, "a": {"$identifier": "device"}, "b": {"$time": "received"}}, True),
    ({"patient": {"$reference": "nurse"}}, False),
    ({"patient": {"$time": "now"}}, False),
    ({"patient": {"$valeu": "v"}}, False),
    ({"id": "a"}, False),
    ({"identifier": {"value": "a"}}, False),
    ({"owner": None}, False),
    ({"owner": {}}, False),
    ({"owner": ""}, False),
    ({"contact": []}, False),
]


def resource(content, **members):
    """A FHIR mapping with one resource."""
    body = {"typeName": "t", "resourceType": "Device", "resource": content, **members}
    return {"templateType": "CollectionFhir", "template": [{"templateType": "resourceFHIR", "template": body}]}


def extensions():
    """Schema name, document, and whether the schema must accept it."""
    for value, is_valid in VALUES:
        for kind in ("JsonPathContent", "CalculatedContent"):
            yield "device", device(value, kind), is_valid
    yield "device", device({"constant": 1}, "JsonPathContent", payload="json"), True
    yield "device", device({"constant": 1}, "JsonPathContent", payload="xml"), False
    for members, is_valid in DEVICE_MEMBERS:
        yield "device", device({"constant": 1}, "JsonPathContent", **members), is_valid
    yield "fhir", fhir(**{"from": "heartRate", "period": "1d"}), True
    yield "fhir", fhir(**{"from": 5}), False
    for value, is_valid in FHIR_VALUES:
        yield "fhir", fhir(value=value), is_valid
    for members, is_valid in FHIR_MEMBERS:
        yield "fhir", fhir(**members), is_valid
    for content, is_valid in RESOURCES:
        yield "fhir", resource(content), is_valid
    yield "fhir", resource({"status": "a"}, identity="reading", profile=["urn:a"], **{"from": "heartRate"}), True
    yield "fhir", resource({"status": "a"}, identity="window"), False
    yield "fhir", resource({"status": "a"}, resourceType="Bundle"), False
    yield "fhir", resource({"status": "a"}, period="1h"), False


def check_extensions(validators):
    """Whether the schemas judge every extension as they must."""
    for kind, document, is_valid in extensions():
        if validators[kind].is_valid(document) != is_valid:
            print(f"{kind}.schema.json {'refuses' if is_valid else 'accepts'} {json.dumps(document)}", file=sys.stderr)
            return False
    return True


def main(root):
    validators = {}
    checked = 0
    for kind in ("device", "fhir"):
        schema = json.loads((root / "schema" / f"{kind}.schema.json").read_text())
        jsonschema.validators.validator_for(schema).check_schema(schema)
        validator = jsonschema.validators.validator_for(schema)(schema)
        validators[kind] = validator
        for path in sorted(root.glob(f"*/{kind}.json")):
            document = json.loads(path.read_text())
            for error in validator.iter_errors(document):
                print(f"{path}: {error.json_path}: {error.message}", file=sys.stderr)
                return 1
            if any(validator.is_valid(wrong) for wrong in spoiled(document)):
                print(f"{kind}.schema.json accepts a spoiled {path}", file=sys.stderr)
                return 1
            checked += 1
    if not check_extensions(validators):
        return 1
    print(f"{checked} mapping files satisfy their schemas")
    return 0 if checked else 1


sys.exit(main(pathlib.Path(sys.argv[1])))
