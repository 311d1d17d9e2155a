"""rival.py FOLDER: what a good engineer writes in an afternoon: an HTTP service of aiohttp and orjson that has each reading
on disk, in SQLite, before it answers.

Readings that come at the same time share a commit, as in `kymo run`: a thread writes what waits, in one transaction, with
`synchronous=FULL`. A reading that comes again is none. It makes no resources, and looks at nothing else."""
import asyncio
import queue
import sqlite3
import sys
import threading

import orjson
from aiohttp import web

FIELDS = ("deviceId", "patientId", "type", "timestamp", "value", "unit")
WAITING = queue.SimpleQueue()


def write(path, loop):
    """Writes what waits, again and again, and tells whoever waits for it."""
    base = sqlite3.connect(path, isolation_level=None)
    for line in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                 "CREATE TABLE reading (deviceId, patientId, type, timestamp, value, unit, "
                 "PRIMARY KEY (deviceId, type, timestamp)) WITHOUT ROWID"):
        base.execute(line)
    while True:
        batch = [WAITING.get()]
        while not WAITING.empty():
            batch.append(WAITING.get())
        base.execute("BEGIN")
        base.executemany("INSERT OR IGNORE INTO reading VALUES (?, ?, ?, ?, ?, ?)", [row for row, _ in batch])
        base.execute("COMMIT")
        loop.call_soon_threadsafe(tell, [future for _, future in batch])


def tell(futures):
    for future in futures:
        if not future.done():
            future.set_result(None)


async def ingest(request):
    try:
        reading = orjson.loads(await request.read())
        row = tuple(reading[field] for field in FIELDS)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return web.json_response({"error": "invalidJSON"}, status=400)
    future = asyncio.get_running_loop().create_future()
    WAITING.put((row, future))
    await future
    return web.Response(body=b'{"received":1,"rejectedCount":0,"rejected":[]}\n', content_type="application/json")


async def serve(folder):
    app = web.Application()
    app.router.add_post("/v1/ingest/reading", ingest)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1_024)
    await site.start()
    threading.Thread(
        target=write, args=(f"{folder}/rival.sqlite", asyncio.get_running_loop()), daemon=True).start()
    host, port = site._server.sockets[0].getsockname()[:2]
    print(f"listening on tcp {host}:{port}", file=sys.stderr, flush=True)
    await asyncio.Event().wait()


asyncio.run(serve(sys.argv[1]))
