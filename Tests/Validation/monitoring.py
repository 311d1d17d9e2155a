#!/usr/bin/env python3
"""Shows that metrics, alerts and the dashboard of docs/monitoring fit each other, with a real Prometheus.

  monitoring.py KYMO

Runs `kymo run --admin` with a FHIR server beside it, and checks: the rules and their tests by promtool; the metrics by promtool, in
both formats; that a Prometheus scrapes them; that every query of the dashboard gives rows; that every rule can be
evaluated and none fires; that scrapes under load are answered, without identifiers; that /readyz names a FHIR server that has been away for a
minute, and a store that is full, and is well when the server comes back. Needs prometheus and promtool (Debian: prometheus).
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "docs/monitoring"
NAME = re.compile(r"\b(?:kymo|process)_[a-z_]+")


def check(condition, message):
    if not condition:
        sys.exit(f"monitoring.py: {message}")
    print(f"ok: {message}", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url, accept="*/*"):
    """Status and text of the answer; 0 for none."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def until(what, seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            sys.exit(f"monitoring.py: waited {seconds} s for: {what}")
        time.sleep(0.2)


class Program:
    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([str(argument) for argument in arguments], text=True, **options)

    def line(self, stream, text):
        found = next((line for line in iter(stream.readline, "") if text in line), None)
        check(found is not None, f"a line with '{text}'")
        return found.strip()

    def end(self, kind=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(kind)
        return self.process.wait(120)


class Recorder(Program):
    """A FHIR server."""

    def __init__(self, folder):
        super().__init__(
            sys.executable, "-B", ROOT / "Tests/Servers/fhir_recorder.py", folder / "bundles", stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.port = int(re.search(r"\d+", self.process.stdout.readline())[0])


def promtool(*arguments, **options):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, **options)
    check(done.returncode == 0, f"promtool {' '.join(map(str, arguments[:2]))}: {done.stdout[-800:]}{done.stderr[-800:]}")


def queries():
    board = json.loads((MONITORING / "kymograph.json").read_text())
    return [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]


def check_names(found):
    """Every metric that a query names is in docs/metrics.md."""
    known = set(re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "docs/metrics.md").read_text(), re.M))
    rules = (MONITORING / "alerts.yml").read_text()
    named = set(NAME.findall(rules)).union(*(NAME.findall(query) for _, query in found))
    plain = {re.sub("_(bucket|sum|count)$", "", name) for name in named}
    check(len(plain) > 30 and plain <= known, f"{len(plain)} metrics in queries, unknown: {sorted(plain - known)}")


def send(port, count, start):
    """Readings of 20 devices by UDP, and one that is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(count):
            at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start + number // 20))
            reading = {
                "deviceId": f"secret-{number % 20}", "patientId": "secret", "type": "heartRate", "timestamp": f"{at}Z",
                "value": 60 + number % 40, "unit": "/min",
            }
            sender.sendto(json.dumps(reading).encode(), ("127.0.0.1", port))
        sender.sendto(b"{", ("127.0.0.1", port))


def scrape_without_load(url):
    """A scrape takes less than 10 ms: of 50 the one in the middle, since others may want the processor."""
    times = []
    for _ in range(50):
        before = time.monotonic()
        status, _ = get(f"{url}/metrics")
        times.append(time.monotonic() - before)
        if status != 200:
            sys.exit(f"monitoring.py: a scrape without load: {status}")
    middle = 1_000 * sorted(times)[25]
    check(middle < 10, f"of 50 scrapes without load the one in the middle took {middle:.1f} ms")


def scrape_under_load(url, port):
    """What no load of this machine may hold up: half of 20 scrapes take less than 100 ms, each behind 2,000 readings."""
    times = []
    for turn in range(20):
        send(port, 2_000, time.time() - 3_600 + turn * 100)
        before = time.monotonic()
        status, text = get(f"{url}/metrics")
        times.append(1_000 * (time.monotonic() - before))
        if status != 200 or "secret" in text:
            sys.exit(f"monitoring.py: scrape {turn} under load: {status}\n{text}")
    middle = sorted(times)[10]
    check(middle < 100, f"of 20 scrapes under load the one in the middle took {middle:.1f} ms, the longest {max(times):.1f} ms")


def check_prometheus(folder, target):
    port = free_port()
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(MONITORING / "alerts.yml")],
        "scrape_configs": [{"job_name": "kymo", "static_configs": [{"targets": [target]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    prometheus = Program(
        "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}", stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}/api/v1"

    def rows(query):
        query = query.replace("$instance", ".*").replace("$__rate_interval", "10s")
        status, text = get(f"{base}/query?{urllib.parse.urlencode({'query': query})}")
        return json.loads(text)["data"]["result"] if status == 200 else None

    try:
        until("Prometheus scrapes", 60, lambda: rows("up == 1"))
        until("five scrapes", 60, lambda: rows("count_over_time(kymo_build_info[1m]) >= 5"))
        for title, query in queries():
            until(f"'{title}' gives rows: {query}", 30, lambda: rows(query))
            check(rows(query), f"rows: {title}")
        status, text = get(f"{base}/rules")
        rules = [rule for group in json.loads(text)["data"]["groups"] for rule in group["rules"]]
        written = (MONITORING / "alerts.yml").read_text().count("- alert:")
        check(len(rules) == written and all(rule["health"] == "ok" for rule in rules),
              f"{len(rules)} rules of {written} are evaluated")
        status, text = get(f"{base}/alerts")
        names = [alert["labels"]["alertname"] for alert in json.loads(text)["data"]["alerts"]]
        check(not set(names) - {"KymoRejects"}, f"no alert for a healthy instance: {names}")
    finally:
        check(prometheus.end() == 0, "Prometheus ends")


def main():
    kymo = sys.argv[1]
    found = queries()
    check_names(found)
    promtool("check", "rules", MONITORING / "alerts.yml")
    promtool("test", "rules", MONITORING / "alerts.test.yml")
    with tempfile.TemporaryDirectory() as name:
        run(kymo, pathlib.Path(name))
        check_full(kymo, pathlib.Path(name))


def addresses(instance):
    """The port of kymo's source, and the URL that its metrics are below."""
    source = instance.line(instance.process.stderr, "listening on udp ")
    port = int(re.search(r"127\.0\.0\.1:(\d+)", source)[1])
    return port, instance.line(instance.process.stderr, "metrics and health on ").split(" on ")[1]


def run(kymo, folder):
    recorder = Recorder(folder)
    instance = Program(
        kymo, "run", "--udp", "127.0.0.1:0", "--data", folder / "data", "--admin", "127.0.0.1:0", "--window", "1s",
        "--out", "none", "--server", f"http://127.0.0.1:{recorder.port}", "--server-identity", "create",
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, KYMO_SERVER_TIMEOUT="1s"))
    try:
        port, url = addresses(instance)
        until("ready", 60, lambda: get(f"{url}/readyz")[0] == 200)
        send(port, 2_000, time.time() - 600)
        sent = re.compile(r'^kymo_sink_entries_total\{sink="[^"]*",result="delivered"\} [1-9]', re.M)
        until("entries are delivered", 60, lambda: sent.search(get(f"{url}/metrics")[1]))
        reached = re.compile(r'^kymo_close_to_sink_seconds_count\{sink="server [^"]*"\} [1-9]', re.M)
        until("windows are in the sink", 60, lambda: reached.search(get(f"{url}/metrics")[1]))
        check_formats(url)
        check_prometheus(folder, url.removeprefix("http://"))
        scrape_without_load(url)
        scrape_under_load(url, port)
        check_away(url, port, recorder)
    finally:
        recorder.process.send_signal(signal.SIGCONT)
        status = instance.end()
        recorder.end()
    check(status == 0, "kymo ends with status 0")


def check_full(kymo, folder):
    """A store that is full of what a FHIR server has not taken."""
    instance = Program(
        kymo, "run", "--udp", "127.0.0.1:0", "--data", folder / "full", "--admin", "127.0.0.1:0", "--window", "1s",
        "--server", f"http://127.0.0.1:{free_port()}", "--server-identity", "create", stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env=dict(os.environ, KYMO_STORE_MAX_BYTES="1MiB"))
    try:
        port, url = addresses(instance)
        turns = iter(range(1_000))

        def is_full():
            send(port, 2_000, time.time() - 86_400 + 100 * next(turns))
            return "store full" in get(f"{url}/readyz")[1]

        until("the store is full", 120, is_full)
        check(get(f"{url}/readyz")[0] == 503 and get(f"{url}/livez")[0] == 200, "not ready with a full store, and alive")
        # Looked at each second.
        until("the metrics say so, too", 30, lambda: "\nkymo_store_waiting 1\n" in get(f"{url}/metrics")[1])
    finally:
        instance.end(signal.SIGKILL)


def check_formats(url):
    _, text = get(f"{url}/metrics")
    promtool("check", "metrics", input=text)
    _, text = get(f"{url}/metrics", "application/openmetrics-text; version=1.0.0")
    check(text.endswith("\n# EOF\n"), "OpenMetrics ends with EOF")
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    check(len(series) == len(set(series)), f"{len(series)} series, each once")


def check_away(url, port, recorder):
    """The FHIR server hangs, as one does whose disk is full, and goes on."""
    recorder.process.send_signal(signal.SIGSTOP)
    send(port, 200, time.time() - 60)
    until("the sink is down", 60, lambda: "kymo_sink_up{" in (text := get(f"{url}/metrics")[1]) and "} 0\n" in
          text[text.index("kymo_sink_up{"):][:200])
    check(get(f"{url}/readyz")[0] == 200, "ready in the first minute without a FHIR server")
    until("not ready", 90, lambda: get(f"{url}/readyz")[0] == 503)
    _, text = get(f"{url}/readyz")
    check(text.startswith("all sinks down for more than 60 s: "), f"the reason: {text.strip()}")
    check(get(f"{url}/livez")[0] == 200, "alive all the while")
    recorder.process.send_signal(signal.SIGCONT)
    until("ready again", 90, lambda: get(f"{url}/readyz") == (200, "ok\n"))


main()
