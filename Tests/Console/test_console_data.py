"""Playground, Timeline and Ledger of the console in a real browser."""

import gzip
import json
import pathlib
import subprocess
import tempfile
import unittest
import urllib.request

from console_testing import KYMO, RUNS_ALL, ConsoleTestCase, Instance, Wire, now, reading, slow, wait_until

HOSTILE = "<script>alert(1)</script>\u202egnp.exe" + "x" * 400
#: An identifier as long as is taken, and one of 4 KiB, which is rejected.
LONG = "<b>" + "y" * 1017 + "</b>"
HUGE = "<b>" + "z" * 4089 + "</b>"


class DataTests(ConsoleTestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance("--idle", "2s", "--lateness", "1s")
        # A reading every second over ten minutes, 100 of which are missing; and a device with a hostile name.
        seconds = [second for second in range(600) if not 200 <= second < 300]
        for start in range(0, len(seconds), 50):
            cls.instance.send(*[reading("watch-1", 60 + second % 30, second - 700, patientId="p-1")
                                for second in seconds[start:start + 50]])
        cls.instance.send(*[reading(name, 70, -300 - second) for name in [HOSTILE, LONG] for second in range(3)],
                          reading(HUGE, 70, -300))
        cls.instance.send('{"deviceId":"watch-1","type":"heartrate","timestamp":"2026-03-01T08:00:05Z","value":1}',
                          reading("watch-1", offset=86400))
        wait_until(lambda: len(cls.instance.dead_letters()) >= 3, what="letters")
        wait_until(lambda: cls.windows() >= 51, 40, "closed windows")

    @classmethod
    def windows(cls):
        done = cls.instance.kymo("query", "--count")
        return json.loads(done.stdout)["windows"] if done.returncode == 0 else 0

    @classmethod
    def tearDownClass(cls):
        cls.instance.kill()

    def choose(self, page, device="watch-1"):
        page.fill("#find", device)
        page.keyboard.press("Enter")
        page.wait_for_selector(".buckets, .hours")

    # Timeline

    def test_a_gap_is_seen_as_missing_and_leads_to_readings(self):
        page = self.logged_in(self.instance, path="timeline")
        page.wait_for_selector("text=Whose readings?")
        self.choose(page)
        page.check('input[value="1min"]', force=True)
        page.wait_for_function("location.hash.includes('bucket=1min')")
        page.wait_for_selector(".buckets .lack")
        missing = int(page.locator(".facts dd.missing").first.inner_text())
        self.assertGreaterEqual(missing, 100)
        self.assertIn("masked-", page.locator(".series bdi").first.inner_text())
        page.locator("details summary:has-text('As a table')").first.click()
        rows = page.locator(".series details[open] tbody tr")
        wait_until(lambda: rows.count() > 10, what="rows of the table")
        cells = [row.inner_text().split("\t") for row in rows.all()]
        self.assertEqual(sum(int(row[1]) for row in cells), 500)
        full = next(place for place, row in enumerate(cells) if row[1] == "60")
        rows.nth(full).locator("button").click()
        page.wait_for_selector("aside >> text=6 windows")
        page.locator("aside td button").first.click()
        page.wait_for_selector("aside pre")
        observation = json.loads(page.locator("aside pre").first.inner_text())
        self.assertEqual(observation["resourceType"], "Observation")
        self.assertNotIn("p-1", page.locator("aside").inner_text())
        self.assertEqual(page.locator('aside [aria-label="Readings"] tbody tr').count(), 10)
        page.click("text=Reveal identifiers")
        page.wait_for_selector("aside pre:has-text('watch-1')")
        wait_until(lambda: "console.reveal" in self.instance.log, what="a line in the log")
        # The address has what is shown.
        page.reload()
        page.wait_for_selector("aside >> text=6 windows")

    def test_every_length_of_buckets_shows_all_readings(self):
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page)
        for name in ["1min", "1h", "1d", "week", "month", "year"]:
            page.check(f'input[value="{name}"]', force=True)
            page.wait_for_function("name => location.hash.includes('bucket=' + name)", arg=name)
            wait_until(lambda: page.locator(".facts dd.accepted").first.inner_text() == "500", what=f"all in {name}")

    def test_seconds(self):
        """The shortest buckets: each has one reading, or lacks one, around the beginning of the gap."""
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page)
        # The span of 600 s ends in the gap.
        first = page.evaluate("""async () => {
            const {get} = await import('./api.js');
            const of = new URLSearchParams(location.hash.split('?')[1]).get('of');
            const now = Math.ceil(Date.now() / 1000);
            const found = await get('timeline', {of, bucket: '1s', from: now - 1800, to: now});
            return found.boundaries[found.series[0].accepted.findIndex((number) => number > 0)];
        }""")
        self.go(page, page.url.split("#/")[1].split("&")[0] + f"&bucket=1s&to={first + 250}")
        page.wait_for_selector(".buckets .lack")
        self.assertEqual(page.locator(".facts dd.accepted").first.inner_text(), "200")
        self.assertEqual(page.locator(".facts dd.missing").first.inner_text(), "50")
        page.locator("details summary:has-text('As a table')").first.click()
        page.wait_for_selector(".series details[open] tbody tr")
        cells = [row.inner_text().split("\t") for row in page.locator(".series details[open] tbody tr").all()]
        self.assertEqual(len(cells), 600)
        self.assertEqual({tuple(row[1:3]) for row in cells}, {("1", "0"), ("0", "1"), ("0", "0")})

    def test_amended_windows_and_empty_buckets_are_marked(self):
        """A window that is written again has a mark; a bucket without anything is drawn as empty."""
        instance = self.start("--idle", "1s", "--lateness", "1s")
        windows = lambda: json.loads(instance.kymo("query", "--count").stdout or '{"windows": 0}')["windows"]
        # Every second one, and later the others.
        times = [now(-160 + second) for second in range(40)]
        instance.send(*[reading("band-1", 60, timestamp=time) for time in times[::2]])
        wait_until(lambda: windows() >= 4, 40, "closed windows")
        instance.send(*[reading("band-1", 60, timestamp=time) for time in times[1::2]])
        page = self.logged_in(instance, path="timeline")
        self.choose(page, "band-1")
        page.check('input[value="1min"]', force=True)
        page.wait_for_selector(".buckets .none", state="attached")
        amended = lambda: page.locator(".facts dd.amended").first.inner_text()
        # The page notices that there is something new by itself.
        wait_until(lambda: amended() != "0", 40, "amended windows")
        self.assertEqual(page.locator(".buckets .mark").count(), 1)
        self.assertIn("amended", page.locator(".buckets svg").first.get_attribute("aria-valuetext")
                      + "".join(page.evaluate("""() => {
            const chart = document.querySelector('.buckets svg');
            const found = [];
            chart.focus();
            for (let place = 0; place < 240; place++) {
                chart.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}));
                found.push(chart.getAttribute('aria-valuetext'));
            }
            return found;
        }""")))

    def test_newer_readings_come_by_themselves_or_are_offered(self):
        instance = self.start("--idle", "1s", "--lateness", "1s")
        def send(first, count):
            """One reading of each of so many seconds that no other call has."""
            instance.send(*[reading("band-1", 60, timestamp=times[first + number]) for number in range(count)])

        times = [now(number - 100) for number in range(100)]
        send(50, 20)
        wait_until(lambda: instance.kymo("query", "--count").returncode == 0, what="a store")
        page = self.logged_in(instance, path="timeline")
        self.choose(page, "band-1")
        accepted = lambda: page.locator(".facts dd.accepted").first.inner_text()
        wait_until(lambda: accepted() == "20", 30, "20 readings")
        send(20, 5)
        wait_until(lambda: accepted() == "25", 30, "5 more readings")
        # What somebody looks at stays until they ask.
        page.locator("details summary:has-text('As a table')").first.click()
        send(10, 5)
        page.wait_for_selector("text=Newer readings have come.")
        self.assertEqual(accepted(), "25")
        page.click("text=Show them")
        wait_until(lambda: accepted() == "30", 30, "5 more readings")
        self.assertEqual(page.locator("text=Newer readings have come.").count(), 0)
        # The same on the ledger, of which an hour is chosen.
        self.go(page, "ledger")
        self.choose(page, "band-1")
        cells = lambda: page.locator(".hours button:not(.none)").first.get_attribute("aria-label")
        page.locator(".hours button:not(.none)").first.click()
        page.wait_for_selector("aside .card")
        send(0, 5)
        page.wait_for_selector("text=Newer readings have come.")
        before = cells()
        page.click("text=Show them")
        wait_until(lambda: cells() != before, 30, "another number of readings")
        self.assertEqual(page.locator('.hours button[aria-pressed="true"]').count(), 1)

    def test_readings_of_a_patient(self):
        """By patient: on the timeline and on the ledger, and the address says so."""
        page = self.logged_in(self.instance, path="timeline")
        page.fill("#find", "p-1")
        page.keyboard.press("Enter")
        page.wait_for_selector(".buckets")
        for name, thing in [("timeline", ".buckets"), ("ledger", ".hours")]:
            self.go(page, name + "?" + page.url.split("?")[1])
            page.wait_for_selector(thing)
            page.check('input[name="by"][value="patient"]', force=True)
            page.wait_for_function("location.hash.includes('by=patient')")
            page.wait_for_selector(thing)
            self.wait_state(page, "loaded")
            self.assertTrue(page.locator('input[name="by"][value="patient"]').is_checked(), name)
        self.assertEqual(page.locator(".hours").count(), 1)
        # The strap names no patient.
        self.go(page, "timeline")
        self.choose(page, HOSTILE)
        self.assertTrue(page.locator('input[name="by"][value="patient"]').is_disabled())

    def open_newest_window(self, page):
        """The first of the last bucket that has any; one that is alone opens by itself."""
        chart = page.locator(".buckets svg").first
        chart.focus()
        page.keyboard.press("End")
        while ": 0 accepted" in chart.get_attribute("aria-valuetext"):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        page.wait_for_selector("aside .table tbody tr")
        if page.locator("aside [data-key^='window']").count() > 1:
            page.locator("aside [data-key^='window']").first.click()
        page.wait_for_selector("aside pre")

    def test_from_an_observation_to_its_payloads(self):
        """What was kept as it came is shown to who may reveal, and the log says so."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="kymo-"))
        settings = pathlib.Path(folder) / "kymo.yaml"
        settings.write_text("store: {keepRaw: 1d}\n")
        instance = self.start("--config", str(settings), "--idle", "1s", "--lateness", "1s")
        sent = [reading("band-1", 60 + second, -60 - second, note="<b>as it came</b>") for second in range(3)]
        instance.send(*sent)
        wait_until(lambda: json.loads(instance.kymo("query", "--count").stdout or '{"windows": 0}')["windows"] >= 1, 40, "a window")
        page = self.logged_in(instance, path="timeline")
        self.choose(page, "band-1")
        self.open_newest_window(page)
        page.click("aside >> text=Reveal payloads")
        page.wait_for_selector('aside [data-part="payload"]')
        shown = page.locator('aside [data-part="payload"]').all_inner_texts()
        self.assertTrue(shown and set(shown) <= set(sent), shown)
        self.assertIn("has revealed the payloads of window", instance.log)
        # An instance that keeps none says what to set.
        other = self.logged_in(self.instance, path="timeline")
        self.choose(other)
        self.open_newest_window(other)
        other.click("aside >> text=Reveal payloads")
        other.wait_for_selector("aside >> text=store.keepRaw")

    def test_the_chart_is_used_by_keys(self):
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page)
        chart = page.locator(".buckets svg").first
        chart.focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        self.assertIn("accepted", chart.get_attribute("aria-valuetext"))
        page.keyboard.press("Enter")
        page.wait_for_selector("aside .facts")

    def test_dead_letters_of_the_span(self):
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page)
        page.locator('[aria-label="Dead letters of the span"] a').first.click()
        page.wait_for_selector('section[data-page="letters"]')

    def test_hostile_names_are_text(self):
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page, HOSTILE)
        page.click("text=Reveal")
        page.wait_for_selector("text=The log says")
        shown = page.locator("[role=status] bdi").first.inner_text()
        self.assertIn("<script>alert(1)</script>⟨U+202E⟩gnp.exe", shown)
        self.assertNotIn("script", page.url)

    @slow
    def test_an_identifier_of_4_kib_is_text_and_breaks_nothing(self):
        for width in [1440, 390]:
            page = self.logged_in(self.instance, path="timeline", width=width, height=900)
            self.choose(page, LONG)
            page.click("text=Reveal")
            page.wait_for_selector("text=The log says")
            self.assertEqual(page.locator("[role=status] bdi").first.inner_text(), LONG)
            self.assertEqual(page.locator("main b").count(), 0)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            self.go(page, "ledger?" + page.url.split("?")[1])
            page.wait_for_selector(".hours")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            letter = next(one for one in self.instance.dead_letters() if one["reason"] == "valueTooLong")
            self.go(page, f"letters?letter={letter['number']}")
            page.click("text=Reveal content")
            page.wait_for_selector("[data-part='text']")
            self.assertIn(HUGE, page.locator("[data-part='text']").inner_text())
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)

    def test_nobody_of_this_name(self):
        page = self.logged_in(self.instance, path="timeline")
        page.fill("#find", "nobody")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=The store has no device or patient of this identifier.")

    def test_a_viewer_reveals_nothing(self):
        page = self.logged_in(self.instance, "view", "timeline")
        self.choose(page)
        self.assertEqual(page.locator("button:has-text('Reveal')").count(), 0)
        status = page.evaluate("""fetch('api/subjects/reveal', {method: 'POST', headers: {'Content-Type':
            'application/json'}, body: '{"series":0}'}).then((answer) => answer.status)""")
        self.assertEqual(status, 403)

    # Ledger

    def test_hours_and_their_proof(self):
        page = self.logged_in(self.instance, path="ledger")
        self.choose(page)
        cell = page.locator(".hours button:not(.none)").first
        cell.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector('[aria-label="Windows of the hour"] tbody tr')
        ledger = json.loads(self.instance.kymo("ledger", "--device", "watch-1", "--format", "json").stdout)
        hours = page.locator(".hours button:not(.none)")
        windows = 0
        for place in range(hours.count()):
            hours.nth(place).click()
            page.wait_for_function("place => document.querySelectorAll('.hours button:not(.none)')[place].ariaPressed"
                                   " === 'true' && document.querySelector('aside .tag')", arg=place)
            page.wait_for_timeout(300)
            windows += page.locator('[aria-label="Windows of the hour"] tbody tr').count()
        self.assertGreaterEqual(windows, sum(one["windows"] for one in ledger["series"] if one["device"] == "watch-1") - 1)
        page.keyboard.press("ArrowLeft")
        self.assertTrue(page.evaluate("document.activeElement.closest('.hours') !== null"))

    # Playground

    def test_it_answers_as_one_types(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        self.assertEqual(page.locator("pre.matched mark:not(.whole)").first.inner_text()[0], '"')
        field = page.locator("#edit-payload")
        field.fill(field.input_value().replace("72", "null"))
        page.wait_for_selector("text=nullValue")
        field.fill('{"deviceId":')
        page.wait_for_selector("text=The payload is refused at byte")
        page.locator("#edit-device").fill("{\n  nonsense")
        page.wait_for_selector("text=The mapping cannot be used")
        page.wait_for_selector(".hint.bad:has-text('2:')")

    def test_it_changes_no_counter_and_nothing_in_the_store(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        counted = lambda: [line for line in self.instance.get("/metrics")[2].splitlines()
                           if line.startswith(("kymo_readings", "kymo_rejected", "kymo_mapping", "kymo_windows"))]
        before, letters = counted(), len(self.instance.dead_letters())
        self.assertTrue(before)
        field = page.locator("#edit-payload")
        for text in ['{"deviceId":', field.input_value().replace("72", "73"), "no json"]:
            field.fill(text)
            page.wait_for_timeout(600)
        page.wait_for_selector("text=The payload is refused at byte")
        self.assertEqual(counted(), before)
        self.assertEqual(len(self.instance.dead_letters()), letters)

    @slow
    def test_the_playground_by_keys(self):
        """From one field to the next by Tab, and what an expression matched by focus alone."""
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        page.focus("#edit-payload")
        page.keyboard.press("Control+A")
        page.keyboard.insert_text('{"deviceId":"w","type":"heartRate","timestamp":"2026-03-01T08:00:05Z","value":null,"unit":"/min"}')
        page.wait_for_selector("text=nullValue")
        fields = []
        for _ in range(6):
            page.keyboard.press("Tab")
            fields.append(page.evaluate("document.activeElement.id || document.activeElement.dataset.key"))
        self.assertIn("edit-device", fields)
        self.assertIn("edit-fhir", fields)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.tagName") == "TR":
                break
        self.assertGreaterEqual(page.locator("mark.lit").count(), 1)

    def test_what_an_expression_matched_lights_up(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        page.locator("tr:has-text('timestamp')").first.focus()
        self.assertEqual(page.locator("mark.lit").inner_text(), '"2026-03-01T08:00:05Z"')

    def test_it_gives_what_the_command_gives(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        payload = page.locator("#edit-payload").input_value()
        answer = page.evaluate("""async (payload) => {
            const {get, post} = await import('./api.js');
            const files = await get('mappings/files', {name: 'reading'});
            return post('playground', {payload, deviceText: files.deviceText ?? files.device, fhirText: files.fhirText ?? files.fhir,
                name: 'reading'});
        }""", payload)
        done = subprocess.run([KYMO, "map", "--explain", "--format", "json"], input=payload.encode(), capture_output=True,
                              check=True, timeout=60)
        self.assertEqual(answer["output"].encode(), done.stdout)

    def test_an_export_of_the_medtech_service_is_dropped(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        page.locator("#edit-payload").fill(json.dumps({"id": "bed-7", "at": "2026-03-01T00:00:00Z", "pulse": 61}))
        page.wait_for_selector("text=0 readings, 1 rejected")
        device = {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
            "typeName": "pulse of the ward", "typeMatchExpression": "$..[?(@pulse)]", "deviceIdExpression": "$.id",
            "timestampExpression": "$.at",
            "values": [{"required": True, "valueExpression": "$.pulse", "valueName": "rate"}]}}]}
        fhir = {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
            "typeName": "pulse of the ward",
            "codes": [{"code": "8867-4", "system": "http://loinc.org", "display": "Heart rate"}],
            "value": {"valueType": "Quantity", "valueName": "rate", "unit": "/min", "code": "/min",
                      "system": "http://unitsofmeasure.org"}}}]}
        export = {"properties": {"deviceMapping": {"content": device}, "fhirMapping": {"content": fhir}}}
        page.evaluate("""([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name, {type: 'application/json'}));
            document.querySelector('.editor').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
        }""", ["medtech.json", json.dumps(export)])
        page.wait_for_selector("text=medtech.json is now the device mapping and the fhir mapping.")
        for kind in ["device", "fhir"]:
            self.assertIn("pulse of the ward", page.locator(f"#edit-{kind}").input_value())
        page.wait_for_selector("text=1 reading, 0 rejected")
        page.check('input[value="iomt-fhir"]', force=True)
        page.wait_for_selector("text=1 reading, 0 rejected")
        self.assertIn("compatibility=iomt-fhir", page.url)

    def test_a_dead_letter_is_mended(self):
        number = next(one["number"] for one in self.instance.dead_letters() if one["reason"] == "noTemplate")
        page = self.logged_in(self.instance, path=f"playground?letter={number}&mapping=reading")
        page.wait_for_selector(f"text=This is dead letter {number}")
        page.wait_for_selector(".hint:has-text('typeMatchExpression')")
        device = page.locator("#edit-device")
        device.fill(device.input_value().replace("@type == 'heartRate' && @unit == '/min'", "@type == 'heartrate'"))
        page.wait_for_selector("text=1 reading, 0 rejected")

    def test_hexadecimal_payloads(self):
        page = self.logged_in(self.instance, path="playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        page.click("text=Payload is hexadecimal")
        page.wait_for_selector("text=1 reading, 0 rejected")
        self.assertTrue(page.locator("#edit-payload").input_value().startswith("7b22646576696365"))
        page.locator("#edit-payload").fill("7b2")
        page.wait_for_selector("text=line 1 of the payload is not hexadecimal")

    # All pages

    def test_each_page_is_small(self):
        """Less than 120 KB over the wire, with its data, of the longest mapping and with something chosen."""
        page = self.logged_in(self.instance, path="timeline")
        self.choose(page)
        of = page.url.split("?")[1].split("&")[0]
        for path in ["overview", "live", f"timeline?{of}", f"ledger?{of}", "letters?letter=1", "playground", "mappings?name=reading"]:
            tab = page.context.new_page()
            wire = Wire(tab)
            tab.goto(f"{self.instance.address}/console/#/{path}")
            if path == "playground":
                tab.wait_for_selector("text=1 reading, 0 rejected")
            else:
                self.wait_state(tab, "loaded", "partial", "empty")
            wait_until(lambda: tab.wait_for_timeout(50) or wire.has_snapshot, what="a snapshot")
            # Nothing was left out: packed, the pages alone have that many.
            self.assertGreater(wire.count, 25_000, path)
            self.assertLess(wire.count, 120_000, path)
            tab.close()

    def test_pages_are_packed_for_who_takes_that(self):
        for path in ["", "app.js", "style.css", "pages/playground.js"]:
            _, plain, text = self.instance.get(f"/console/{path}")
            self.assertIsNone(plain["Content-Encoding"])
            request = urllib.request.Request(f"{self.instance.address}/console/{path}", headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                body = answer.read()
                if path:
                    self.assertEqual(answer.headers["Content-Encoding"], "gzip")
                    body = gzip.decompress(body)
                self.assertEqual(answer.headers["Vary"], "Accept-Encoding")
                self.assertEqual(body.decode(), text, path)
        # What is answered of readings never is; files of mappings are.
        fields = self.instance.operator() | {"Accept-Encoding": "gzip"}
        for path, encoding in [("subjects", None), ("mappings/files?name=reading", "gzip")]:
            request = urllib.request.Request(f"{self.instance.address}/console/api/{path}", headers=fields)
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(answer.headers["Content-Encoding"], encoding)
                body = answer.read()
                self.assertTrue(json.loads(gzip.decompress(body) if encoding else body))

    def test_nothing_for_axe_to_find(self):
        schemes = ["light", "dark"] if RUNS_ALL else ["light"]
        for scheme in schemes:
            for width in [1440, 390]:
                page = self.logged_in(self.instance, scheme=scheme, width=width, height=900)
                for name in ["timeline", "ledger", "playground"]:
                    self.go(page, name)
                    if name == "playground":
                        page.wait_for_selector("text=1 reading, 0 rejected")
                    else:
                        self.choose(page)
                    self.check_look(page, f"{name}, {scheme}, {width}", width)
                page.context.close()


if __name__ == "__main__":
    unittest.main()
