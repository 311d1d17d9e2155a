#!/usr/bin/env python3
"""A FHIR server that takes every bundle and keeps nothing but its text.

  fhir_recorder.py FILE [REFUSED] [--fhir-version VERSION] [--knows-all]

Prints its port. Each bundle becomes a line of FILE; one that contains the text REFUSED is answered 422, and does not. With --knows-all
every search by identifier finds one resource, whose id is made of what was searched for; all Devices are of one Patient.
"""
import argparse
import hashlib
import json
import re
import threading
import urllib.parse

from answering import FHIRAnswering, serve, statement

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("refused", nargs="?")
parser.add_argument("--fhir-version", default="4.0.1")
parser.add_argument("--knows-all", action="store_true")
options = parser.parse_args()

TYPES = ("Observation", "Device", "Patient", "MedicationAdministration", "DetectedIssue", "Communication")

lock = threading.Lock()
record = open(options.file, "w")


def found(path):
    url = urllib.parse.urlsplit(path)
    wanted = urllib.parse.parse_qs(url.query).get("identifier")
    bundle = {"resourceType": "Bundle", "type": "searchset", "total": 0}
    if options.knows_all and wanted:
        system, _, value = wanted[0].partition("|")
        kind = url.path.rsplit("/", 1)[-1]
        resource = {
            "resourceType": kind, "id": "p" if kind == "Patient" else hashlib.sha1(wanted[0].encode()).hexdigest(),
            "identifier": [{"system": system, "value": re.sub(r"\\(.)", r"\1", value)}],
        }
        if kind == "Device":
            resource["patient"] = {"reference": "Patient/p"}
        bundle.update(total=1, entry=[{"resource": resource}])
    return bundle


class Handler(FHIRAnswering):
    def do_GET(self):
        is_metadata = self.path.endswith("/metadata")
        self.give(statement(TYPES, options.fhir_version) if is_metadata else found(self.path))

    def do_POST(self):
        text = self.text()
        if options.refused and options.refused in text:
            return self.refuse("not here")
        with lock:
            record.write(text + "\n")
            record.flush()
        bundle = json.loads(text)
        answers = [{"response": {"status": "201 Created"}} for _ in bundle["entry"]]
        self.give({"resourceType": "Bundle", "type": bundle["type"] + "-response", "entry": answers})


serve(Handler)
