#!/usr/bin/env python3
"""A proxy that takes every host for one port of this machine.

  proxy.py --upstream PORT [--deny]

Prints "listening on PORT", then the lines of each request's header, with ";" between. --deny refuses tunnels.
"""
import argparse
import socket
import threading


def head(client):
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(65536)
        if not chunk:
            return b""
        data += chunk
    return data


def pump(source, target):
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client, arguments):
    data = head(client)
    if not data:
        return
    line = data.split(b"\r\n", 1)[0].decode()
    print(data.decode().strip().replace("\r\n", ";"), flush=True)
    is_tunnel = line.startswith("CONNECT ")
    if is_tunnel and arguments.deny:
        client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        return client.close()
    server = socket.create_connection(("127.0.0.1", arguments.upstream))
    if is_tunnel:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        method, url, version = line.split(" ")
        path = "/" + url.split("/", 3)[3]
        server.sendall(("%s %s %s\r\n" % (method, path, version)).encode() + data.split(b"\r\n", 1)[1])
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--upstream", type=int, required=True)
    parser.add_argument("--deny", action="store_true")
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening on %d" % listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, arguments), daemon=True).start()


main()
