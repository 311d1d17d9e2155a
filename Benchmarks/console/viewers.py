"""viewers.py KYMO FOLDER MAPPING: what 8 pages that listen cost a durable `kymo run` that reads the folder's workload, in
throughput and CPU, and an idle one in memory. Called by console.sh; the exit status is 1 where that is more than is promised.

Those who listen are sockets of another process that read what comes, as the browsers of 8 people on other machines. Rounds
with and without them follow each other, so that a busy neighbour hits both; the best of each counts."""
import contextlib
import http.client
import json
import multiprocessing
import os
import re
import selectors
import shutil
import socket
import subprocess
import sys
import time

from console_testing import Instance, reading
from promised import failed, report

ROUNDS, VIEWERS, CHUNK = 5, 8, 1 << 20
#: A process that was forked would keep the standard input of kymo open.
SPAWN = multiprocessing.get_context("spawn")
#: What they may cost, in percent, and in MiB.
MOST, MOST_MEMORY = 2, 6


def login(kymo, data, address):
    """The cookie of a new session."""
    done = subprocess.run([kymo, "console", "login", "--data", data, "--format", "json"], capture_output=True, check=True)
    connection = http.client.HTTPConnection(address)
    connection.request("POST", "/console/api/login", json.dumps({"code": json.loads(done.stdout)["code"]}),
                       {"Origin": f"http://{address}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.headers["Set-Cookie"].split(";")[0]


def listen(address, cookie, ready):
    """Opens the streams, says so, and reads them until this process is ended."""
    waits = selectors.DefaultSelector()
    host, port = address.split(":")
    for _ in range(VIEWERS):
        stream = socket.create_connection((host, int(port)))
        stream.sendall(f"GET /console/api/live HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n".encode())
        if b" 200 " not in stream.recv(1 << 16):
            return
        waits.register(stream, selectors.EVENT_READ)
    ready.set()
    while waits.get_map():
        for key, _ in waits.select():
            if not key.fileobj.recv(1 << 16):
                waits.unregister(key.fileobj)


@contextlib.contextmanager
def viewers(kymo, data, address):
    ready = SPAWN.Event()
    process = SPAWN.Process(target=listen, args=(address, login(kymo, data, address), ready), daemon=True)
    process.start()
    if not ready.wait(20):
        sys.exit("console: no stream could be opened")
    yield
    process.terminate()
    process.join()


def once(kymo, folder, mapping, is_watched):
    """Seconds and CPU seconds for the workload, from its first byte to the end of the run."""
    for name in ("out", "data"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    process = subprocess.Popen(
        [kymo, "run", "--stdin", "--mapping", mapping + "/", "--window", "5m", "--out", f"{folder}/out", "--data",
         f"{folder}/data", "--admin", "127.0.0.1:0", "--console"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    address = None
    while address is None:
        line = process.stderr.readline().decode()
        address = re.search(r"console on http://([^/]+)/", line)
        if not line:
            sys.exit("console: kymo failed")
    with contextlib.ExitStack() as stack:
        if is_watched:
            stack.enter_context(viewers(kymo, f"{folder}/data", address[1]))
        start = time.monotonic()
        with open(f"{folder}/workload.ndjson", "rb") as lines:
            while os.sendfile(process.stdin.fileno(), lines.fileno(), None, CHUNK):
                pass
        process.stdin.close()
        process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
    if process.returncode != 0:
        sys.exit(f"console: kymo ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime


def memory(pid):
    """Resident MiB of a process."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024


def idle_memory():
    """MiB more with the viewers than before them, a quarter of a minute after they came."""
    instance = Instance()
    instance.send(*[reading(f"watch-{number}", offset=-number) for number in range(100)])
    time.sleep(5)
    before = memory(instance.process.pid)
    with viewers(sys.argv[1], f"{instance.directory}/data", instance.address.removeprefix("http://")):
        time.sleep(15)
        after = memory(instance.process.pid)
    instance.kill()
    return after - before


def main():
    kymo, folder, mapping = sys.argv[1:]
    rounds = {False: [], True: []}
    for _ in range(ROUNDS):
        for is_watched, found in rounds.items():
            found.append(once(kymo, folder, mapping, is_watched))
    (plain, plain_cpu), (watched, watched_cpu) = (map(min, zip(*rounds[one])) for one in (False, True))
    print(f"{plain:.2f} s without viewers, {watched:.2f} s with {VIEWERS}")
    report(f"throughput that {VIEWERS} viewers cost", max(0, 100 * (1 - plain / watched)), MOST, "%")
    report("CPU that they cost", max(0, 100 * (watched_cpu / plain_cpu - 1)), MOST, "%")
    report("memory of them", max(0, idle_memory()), MOST_MEMORY, "MiB")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
