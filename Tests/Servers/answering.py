"""How the servers of the tests answer over HTTP."""
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answering(BaseHTTPRequestHandler):
    """Keeps connections open, and logs nothing."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class FHIRAnswering(Answering):
    """Answers with resources."""

    def give(self, resource, status=200):
        self.answer(status, json.dumps(resource).encode(), [("Content-Type", "application/fhir+json")])

    def refuse(self, diagnostics):
        issue = {"severity": "error", "code": "invariant", "diagnostics": diagnostics}
        self.give({"resourceType": "OperationOutcome", "issue": [issue]}, 422)

    def text(self):
        """The body of the request."""
        return self.rfile.read(int(self.headers["Content-Length"])).decode()


def statement(types, version="4.0.1"):
    """What a server says of itself that takes bundles of `types`, and has the release `version` of FHIR."""
    return {
        "resourceType": "CapabilityStatement", "fhirVersion": version, "status": "active", "date": "2026-01-01",
        "kind": "instance", "format": ["json"],
        "rest": [{
            "mode": "server", "interaction": [{"code": "transaction"}, {"code": "batch"}],
            "resource": [{
                "type": name, "updateCreate": True, "conditionalCreate": True, "conditionalUpdate": "single",
                "interaction": [{"code": "create"}, {"code": "update"}, {"code": "search-type"}],
            } for name in types],
        }],
    }


def serve(handler, text=""):
    """Serves on a port of its own until the process is ended; prints the port behind `text`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    print(f"{text}{server.server_address[1]}", flush=True)
    server.serve_forever()
