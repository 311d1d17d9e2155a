#!/usr/bin/env python3
"""Sends mutated requests to `kymo run --admin --http` and compares what it accepts with what h11 accepts.

  http_differential.py KYMO [REQUESTS] [SEED]

Half of the requests go to each listener. Exits with status 1 when a request that h11 refuses or finds incomplete is answered
with 200, 404 or 405 by the one for metrics, or with 200 by the source, which answers others before their bodies come: two
programs that read one request differently can be used to smuggle another past one of them. What only kymo refuses is counted.
"""
import collections
import random
import re
import socket
import subprocess
import sys

import h11

SEEDS = [
    b"GET /livez HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
    b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
]
# The same for readings, in bodies of as many bytes.
POSTS = [seed.replace(b"/livez", b"/v1/ingest").replace(b"hello", b"[   ]") for seed in SEEDS if seed.startswith(b"POST")]
PIECES = [
    b"\0", b"\n", b"\r", b" ", b"\t", b":", b"Content-Length: 5\r\n", b"Content-Length: 6\r\n", b"Content-Length: +5\r\n",
    b"Content-Length : 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding : chunked\r\n", b" folded\r\n", b"Host: b\r\n", b"0x", b"-", b"+", b";e=1", b",", b"\x80", b"\xff",
    b"HTTP/1.1", b"HTTP/2.0", b"HTTP/1.2", b"\x0b", b"(", b"00",
]


def mutated(request, chance):
    request = bytearray(request)
    for _ in range(chance.randint(1, 2)):
        place, kind = chance.randrange(len(request) + 1), chance.random()
        if kind < 0.55:
            request[place:place] = chance.choice(PIECES)
        elif kind < 0.7:
            starts = [index + 1 for index, byte in enumerate(request) if byte == 10]
            place = chance.choice(starts) if starts else place
            request[place:place] = chance.choice(PIECES)
        elif kind < 0.85 and place < len(request):
            request[place] = chance.randrange(256)
        elif place < len(request):
            del request[place:place + chance.randint(1, 3)]
    return bytes(request)


def judged(request):
    """What h11 makes of the first request: `complete`, `incomplete`, or why it is refused."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=16_384)
    try:
        connection.receive_data(request)
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                return "incomplete"
            if isinstance(event, h11.EndOfMessage):
                return "complete"
            if isinstance(event, h11.ConnectionClosed):
                return "incomplete"
    except h11.RemoteProtocolError as error:
        return f"refused: {error}"[:60]


def answered(port, request):
    """The status of the first answer; 0 for none."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        answer = b""
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                answer += part
        except ConnectionError:
            pass
    status = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(status[1]) if status else 0


def compare(name, port, seeds, accepting, count, chance):
    wrong, stricter = collections.Counter(), 0
    for _ in range(count):
        request = mutated(chance.choice(seeds), chance)
        verdict, status = judged(request), answered(port, request)
        accepted = status in accepting
        if accepted and verdict != "complete":
            if not wrong[verdict]:
                print(f"answered {status}, {verdict}: {request!r}")
            wrong[verdict] += 1
        stricter += not accepted and verdict == "complete"
    total = sum(wrong.values())
    print(f"{name}: {count} requests: {total} accepted that h11 refuses, {stricter} refused that h11 accepts")
    return total


def main():
    kymo, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    run = subprocess.Popen(
        [kymo, "run", "--http", "127.0.0.1:0", "--ephemeral", "--admin", "127.0.0.1:0"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        ports = {}
        while len(ports) < 2:
            line = run.stderr.readline()
            if not line:
                sys.exit("kymo has ended")
            if found := re.search(r"(listening on http|metrics and health on http:)\D*127\.0\.0\.1:(\d+)", line):
                ports[found[1][0]] = int(found[2])
        chance, half = random.Random(seed), (count + 1) // 2
        wrong = compare("admin", ports["m"], SEEDS, (200, 404, 405), half, chance)
        wrong += compare("ingest", ports["l"], POSTS, (200,), half, chance)
    finally:
        run.terminate()
        status = run.wait(60)
    if status != 0:
        print(f"kymo has ended with status {status}")
    sys.exit(1 if wrong or status else 0)


main()
