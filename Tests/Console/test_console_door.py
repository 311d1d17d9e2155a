"""Who may ask the console what: the listener as a client sees it that is no browser."""

import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import tempfile
import threading
import time
import unittest

from console_testing import (KYMO, POLICY, SECRET, Instance, InstanceTestCase, free_port, misspelt_mapping, reading, slow, totals,
                             wait_until)


class DoorTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.instance.kill()

    def ask(self, method, path, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=20)
        given = {name.replace("_", "-"): value for name, value in fields.items()}
        given.setdefault("Host", f"127.0.0.1:{self.instance.port}")
        connection.request(method, path, None if body is None else json.dumps(body), given)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.instance.port}"

    def cookie(self, role="view"):
        _, code = self.instance.login(role)
        status, headers, _ = self.ask("POST", "/console/api/login", {"code": code}, Origin=self.origin)
        self.assertEqual(status, 200)
        return headers["Set-Cookie"].split(";")[0]

    def test_every_answer_has_the_policy_and_is_not_stored(self):
        asked = [("GET", path, {}) for path in ["/console/", "/console/app.js", "/console/api/session", "/console/missing"]]
        asked += [("PUT", "/console/", {}), ("PUT", "/console/api/session", {"Origin": self.origin}),
                  ("POST", "/console/api/login", {"Origin": self.origin, "Content-Length": "99999999"}),
                  ("GET", "/console/", {"X": "y" * 20_000}), ("GET", "/console/", {"Transfer-Encoding": "gzip"})]
        for method, path, fields in asked:
            status, headers, _ = self.ask(method, path, **fields)
            self.assertNotEqual((method, status), ("PUT", 200))
            self.assertTrue(headers["Content-Security-Policy"].startswith(POLICY), path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["X-Frame-Options"], "DENY")

    def test_what_a_path_takes_is_said(self):
        cookie = self.cookie()
        for method, path, allow in [("PUT", "", "GET, HEAD"), ("POST", "api/session", "GET, HEAD"),
                                    ("GET", "api/letters/1/reveal", "POST"), ("GET", "api/login", "POST"),
                                    ("HEAD", "api/live", "GET")]:
            status, headers, _ = self.ask(method, f"/console/{path}", Cookie=cookie, Origin=self.origin)
            self.assertEqual((status, headers["Allow"]), (405, allow), path)
        status, headers, text = self.ask("HEAD", "/console/api/letters", Cookie=cookie)
        self.assertEqual((status, text), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 0)

    def test_nothing_of_readings_without_login(self):
        for path in ["session", "live", "letters", "letters/reasons", "letters/1", "mappings", "mappings/tests?name=reading"]:
            status, _, text = self.ask("GET", f"/console/api/{path}")
            self.assertEqual(status, 401, path)
            self.assertEqual(json.loads(text)["error"], "loginNeeded")

    def test_a_code_is_good_once_and_the_cookie_is_closed_to_scripts(self):
        _, code = self.instance.login()
        status, headers, _ = self.ask("POST", "/console/api/login", {"code": code.lower().replace("-", " ")},
                                      Origin=self.origin)
        self.assertEqual(status, 200)
        for part in ["HttpOnly", "SameSite=Strict", "Path=/console/"]:
            self.assertIn(part, headers["Set-Cookie"])
        status, _, text = self.ask("POST", "/console/api/login", {"code": code}, Origin=self.origin)
        self.assertEqual((status, json.loads(text)["error"]), (401, "wrongCode"))

    def test_other_hosts_are_refused(self):
        cookie = self.cookie()
        for host in ["evil.example", "evil.example:5790", "127.0.0.1.evil.example", "localhost.evil:80", "127.0.0.1:80x"]:
            for path in ["/console/", "/console/api/session"]:
                self.assertEqual(self.ask("GET", path, Host=host, Cookie=cookie)[0], 421, host)
        for host in ["localhost", "LOCALHOST:8080", "[::1]:1", "127.0.0.1"]:
            self.assertEqual(self.ask("GET", "/console/api/session", Host=host, Cookie=cookie)[0], 200, host)

    def test_changes_need_the_origin_of_the_console(self):
        cookie = self.cookie("operate")
        body = {"letters": [1]}
        for fields in [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": self.origin + "0"},
                       {"Origin": self.origin, "Sec-Fetch-Site": "cross-site"}]:
            status, _, text = self.ask("POST", "/console/api/letters/discard", body, Cookie=cookie, **fields)
            self.assertEqual((status, json.loads(text)["error"]), (403, "wrongOrigin"), fields)
        self.assertEqual(self.ask("POST", "/console/api/letters/discard", body, Cookie=cookie, Origin=self.origin)[0], 200)

    def test_roles(self):
        view = self.cookie("view")
        for path in ["letters/1/reveal", "letters/replay", "letters/discard"]:
            status, _, text = self.ask("POST", f"/console/api/{path}", {"letters": [1]}, Cookie=view, Origin=self.origin)
            self.assertEqual((status, json.loads(text)["error"]), (403, "roleNeeded"), path)
        done = self.instance.kymo("console", "login", "--role", "edit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("console.edit", done.stderr)

    def test_logout_ends_the_session(self):
        cookie = self.cookie()
        self.assertEqual(self.ask("GET", "/console/api/session", Cookie=cookie)[0], 200)
        status, headers, _ = self.ask("POST", "/console/api/logout", {}, Cookie=cookie, Origin=self.origin)
        self.assertEqual(status, 200)
        self.assertIn("Max-Age=0", headers["Set-Cookie"])
        self.assertEqual(self.ask("GET", "/console/api/session", Cookie=cookie)[0], 401)

    def test_a_letter_is_masked_until_it_is_revealed_and_that_is_logged(self):
        self.instance.send(json.dumps({"deviceId": SECRET, "type": SECRET, "value": SECRET}))
        letter = wait_until(lambda: [one for one in self.instance.dead_letters()], what="a letter")[-1]["number"]
        cookie = self.cookie("operate")
        for path in [f"letters/{letter}", "letters", "letters/reasons"]:
            status, _, text = self.ask("GET", f"/console/api/{path}", Cookie=cookie)
            self.assertEqual(status, 200)
            self.assertNotIn(SECRET, text)
        self.assertNotIn("has revealed", self.instance.log)
        status, _, text = self.ask("POST", f"/console/api/letters/{letter}/reveal", {}, Cookie=cookie, Origin=self.origin)
        self.assertEqual(status, 200)
        self.assertIn(SECRET, json.loads(text)["text"])
        lines = [json.loads(line) for line in self.instance.log.splitlines() if "has revealed" in line]
        self.assertEqual(len(lines), 1)
        self.assertEqual((lines[0]["event"], lines[0]["role"]), ("console.reveal", "operate"))
        # Who asked for the login is in the line of the code and in what its session does.
        asker = lines[0]["asker"]
        self.assertRegex(asker, rf"^process \d+ of user {os.geteuid()} and group \d+$")
        codes = [json.loads(line) for line in self.instance.log.splitlines() if '"console.code"' in line]
        self.assertIn((lines[0]["session"], asker), [(code["session"], code["asker"]) for code in codes])
        self.assertIn(f"dead letter {letter}", json.dumps(lines[0]))
        self.assertNotIn(SECRET, self.instance.log)

    def test_letters_come_in_parts(self):
        before = len(self.instance.dead_letters())
        self.instance.send(*[f"no json {number}" for number in range(25)])
        wait_until(lambda: len(self.instance.dead_letters()) == before + 25, what="25 letters")
        cookie, numbers, place = self.cookie(), [], ""
        while True:
            _, _, text = self.ask("GET", f"/console/api/letters?limit=10&reason=invalidJSON{place}", Cookie=cookie)
            part = json.loads(text)
            numbers += [letter["number"] for letter in part["letters"]]
            if "before" not in part:
                break
            place = f"&before={part['before']}"
        self.assertEqual(len(set(numbers)), part["total"])
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        self.assertGreaterEqual(len(numbers), 25)

    def test_a_stream_ends_with_its_session(self):
        cookie, other = self.cookie(), self.cookie()
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=20)
        connection.request("GET", "/console/api/live", headers={"Cookie": cookie})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(self.ask("POST", "/console/api/logout", {}, Cookie=cookie, Origin=self.origin)[0], 200)
        end, lines = time.monotonic() + 15, []
        while line := answer.readline().decode():
            lines.append(line)
            self.assertLess(time.monotonic(), end, "the stream goes on")
        self.assertIn("event: ended\n", lines)
        self.assertEqual(self.ask("GET", "/console/api/live", Cookie=cookie)[0], 401)
        self.assertEqual(len(self.events(other, 2)), 2, "others go on")

    def test_a_stream_begins_with_history_and_goes_on_from_the_last_event(self):
        cookie = self.cookie()
        first = self.events(cookie, 3)
        self.assertEqual([event["event"] for event in first[:3]], ["history", "snapshot", "snapshot"])
        snapshot = json.loads(first[1]["data"])
        balance = snapshot["balance"]
        self.assertEqual(balance["received"], sum(balance[name] for name in
                                                  ["accepted", "duplicate", "conflict", "rejected", "inFlight"]))
        last = first[1]["id"]
        again = self.events(cookie, 1, last)
        seen = int(last.rsplit("-", 1)[1])
        missed = totals(json.loads(again[0]["data"]))
        self.assertTrue(missed)
        self.assertEqual([sample["id"] for sample in missed], list(range(seen + 1, seen + 1 + len(missed))))
        # Whoever begins anew gets each total as its snapshot had it.
        beginning = totals(json.loads(self.events(cookie, 1)[0]["data"]))
        self.assertIn(snapshot["sample"], beginning)
        self.assertEqual([sample["id"] for sample in beginning], [beginning[0]["id"] + place for place in range(len(beginning))])

    def events(self, cookie, count, last=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=20)
        fields = {"Cookie": cookie} | ({"Last-Event-ID": last} if last else {})
        connection.request("GET", "/console/api/live", headers=fields)
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        events = []
        while len(events) < count:
            event = {}
            while (line := answer.readline().decode().rstrip("\n")):
                name, value = line.split(": ", 1)
                event[name] = value
            events.append(event)
        connection.close()
        return events

    def test_sixteen_pages_and_no_more(self):
        cookie, streams = self.cookie(), []
        try:
            for _ in range(16):
                connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=20)
                connection.request("GET", "/console/api/live", headers={"Cookie": cookie})
                answer = connection.getresponse()
                streams.append(answer)
                self.assertEqual(answer.status, 200)
            self.assertEqual(self.ask("GET", "/console/api/live", Cookie=cookie)[0], 503)
        finally:
            for stream in streams:
                stream.close()
        wait_until(lambda: self.events_again(cookie), what="room for a page")

    def events_again(self, cookie):
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=20)
        connection.request("GET", "/console/api/live", headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.close()
        return answer.status == 200

    def test_metrics_stay_without_login(self):
        status, headers, text = self.ask("GET", "/metrics", Host="prometheus.example")
        self.assertEqual(status, 200)
        self.assertIn("kymo_readings_received_total", text)
        self.assertIsNone(headers["Content-Security-Policy"])


class OffTests(InstanceTestCase):
    def test_without_the_setting_there_is_no_console(self):
        instance = self.start(has_console=False)
        for path in ["/console/", "/console/app.js", "/console/api/overview", "/console/api/login"]:
            self.assertEqual(instance.get(path)[0], 404, path)
        self.assertNotEqual(instance.kymo("console", "login").returncode, 0)

    def test_what_it_cannot_be_served_by_is_refused(self):
        import subprocess
        import tempfile
        for arguments, message in [(["--console"], "http.admin"),
                                   (["--console", "--admin", "0.0.0.0:0"], "other machines can reach")]:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([KYMO, "run", "--udp", "127.0.0.1:0", "--data", folder, *arguments],
                                      capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 78, done.stderr)
            self.assertIn(message, done.stderr)

    def test_too_many_wrong_codes_are_not_answered(self):
        instance = self.start()
        fields = {"Origin": instance.address, "Content-Type": "application/json"}
        statuses = [instance.get("/console/api/login", fields, "POST", b'{"code":"AAAA"}')[0] for _ in range(12)]
        self.assertEqual(statuses, [401] * 10 + [429] * 2)
        # Nobody is kept out by another one's guesses.
        _, code = instance.login()
        body = json.dumps({"code": code}).encode()
        self.assertEqual(instance.get("/console/api/login", fields, "POST", body)[0], 200)
        self.assertEqual(instance.get("/console/api/login", fields, "POST", body)[0], 429)

    def test_what_is_done_is_logged_whatever_the_level_and_each_time(self):
        instance = self.start("--log-level", "error", admin=f"127.0.0.1:{free_port(socket.SOCK_STREAM)}")
        instance.send("no json", "no json either")
        wait_until(lambda: len(instance.dead_letters()) == 2, what="2 letters")
        fields = instance.operator()
        for _ in range(3):
            self.assertEqual(instance.get("/console/api/letters/1/reveal", fields, "POST", b"{}")[0], 200)
        _, _, text = instance.get("/console/api/letters/discard", fields, "POST", b'{"letters":[2,1,2,77]}')
        self.assertEqual(json.loads(text)["text"], "discarded 2 dead letters")
        self.assertEqual([one["letter"] for one in json.loads(text)["refusals"]], [77])
        events = [json.loads(line)["event"] for line in instance.log.splitlines() if '"console.' in line]
        self.assertEqual(events, ["console.code", "console.login"] + ["console.reveal"] * 3 + ["console.discard"])
        self.assertIn("discards 3 dead letters: 1-2, 77", instance.log)


class LongLetterTests(InstanceTestCase):
    """Letters that are long, in the process that takes readings."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kymo-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.socket = f"{self.folder}/s"

    def send(self, lines):
        with socket.socket(socket.AF_UNIX) as sender:
            sender.connect(self.socket)
            sender.sendall(b"".join(line + b"\n" for line in lines))

    @slow
    def test_memory_stays_small(self):
        instance = self.start("--unix", self.socket)
        long = b"no json " + b"x" * 800_000
        self.send([long] * 40)
        fields = instance.operator()
        total = lambda: json.loads(instance.get("/console/api/letters?limit=1", fields)[2])["total"]
        wait_until(lambda: total() == 40, what="40 letters")
        peak = lambda: int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{instance.process.pid}/status").read_text())[1])
        before = peak()
        for number in range(1, 6):
            letter = json.loads(instance.get(f"/console/api/letters/{number}", fields)[2])
            self.assertEqual((letter["size"], letter["isTooLong"]), (len(long), True))
            self.assertNotIn("shape", letter)
        body = json.dumps({"letters": list(range(1, 41))}).encode()
        status, _, text = instance.get("/console/api/letters/replay", fields, "POST", body)
        self.assertEqual((status, len(json.loads(text)["refusals"])), (200, 40))
        # In KiB; all at once are 32 MiB, and several copies of them.
        self.assertLess(peak() - before, 24 << 10)

    @slow
    def test_a_replay_that_cannot_go_on_holds_nobody_up(self):
        mapping = pathlib.Path(self.folder) / "mapping"
        mapping.mkdir()
        device, right = misspelt_mapping(mapping)
        first = self.start("--unix", self.socket, "--mapping", f"{mapping}/")
        self.send([reading("watch-1", offset=-number, pad="x" * 300_000).encode() for number in range(8)])
        wait_until(lambda: len(first.dead_letters()) == 8, what="8 letters")
        first.stop()
        device.write_text(right)
        # The letters are of a source that it has; another program has got the name of its socket.
        instance = self.start("--unix", self.socket, "--mapping", f"{mapping}/", directory=first.directory)
        fields = instance.operator()
        os.unlink(self.socket)
        with socket.socket(socket.AF_UNIX) as listener:
            # It takes connections, and reads nothing.
            listener.bind(self.socket)
            listener.listen()
            found = []
            body = json.dumps({"letters": list(range(1, 9))}).encode()
            replay = threading.Thread(target=lambda: found.append(
                instance.get("/console/api/letters/replay", fields, "POST", body)))
            replay.start()
            for _ in range(5):
                start = time.monotonic()
                for path in ["session", "letters", "letters/1"]:
                    self.assertEqual(instance.get(f"/console/api/{path}", fields)[0], 200)
                self.assertLess(time.monotonic() - start, 5)
                time.sleep(0.2)
            self.assertTrue(replay.is_alive(), "it waits for the socket")
            replay.join(59)
        status, _, text = found[0]
        self.assertEqual(status, 200)
        refusals = json.loads(text)["refusals"]
        self.assertEqual(len(refusals), 8)
        self.assertIn("it takes nothing at present", refusals[0]["reason"])
        self.assertEqual(len(instance.dead_letters()), 8)


if __name__ == "__main__":
    unittest.main()
