#!/usr/bin/env python3
"""A FHIR server that takes every bundle and keeps nothing but its text.

  fhir_recorder.py FILE [REFUSED]

Prints its port. Each bundle becomes a line of FILE; one that contains the text REFUSED is answered 422, and does not.
"""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TYPES = ("Observation", "Device", "Patient", "MedicationAdministration", "DetectedIssue", "Communication")
STATEMENT = {
    "resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "status": "active", "date": "2026-01-01",
    "kind": "instance", "format": ["json"],
    "rest": [{
        "mode": "server", "interaction": [{"code": "transaction"}, {"code": "batch"}],
        "resource": [{
            "type": name, "updateCreate": True, "conditionalCreate": True, "conditionalUpdate": "single",
            "interaction": [{"code": "create"}, {"code": "update"}, {"code": "search-type"}],
        } for name in TYPES],
    }],
}

lock = threading.Lock()
record = open(sys.argv[1], "w")
refused = sys.argv[2] if len(sys.argv) > 2 else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, resource, status=200):
        body = json.dumps(resource).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/fhir+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        found = {"resourceType": "Bundle", "type": "searchset", "total": 0}
        self.answer(STATEMENT if self.path.endswith("/metadata") else found)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if refused and refused in text:
            issue = {"severity": "error", "code": "invariant", "diagnostics": "not here"}
            return self.answer({"resourceType": "OperationOutcome", "issue": [issue]}, 422)
        with lock:
            record.write(text + "\n")
            record.flush()
        bundle = json.loads(text)
        answers = [{"response": {"status": "201 Created"}} for _ in bundle["entry"]]
        self.answer({"resourceType": "Bundle", "type": bundle["type"] + "-response", "entry": answers})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
