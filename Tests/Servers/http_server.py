#!/usr/bin/env python3
"""A server that answers as a test asks it to: HTTP/1.1, with TLS when a certificate is given.

  http_server.py [--cert PEM --key PEM] [--client-ca PEM] [--tls12] [--silent]

Prints "listening on PORT". --silent never says a word, not even in TLS. Paths (a query parameter is written ?name=value):
  /echo              what came: method, path, header, body, number of the connection
  /status?n=503      that status
  /redirect?to=URL   302
  /large?n=BYTES     so many bytes; &gzip=1: compressed, &chunked=1: without Content-Length
  /stall             no answer
  /reset             the connection is reset before an answer
  /cut               half an answer
  /early?n=413       that status before the body has come, which is dropped then
  /bye               an answer, and the end of the connection without notice
  /token             a token for the client "kymo" with the secret "s3cret" in the header
  /guarded           200 with the last token, else 401
  /revoke            makes the last token invalid
  /stats             how often each path was asked for, connections, most of them at a time
"""
import argparse
import base64
import gzip
import json
import socket
import ssl
import struct
import threading
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from answering import Answering

lock = threading.Lock()
stats = {"paths": {}, "connections": 0, "open": 0, "most": 0}
tokens = []


class Handler(Answering):
    def setup(self):
        super().setup()
        with lock:
            stats["connections"] += 1
            stats["open"] += 1
            stats["most"] = max(stats["most"], stats["open"])
            self.number = stats["connections"]

    def finish(self):
        try:
            super().finish()
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        with lock:
            stats["open"] -= 1

    def json(self, value, status=200):
        self.answer(status, json.dumps(value).encode(), [("Content-Type", "application/json")])

    def handle_any(self):
        parts = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        is_early = parts.path == "/early"
        body = b"" if is_early else self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with lock:
            stats["paths"][parts.path] = stats["paths"].get(parts.path, 0) + 1
        getattr(self, "do_" + parts.path.strip("/").replace("/", "_"), self.missing)(query, body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

    def missing(self, query, body):
        self.answer(404)

    def do_echo(self, query, body):
        self.json(self.seen(body))

    def seen(self, body):
        peer = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        subject = dict(x[0] for x in peer["subject"]) if peer else {}
        return {"method": self.command, "path": self.path, "connection": self.number,
                "headers": {k.lower(): v for k, v in self.headers.items()}, "raw": len(body),
                "body": (gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body).decode(),
                "client": subject.get("commonName", "")}

    def do_status(self, query, body):
        status = int(query["n"])
        # A 204 has no body: the bytes of one would be taken for the next answer.
        self.answer(status, b"" if status == 204 else b"{}", [])

    def do_redirect(self, query, body):
        self.answer(302, b"", [("Location", query["to"])])

    def do_large(self, query, body):
        content = b"x" * int(query["n"])
        headers = []
        if "gzip" in query:
            content = gzip.compress(content)
            headers = [("Content-Encoding", "gzip")]
        if "chunked" not in query:
            return self.answer(200, content, headers)
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(content), 65536):
            chunk = content[start:start + 65536]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def do_stall(self, query, body):
        self.rfile.read(1)
        self.close_connection = True

    def do_reset(self, query, body):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def do_cut(self, query, body):
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"half")
        self.close_connection = True

    def do_early(self, query, body):
        self.answer(int(query["n"]), b"too much")
        self.close_connection = True
        drain(self.connection)

    def do_bye(self, query, body):
        self.answer(200)
        self.close_connection = True

    def do_token(self, query, body):
        expected = "Basic " + base64.b64encode(b"kymo:s3cret").decode()
        if self.headers.get("Authorization") != expected:
            return self.json({"error": "invalid_client"}, 401)
        with lock:
            tokens.append("token-%d" % (len(tokens) + 1))
            token = tokens[-1]
        self.json({"access_token": token, "token_type": "Bearer", "expires_in": 86400})

    def do_guarded(self, query, body):
        is_right = tokens and self.headers.get("Authorization") == "Bearer %s" % tokens[-1]
        self.json({}, 200 if is_right else 401)

    def do_revoke(self, query, body):
        tokens.append("revoked")
        self.json({})

    def do_stats(self, query, body):
        self.json(stats)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    context = None

    def finish_request(self, request, address):
        if not self.context:
            return Handler(request, address, self)
        tls = self.context.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        try:
            tls.do_handshake()
        except (ssl.SSLError, OSError):
            return drain(socket.socket(fileno=tls.detach()))
        Handler(tls, address, self)
        tls.close()

    def handle_error(self, request, address):
        pass


def drain(raw):
    """Closes so that the alert arrives: a close with unread bytes would be a reset, which overtakes it."""
    try:
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(5)
        while raw.recv(65536):
            pass
    except OSError:
        pass
    raw.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--client-ca")
    parser.add_argument("--tls12", action="store_true")
    parser.add_argument("--silent", action="store_true")
    arguments = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    if arguments.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.cert, arguments.key)
        if arguments.tls12:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if arguments.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(arguments.client_ca)
        server.context = context
    print("listening on %d" % server.server_address[1], flush=True)
    if arguments.silent:
        threading.Event().wait()
    server.serve_forever()


main()
