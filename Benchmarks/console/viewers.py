"""viewers.py KYMO FOLDER MAPPING READINGS: what 8 pages that listen cost a durable `kymo run` that reads the folder's workload,
in CPU time of its process a reading, and an idle one in memory. Called by console.sh; the exit status is 1 where that is more
than is promised.

Those who listen are sockets of another process that read what comes, as the browsers of 8 people on other machines. The time
is what the kernel has charged to the process and, a part of it, to the threads that serve the console: a busy neighbour makes
a run longer, and these little. Rounds with and without viewers follow each other; the best of each counts."""
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


#: Threads that count and render for the pages, and those that send it to them.
SERVING = ("kymo-live", "kymo-admin", "kymo-gaps", "kymo-console")


def thread_seconds(pid, known):
    """Notes the CPU seconds of the threads that serve the console in `known`, by their numbers."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{pid}/task/{thread}/comm") as file:
                    name = file.read().strip()
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    nanoseconds = int(file.read().split()[0])
                if name in SERVING:
                    known[thread] = nanoseconds / 1e9


def once(kymo, folder, mapping, is_watched):
    """Wall seconds, CPU seconds, and those of the threads that serve the console, for the workload from its first byte to
    the end of the run."""
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
    threads = {}
    with contextlib.ExitStack() as stack:
        if is_watched:
            stack.enter_context(viewers(kymo, f"{folder}/data", address[1]))
        start = time.monotonic()
        with open(f"{folder}/workload.ndjson", "rb") as lines:
            while os.sendfile(process.stdin.fileno(), lines.fileno(), None, CHUNK):
                thread_seconds(process.pid, threads)
        process.stdin.close()
        process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
    if process.returncode != 0:
        sys.exit(f"console: kymo ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, sum(threads.values())


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
    kymo, folder, mapping, readings = sys.argv[1:4] + [int(sys.argv[4])]
    rounds = {False: [], True: []}
    for _ in range(ROUNDS):
        for is_watched, found in rounds.items():
            found.append(once(kymo, folder, mapping, is_watched))
    (plain, plain_cpu, plain_serving), (watched, watched_cpu, watched_serving) = (
        map(min, zip(*rounds[one])) for one in (False, True))
    for name, seconds, cpu, serving in [("without viewers", plain, plain_cpu, plain_serving),
                                        (f"with {VIEWERS}", watched, watched_cpu, watched_serving)]:
        print(f"{name}: {seconds:.2f} s; CPU {cpu / readings * 1e9:.0f} ns a reading, {serving / readings * 1e9:.1f} ns of it in "
              "threads that serve the console")
    report(f"CPU of the process that {VIEWERS} viewers cost", max(0, 100 * (watched_cpu / plain_cpu - 1)), MOST, "%")
    report("CPU of the threads that serve them, of that of the process", 100 * (watched_serving - plain_serving) / plain_cpu,
           MOST, "%")
    report("memory of them", max(0, idle_memory()), MOST_MEMORY, "MiB")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
