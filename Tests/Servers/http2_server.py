#!/usr/bin/env python3
"""A server that speaks HTTP/2 only, over TLS.

  http2_server.py --cert PEM --key PEM

Prints "listening on PORT". Paths:
  /echo      JSON: method, bytes of the body, number of the connection, content-type
  /together  answers when three such requests are open on one connection
  /refuse    RST_STREAM with REFUSED_STREAM
  /goaway    GOAWAY that says that nothing was processed, and the end of the connection
"""
import argparse
import json
import socket
import ssl
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events


class Connection:
    def __init__(self, tls, number):
        self.tls, self.number = tls, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests, self.waiting = {}, []

    def run(self):
        self.h2.initiate_connection()
        self.flush()
        while data := self.tls.recv(65536):
            for event in self.h2.receive_data(data):
                if self.take(event):
                    return
            self.flush()

    def flush(self):
        self.tls.sendall(self.h2.data_to_send())

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = [dict(event.headers), 0]
        elif isinstance(event, h2.events.DataReceived):
            self.requests[event.stream_id][1] += len(event.data)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            return self.answer(event.stream_id)

    def answer(self, stream):
        headers, size = self.requests[stream]
        path = headers[":path"]
        if path == "/refuse":
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif path == "/goaway":
            self.h2.close_connection(h2.errors.ErrorCodes.NO_ERROR, last_stream_id=0)
            self.flush()
            return True
        elif path == "/together":
            self.waiting.append(stream)
            if len(self.waiting) == 3:
                for waiting in self.waiting:
                    self.send(waiting, {})
        else:
            self.send(stream, {"method": headers[":method"], "bytes": size, "connection": self.number,
                               "type": headers.get("content-type", "")})

    def send(self, stream, value):
        self.h2.send_headers(stream, [(":status", "200"), ("content-type", "application/json")])
        self.h2.send_data(stream, json.dumps(value).encode(), end_stream=True)


def serve(client, context, number):
    try:
        with context.wrap_socket(client, server_side=True) as tls:
            if tls.selected_alpn_protocol() == "h2":
                Connection(tls, number).run()
    except OSError:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    arguments = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(arguments.cert, arguments.key)
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening on %d" % listener.getsockname()[1], flush=True)
    number = 0
    while True:
        client, _ = listener.accept()
        number += 1
        threading.Thread(target=serve, args=(client, context, number), daemon=True).start()


main()
