"""TLS before brokers of Kafka that speak none: a port for each of theirs, whose names in answers are put right."""
import socket
import ssl
import struct
import threading

HOST = "127.0.0.1"


class Relay:
    """Listens by TLS for each of `ports`; with `authority` clients must show a certificate of it."""

    def __init__(self, ports, certificate, key, authority=None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        if authority:
            self.context.load_verify_locations(authority)
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.counts = {"refused": 0, "taken": 0}
        listeners = [(port, socket.create_server((HOST, 0))) for port in ports]
        # Behind a host, an answer has its port in four bytes, whatever the version of the answer is.
        self.names = {
            HOST.encode() + struct.pack(">i", port): HOST.encode() + struct.pack(">i", listener.getsockname()[1])
            for port, listener in listeners}
        self.brokers = ",".join(f"{HOST}:{listener.getsockname()[1]}" for _, listener in listeners)
        for port, listener in listeners:
            threading.Thread(target=self.listen, args=(port, listener), daemon=True).start()

    def listen(self, port, listener):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=self.serve, args=(port, client), daemon=True).start()

    def serve(self, port, client):
        try:
            client.settimeout(20)
            client = self.context.wrap_socket(client, server_side=True)
            client.settimeout(None)
            self.counts["taken"] += 1
        except (OSError, ValueError):
            self.counts["refused"] += 1
            client.close()
            return
        try:
            broker = socket.create_connection((HOST, port))
        except OSError:
            client.close()
            return
        threading.Thread(target=pass_on, args=(client, broker, lambda frame: frame), daemon=True).start()
        pass_on(broker, client, self.renamed)

    def renamed(self, frame):
        for name, other in self.names.items():
            frame = frame.replace(name, other)
        return frame


def pass_on(source, target, changed):
    """Passes frames on, each with its length before it, until one side ends."""
    rest = b""
    try:
        while piece := source.recv(1 << 16):
            rest += piece
            while len(rest) >= 4 and len(rest) >= 4 + (size := struct.unpack(">i", rest[:4])[0]):
                target.sendall(changed(rest[:4 + size]))
                rest = rest[4 + size:]
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
