"""hostile.py KYMO FOLDER LEAST: what one good client gets on disk per second by HTTP, without TLS and with it, by lines over
TCP and by MLLP, while CROWD connections beside it are hostile, as a share of what it gets alone.

Rounds with and without them follow each other, so that a busy neighbour hits both; the best of each counts. They come from
many addresses of this machine, as the limit of one host would keep most of them out, and are a fifth each: silent; two
first halves of what the door takes (a header and a body; two lines; two messages), and a byte a second of the rest; half a
handshake of TLS; noise.
Whoever is cut comes again. They take part of the machine, too: what kymo loses is less than what is printed. CPU is that
of kymo beside them, as a multiple of that without, for the same readings."""
import datetime
import multiprocessing
import random
import resource
import selectors
import socket
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from clients import BATCH, START, Lines, Messages, Posts, batch, connected, place, post, posts, trusting
from drive import measured

KYMO, FOLDER, LEAST = sys.argv[1:]
ROUNDS, CROWD, PER_HOST, BATCHES, MESSAGES = 5, 1_000, 25, 3_000, 40_000
PATH = "/v1/ingest"


def message(number):
    """A message of one result: one a second of each of ten monitors."""
    moment = (START + datetime.timedelta(seconds=number // 10)).strftime("%Y%m%d%H%M%S+0000")
    return "\r".join([
        f"\x0bMSH|^~\\&|GATEWAY|WARD|KYMO|HOSPITAL|{moment}||ORU^R01^ORU_R01|{number}|P|2.6", "PID|||p-1^^^H^MR",
        f"OBR|1|||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|||{moment}",
        f"OBX|1||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|1.0.0.0|||||||X|||||||monitor-{number % 10}",
        f"OBX|2|NM|147842^MDC_ECG_HEART_RATE^MDC|1.1.1.1|{60 + number % 40}|264864^MDC_DIM_BEAT_PER_MIN^MDC|||||R",
    ]) + "\r\x1c\r"


BODIES = [batch(number, "watch-", "patient") for number in range(BATCHES)]


class Door(NamedTuple):
    """A door, which gets `total` readings of its good client, and what is half of something that it takes."""
    source: str
    client: Callable
    total: int
    halves: list


def hostile(number, target, halves):
    """Hostile connection `number`, which has sent what it begins with."""
    connection = socket.socket()
    connection.bind((f"127.0.1.{number // PER_HOST + 1}", 0))
    connection.connect(target)
    connection.setblocking(False)
    first = [b"", *halves, b"\x16\x03\x01\x02\x00\x01\x00", None][number % 5]
    connection.send(random.randbytes(1_000) if first is None else first)
    return connection


def crowd(target, halves, ready, alive):
    """Opens all of them, says so, and keeps them open until this process is ended; says in `alive` how many there were
    at least, once a second."""
    waits = selectors.DefaultSelector()
    for number in range(CROWD):
        waits.register(hostile(number, target, halves), selectors.EVENT_READ, number)
    ready.set()
    due, gone = time.monotonic() + 1, []
    while True:
        for key, _ in waits.select(timeout=0.1):
            try:
                part = key.fileobj.recv(65_536)
            except OSError:
                part = b""
            if not part:
                waits.unregister(key.fileobj)
                key.fileobj.close()
                gone.append(key.data)
        if time.monotonic() < due:
            continue
        due += 1
        for key in list(waits.get_map().values()):
            if key.data % 5 in (1, 2):
                try:
                    key.fileobj.send(b"x")
                except OSError:
                    pass  # It is read, and comes again.
        waiting, gone = gone, []
        for number in waiting:
            try:
                waits.register(hostile(number, target, halves), selectors.EVENT_READ, number)
            except OSError:
                gone.append(number)  # It was cut at once, and comes again.
        alive.value = min(alive.value, len(waits.get_map()))


def seconds(door, isHostile):
    """How long the good client takes until all it has is on disk, and CPU seconds of kymo meanwhile."""
    processes, alive = [], multiprocessing.Value("i", CROWD)

    def clients(address):
        if isHostile:
            ready = multiprocessing.Event()
            process = multiprocessing.Process(target=crowd, args=(place(address), door.halves, ready, alive), daemon=True)
            process.start()
            processes.append(process)
            if not ready.wait(60):
                sys.exit("the hostile connections are not open after 60 s")
        return [door.client(address)]

    try:
        result = measured(KYMO, FOLDER, f'{door.source}, connections: 2000', clients)
        if any(not process.is_alive() for process in processes) or alive.value < CROWD // 2:
            sys.exit(f"the crowd was {alive.value} connections at times: nothing was measured")
        return result
    finally:
        for process in processes:
            process.kill()
            process.join()


# Here and in kymo, which gets the same limit.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4_096)), hard))
CERTIFICATE, CONTEXT = trusting(FOLDER)
HALF_REQUESTS = [b"POST /v1/ingest HTTP/1.1\r\nX", post(PATH) + b"Content-Length: 8000000\r\n\r\n{\"deviceId\":\"half"]
HALF_LINES = [b'{"deviceId":"half', b'{"kymo":']
HALF_MESSAGES = [b"\x0bMSH|^~", b"\x0bMSH|^~\\&|A|B|C|D|20260301||ORU^R01|1|P|2.6\r"]
READINGS = BATCHES * BATCH


def posting(context=None):
    return lambda address: Posts(connected(address, context), posts(PATH, BODIES), BATCHES)


DOORS = {
    "http": Door('http: "127.0.0.1:0"', posting(), READINGS, HALF_REQUESTS),
    "tls": Door(f'http: "127.0.0.1:0", {CERTIFICATE}', posting(CONTEXT), READINGS, HALF_REQUESTS),
    "tcp": Door('tcp: "127.0.0.1:0"', lambda address: Lines(connected(address), b"".join(BODIES), READINGS), READINGS,
                HALF_LINES),
    "mllp": Door('mllp: "127.0.0.1:0", mappings: pcd-01', lambda address: Messages(
        connected(address), "".join(message(number) for number in range(MESSAGES)).encode(), MESSAGES), MESSAGES,
        HALF_MESSAGES),
}
fails = False
for name, door in DOORS.items():
    times = {False: [], True: []}
    for _ in range(ROUNDS):
        for isHostile in times:
            times[isHostile].append(seconds(door, isHostile))
    alone, beside = min(times[False])[0], min(times[True])[0]
    cost = min(cpu for _, cpu in times[True]) / min(cpu for _, cpu in times[False])
    print(f"{name:4} alone {door.total / alone:10,.0f} durable a second, "
          f"beside {CROWD:,} hostile {door.total / beside:10,.0f}, share {alone / beside:.2f} (at least {LEAST}), CPU {cost:.2f}", flush=True)
    fails = fails or alone / beside < float(LEAST)
sys.exit(fails)
