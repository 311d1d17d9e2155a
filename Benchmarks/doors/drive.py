"""How clients of `kymo run` deliver what they have over many connections, until all of it is on disk."""
import selectors
import shutil
import ssl
import subprocess
import sys
import time

from running import cpu_seconds, listening


def sent(client):
    """Sends some of the rest; how many bytes."""
    try:
        return client.socket.send(client.rest[:262_144])
    except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError):
        return 0


def received(client):
    """What has come; nothing when the connection has ended."""
    try:
        return client.socket.recv(65_536)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return None


def deliver(clients):
    waits = selectors.DefaultSelector()
    for client in clients:
        client.socket.setblocking(False)
        waits.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
    left = len(clients)
    while left:
        for key, events in waits.select():
            client = key.data
            if events & selectors.EVENT_WRITE and len(client.rest):
                client.rest = client.rest[sent(client):]
            if events & selectors.EVENT_READ and (part := received(client)) is not None:
                if not part:
                    sys.exit("kymo has ended a connection")
                client.take(part)
                if client.done:
                    waits.unregister(client.socket)
                    client.socket.close()
                    left -= 1
                    continue
            wants = selectors.EVENT_READ | (selectors.EVENT_WRITE if len(client.rest) else 0)
            if wants != key.events:
                waits.modify(client.socket, wants, client)


def measured(kymo, folder, source, connected):
    """Seconds until all is acknowledged that the clients have which `connected` makes for the address of the source,
    written as in a configuration file; and CPU seconds meanwhile."""
    for name in ("out", "data"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    with open(f"{folder}/kymo.yaml", "w") as file:
        file.write(f"sources: [{{{source}}}]\n")
    run = subprocess.Popen(
        [kymo, "run", "--config", f"{folder}/kymo.yaml", "--data", f"{folder}/data", "--out", f"{folder}/out"],
        stderr=subprocess.PIPE, text=True)
    try:
        clients = connected(listening(run) or sys.exit("doors: kymo did not start"))
        before, start = cpu_seconds(run), time.perf_counter()
        deliver(clients)
        return time.perf_counter() - start, cpu_seconds(run) - before
    finally:
        run.terminate()
        ended = run.stderr.read()
        if run.wait(60):
            sys.exit(ended)


def raced(kymo, folder, doors, clients, rounds):
    """What `measured` says of each round, by the name of the door. `doors` has the source of each, and what makes a
    client of its number and the source's address. Rounds of all follow each other, so that a busy neighbour hits all."""
    results = {name: [] for name in doors}
    for _ in range(rounds):
        for name, (source, client) in doors.items():
            results[name].append(measured(
                kymo, folder, source, lambda address: [client(number, address) for number in range(clients)]))
    return results
