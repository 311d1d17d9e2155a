"""What the tests of the console share: an instance with the console, and a real browser that only reaches 127.0.0.1."""

import atexit
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KYMO = os.environ.get("KYMO_BINARY", str(ROOT / ".build/release/kymo"))
#: A folder whose files take the place of the pages in the binary, so that a change is tried without a build.
PAGES = os.environ.get("KYMO_CONSOLE_PAGES")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "frame-ancestors 'none'")
#: All tests, and not only those that need little time.
RUNS_ALL = os.environ.get("KYMO_CONSOLE_ALL") == "1"
slow = unittest.skipUnless(RUNS_ALL, "make console-test runs it")
#: Of a test that must find it masked.
SECRET = "patient-7731-secret"


def wait_until(condition, seconds=20, what="what was waited for"):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)
    return found


def now(offset=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))


def reading(device="watch-1", value=72, offset=0, **more):
    return json.dumps({"deviceId": device, "type": "heartRate", "timestamp": now(offset), "value": value,
                       "unit": "/min", **more})


def runs(numbers):
    """Numbers as the page Live gets them: how many are passed over, how many follow one another, and so on."""
    lengths, following = [], None
    for number in numbers:
        if number == following:
            lengths[-1] += 1
        else:
            lengths += [number - (following or 0), 1]
        following = number + 1
    return lengths


def numbers_of(lengths):
    """The numbers of these runs."""
    numbers, number = [], 0
    for skipped, length in zip(lengths[::2], lengths[1::2]):
        numbers += range(number + skipped, number + skipped + length)
        number += skipped + length
    return numbers


def totals(history):
    """The samples of a history of counts."""
    columns = {name: list(itertools.accumulate(added)) for name, added in history.items()}
    columns["time"] = [one / 1000 for one in columns.pop("milliseconds")]
    return [dict(zip(columns, sample)) for sample in zip(*columns.values())]


def wall_second(identifier, moment, readings, **others):
    """What the page Live gets of a second in which these came: number, milliseconds since 1970, value."""
    moments = [moment * 1000, *[at for _, at, _ in readings]]
    return {"id": identifier, "time": moment, "series": runs(number for number, _, _ in readings),
            "times": [at - former for former, at in zip(moments, moments[1:])], "values": [value for _, _, value in readings],
            **others}


def readings_of(second):
    """The readings of a second: number, milliseconds since 1970, value."""
    return list(zip(numbers_of(second["series"]), list(itertools.accumulate(second["times"], initial=second["time"] * 1000))[1:],
                    second["values"], strict=True))


def wall_names(series):
    """What the page Live gets of these series: number, and a dictionary of type, device and unit."""
    kinds = {}
    for number, named in series:
        kinds.setdefault((named["type"], named.get("unit")), []).append((number, named["device"]))
    return {"kinds": [{"type": kind, "series": runs(number for number, _ in some), "devices": [device for _, device in some]}
                      | ({} if unit is None else {"unit": unit}) for (kind, unit), some in kinds.items()]}


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def misspelt_mapping(folder):
    """Copies the mapping `reading`, misspelt, so that it knows no heart rate, to `folder`; its file, and what it was."""
    for name in ["device.json", "fhir.json"]:
        shutil.copy(ROOT / "mappings/reading" / name, folder)
    device = folder / "device.json"
    right = device.read_text()
    device.write_text(right.replace("'heartRate'", "'heartRat'"))
    if device.read_text() == right:
        raise AssertionError("the mapping has no heartRate")
    return device, right


class Instance:
    """`kymo run` with the console, in a folder of its own."""

    def __init__(self, *arguments, directory=None, admin="127.0.0.1:0", has_console=True):
        self.directory = directory or tempfile.mkdtemp(prefix="kymo-console-")
        atexit.register(shutil.rmtree, self.directory, ignore_errors=True)
        descriptor, self.log_path = tempfile.mkstemp(prefix="log-", dir=self.directory)
        self._log = os.fdopen(descriptor, "wb")
        # One that letters can be sent to again.
        self.udp = free_port(socket.SOCK_DGRAM)
        self.process = subprocess.Popen(
            [KYMO, "run", "--udp", f"127.0.0.1:{self.udp}", "--window", "10s", "--out", f"{self.directory}/out", "--data",
             f"{self.directory}/data", "--admin", admin, *(["--console"] if has_console else []), "--log-format", "json",
             *arguments],
            stdout=subprocess.DEVNULL, stderr=self._log)
        atexit.register(self.kill)
        if admin.endswith(":0"):
            told = r"console on (http://[^/ ]+)/console/" if has_console else r"health on (http://[^/ \"]+)"
            self.address = wait_until(lambda: self._found(told), what="an address")
        else:
            self.address = f"http://{admin}"
        self.port = int(self.address.rsplit(":", 1)[1])
        wait_until(lambda: self.get("/readyz")[0] == 200, what="readiness")

    @property
    def log(self):
        return pathlib.Path(self.log_path).read_text()

    def _found(self, pattern):
        if self.process.poll() is not None:
            raise AssertionError(f"kymo has ended: {self.log}")
        match = re.search(pattern, self.log)
        return match and match.group(1)

    def send(self, *payloads):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for payload in payloads:
                data = payload if isinstance(payload, bytes) else payload.encode()
                sender.sendto(data, ("127.0.0.1", self.udp))
                time.sleep(0.001)

    def get(self, path, fields=(), method="GET", body=None, timeout=90):
        """Status, header and body as a client without a browser sees them."""
        request = urllib.request.Request(self.address + path, method=method, data=body, headers=dict(fields))
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()
        except urllib.error.URLError:
            return 0, None, ""

    def kymo(self, *arguments):
        return subprocess.run([KYMO, *arguments, "--data", f"{self.directory}/data"], capture_output=True, text=True,
                              timeout=60)

    def login(self, role="view"):
        """A new code and its address."""
        done = self.kymo("console", "login", "--role", role, "--format", "json")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        answer = json.loads(done.stdout)
        return f"{answer['address']}#login={answer['code']}", answer["code"]

    def operator(self):
        """Header fields of a client without a browser that has logged in to operate."""
        _, code = self.login("operate")
        fields = {"Origin": self.address, "Content-Type": "application/json"}
        _, headers, _ = self.get("/console/api/login", fields, "POST", json.dumps({"code": code}).encode())
        return fields | {"Cookie": headers["Set-Cookie"].split(";")[0]}

    def dead_letters(self):
        listed = json.loads(self.kymo("dead", "list", "--format", "json").stdout)
        return listed["letters"]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not self._log.closed:
            self._log.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


class Browser:
    """Chromium, started once for all tests."""

    _playwright = None
    _browser = None

    @classmethod
    def shared(cls):
        if cls._browser is None:
            cls._playwright = sync_playwright().start()
            path = os.environ.get("KYMO_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
            if path is None:
                raise AssertionError("there is no chromium: make setup installs it")
            flags = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking"]
            # As root it has no sandbox of its own.
            if os.geteuid() == 0:
                flags.append("--no-sandbox")
            cls._browser = cls._playwright.chromium.launch(executable_path=path, args=flags)
            atexit.register(cls.close)
        return cls._browser

    @classmethod
    def close(cls):
        if cls._browser:
            cls._browser.close()
            cls._playwright.stop()
            cls._browser = None


class Wire:
    """The bytes that answers to a page take with their heads, as the browser has received them: packed ones as they come. Of
    the stream of counts its history and first snapshot are among them, as long as they are after five minutes."""

    #: Totals that the stream begins with, one a second.
    SAMPLES = 300

    def __init__(self, page):
        self._answers, self._samples, self._snapshots = [], [], []
        session = page.context.new_cdp_session(page)
        session.on("Network.loadingFinished", lambda event: self._answers.append(event["encodedDataLength"]))
        session.on("Network.eventSourceMessageReceived", self._note)
        session.send("Network.enable")

    def _note(self, event):
        if event["eventName"] == "history":
            # A number and a comma in each of the lists; the longest are the first, which have all that came before.
            self._samples += [sum(len(str(one)) + 1 for one in sample) for sample in zip(*json.loads(event["data"]).values())]
        else:
            self._snapshots.append(len(event["data"]))

    @property
    def has_snapshot(self):
        return bool(self._snapshots)

    @property
    def count(self):
        stream = (self._snapshots[0] if self._snapshots else 0) + self.SAMPLES * max(self._samples, default=0)
        return round(sum(self._answers)) + stream


def serve_pages(route):
    """Answers with the file of ``PAGES``."""
    name = route.request.url.split("/console/", 1)[1].split("?")[0] or "index.html"
    path = pathlib.Path(PAGES) / name
    if not path.is_file():
        return route.fallback()
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    route.fulfill(body=path.read_bytes(), headers={
        "Content-Type": kinds[path.suffix], "Content-Security-Policy": POLICY, "Cache-Control": "no-store"})


def serve_files(context):
    """Has a browser's pages come from ``PAGES``, if it is given."""
    if PAGES:
        context.route(re.compile(r"/console/(?!api/)[^#]*$"), serve_pages)


class InstanceTestCase(unittest.TestCase):
    """A test with instances of its own."""

    def start(self, *arguments, **options):
        """An instance that is killed at the end of the test."""
        instance = Instance(*arguments, **options)
        self.addCleanup(instance.kill)
        return instance


class ConsoleTestCase(InstanceTestCase):
    """A test with pages; whatever it does, there must be no violation of the policy and no error in a page."""

    def setUp(self):
        self.complaints = []
        self.expects_errors = False

    def page(self, width=1440, height=900, scheme="light", **options):
        context = Browser.shared().new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **options)
        context.set_default_timeout(15_000)
        self.addCleanup(context.close)
        serve_files(context)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self._check(request.url))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('CSP: ' + e.violatedDirective + ' '"
            " + e.blockedURI));")
        return page

    def _note(self, message):
        if message.type == "error" and ("Failed to load resource" not in message.text):
            self.complaints.append(message.text)

    def _check(self, url):
        if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:")):
            self.complaints.append(f"a request to {url}")

    def logged_in(self, instance, role="operate", path="", **options):
        page = self.page(**options)
        address, _ = instance.login(role)
        page.goto(address)
        page.wait_for_selector("nav a[aria-current]", state="attached")
        if path:
            self.go(page, path)
        return page

    def go(self, page, path):
        page.evaluate("path => { location.hash = path; }", f"#/{path}")
        page.wait_for_selector(f'section[data-page="{path.split("?")[0]}"]')

    def state(self, page, selector="main > section"):
        return page.locator(selector).first.get_attribute("data-state")

    def wait_state(self, page, *states, seconds=15):
        wait_until(lambda: self.state(page) in states, seconds, f"state {states}, it is {self.state(page)},")

    def check_look(self, page, name, width):
        """Nothing is wider than the screen, and axe finds nothing, with its rule of WCAG 2.2 for the size of targets."""
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, name)
        # Its half a megabyte is brought once to each page, and not for each look.
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(Axe().axe_script)
        found = page.evaluate("""axe.run({resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})
            .then((results) => results.violations)""")
        said = [(one["id"], [node["html"][:300] for node in one["nodes"][:3]]) for one in found]
        self.assertEqual(said, [], name)

    def tearDown(self):
        if not self.expects_errors:
            self.assertEqual(self.complaints, [])
