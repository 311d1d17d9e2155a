#!/usr/bin/env python3
"""A FHIR server that refuses every bundle and repeats it in its answer, with what a terminal would obey.

  echoing_refusals.py

Prints its port.
"""
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TYPES = ("Observation", "Device", "Patient")
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
FORGED = "\u001b[2J\u009b31m\r\n2026-03-01T08:00:00.000Z info kymo: forged\n<3>forged\u202e "


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
        bundle = {"resourceType": "Bundle", "type": "searchset", "total": 0}
        self.answer(STATEMENT if self.path.endswith("/metadata") else bundle)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        issue = {"severity": "error", "code": "invariant", "diagnostics": FORGED + text}
        self.answer({"resourceType": "OperationOutcome", "issue": [issue]}, 422)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
