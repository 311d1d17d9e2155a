#!/usr/bin/env python3
"""An event hub as clients see it: takes batches of events, when they are signed by the key of its policy.

  event_hub.py --hub NAME --policy NAME --key KEY [--most BYTES] [--port PORT]

Prints "listening on PORT". POST /NAME/messages is answered 201; 401 without a valid signature; 413 with more than --most
bytes. Faults are asked for, one for each request that follows:
  /script?steps=503,500,429,cut,lose   a status (429 and 503 with Retry-After: 1), half an answer and nothing stored, or
                                       stored and the connection cut
  /events   one line for each event that was stored: its partition key, header fields and element
  /stats    requests and answers by status, and stored events
"""
import argparse
import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from answering import Answering

lock = threading.Lock()
events = []
script = []
stats = {"requests": 0, "answers": {}, "signatures": 0}
options = None


def is_signed(value, host, path):
    """Whether a policy's key has made the signature, for this hub, and it has not ended."""
    scheme, _, text = (value or "").partition(" ")
    parts = dict(part.partition("=")[::2] for part in text.split("&"))
    if scheme != "SharedAccessSignature" or set(parts) != {"sr", "sig", "se", "skn"}:
        return False
    code = hmac.new(options.key.encode(), f"{parts['sr']}\n{parts['se']}".encode(), hashlib.sha256).digest()
    resource = urlsplit(unquote(parts["sr"]))
    return (
        hmac.compare_digest(base64.b64encode(code).decode(), unquote(parts["sig"]))
        and unquote(parts["skn"]) == options.policy
        and time.time() < int(parts["se"]) <= time.time() + 3_660
        and resource.hostname == host.split(":")[0]
        and path.startswith(resource.path.rstrip("/") + "/")
    )


class Handler(Answering):
    def answer(self, status, body=b"", headers=()):
        with lock:
            stats["answers"][str(status)] = stats["answers"].get(str(status), 0) + 1
        super().answer(status, body, headers)

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.path == "/script":
            with lock:
                script.extend(parse_qs(parts.query)["steps"][0].split(","))
            return self.answer(200)
        with lock:
            body = "".join(json.dumps(event) + "\n" for event in events) if parts.path == "/events" else json.dumps(
                {**stats, "events": len(events)})
        self.answer(200, body.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            stats["requests"] += 1
            step = script.pop(0) if script else "201"
        path = urlsplit(self.path).path
        if path != f"/{options.hub}/messages":
            return self.answer(404)
        if not is_signed(self.headers["Authorization"], self.headers["Host"], path):
            return self.answer(401)
        if step == "cut":
            self.wfile.write(b"HTTP/1.1 201 Crea")
            self.close_connection = True
            return None
        if step not in ("201", "lose"):
            return self.answer(int(step), headers=[("Retry-After", "1")] if step in ("429", "503") else [])
        if len(body) > options.most:
            return self.answer(413)
        if self.headers["Content-Type"] != "application/vnd.microsoft.servicebus.json":
            return self.answer(400)
        self.store(json.loads(body))
        if step == "lose":
            self.close_connection = True
            return None
        return self.answer(201)

    def store(self, batch):
        key = json.loads(self.headers["BrokerProperties"] or "{}").get("PartitionKey")
        with lock:
            for element in batch:
                assert element.get("BrokerProperties", {}).get("PartitionKey") == key, "one key in a batch"
                events.append({"key": key, "element": element})


parser = argparse.ArgumentParser()
parser.add_argument("--hub", required=True)
parser.add_argument("--policy", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--most", type=int, default=1 << 20)
parser.add_argument("--port", type=int, default=0)
options = parser.parse_args()
server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
server.daemon_threads = True
print(f"listening on {server.server_address[1]}", flush=True)
server.serve_forever()
