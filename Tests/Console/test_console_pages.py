"""The console in a real browser: login, live counts, dead letters, hostile content, states, accessibility."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from console_testing import (ROOT, RUNS_ALL, SECRET, ConsoleTestCase, Instance, free_port, misspelt_mapping, reading, slow,
                             wait_until)

#: Pages of the navigation; those that need nothing chosen.
PAGES = ["overview", "letters", "mappings"]


class PageTests(ConsoleTestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance()
        cls.instance.send(*[reading(value=60 + number % 30, offset=-number) for number in range(40)])
        cls.instance.send("no json", json.dumps({"deviceId": SECRET, "type": SECRET, "value": SECRET}),
                          reading(offset=7200), '{"deviceId":"a","type":"heartRate"}')
        wait_until(lambda: len(cls.instance.dead_letters()) >= 3, what="letters")

    @classmethod
    def tearDownClass(cls):
        cls.instance.kill()

    # Login

    def test_login_by_hand_and_by_address(self):
        page = self.page()
        page.goto(self.instance.address + "/console/")
        page.wait_for_selector("#code")
        self.assertEqual(page.evaluate("document.activeElement.id"), "code")
        page.fill("#code", "WRONG-CODE-HERE")
        page.click("button.strong")
        page.wait_for_selector("#login-message:has-text('kymo console login')")
        _, code = self.instance.login()
        page.fill("#code", code.lower())
        page.keyboard.press("Enter")
        page.wait_for_selector('section[data-page="overview"]')
        self.assertEqual(page.evaluate("document.cookie"), "", "scripts must not see the cookie")
        page.reload()
        page.wait_for_selector('section[data-page="overview"]')
        other = self.logged_in(self.instance)
        self.assertNotIn("login=", other.url)

    @slow
    def test_logout(self):
        page = self.logged_in(self.instance)
        page.click("text=Log out")
        page.wait_for_selector("#code")
        page.reload()
        page.wait_for_selector("#code")

    def test_a_viewer_is_offered_no_change(self):
        page = self.logged_in(self.instance, "view", "letters")
        page.wait_for_selector("tr[data-letter]")
        self.assertEqual(page.locator("text=Choose all").count(), 0)
        page.locator("tr[data-letter] button").first.click()
        page.wait_for_selector("aside h2")
        page.wait_for_selector("text=the role operate can reveal it")
        self.assertEqual(page.locator("button:has-text('Reveal')").count(), 0)

    # Overview

    def test_counts_update_while_readings_flow(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        received = page.locator('[data-part="balance"] dd').first
        before = int(received.inner_text().replace(",", ""))
        self.instance.send(*[reading("watch-2", offset=-number) for number in range(25)])
        wait_until(lambda: int(received.inner_text().replace(",", "")) >= before + 25, 10, "25 more readings")
        self.assertEqual(page.locator('[data-part="balance"] .tag').inner_text(), "✓ all accounted for")
        self.assertIn("udp 127.0.0.1", page.locator('[data-part="sources"]').inner_text())

    def test_every_counter_of_rejections_leads_to_its_letters(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        page.click('[data-part="balance"] a')
        page.wait_for_selector('section[data-page="letters"] tr[data-letter]')
        page.go_back()
        page.wait_for_selector('[data-part="verdict"]')
        link = page.locator('.attention a[href*="reason="]').first
        reason = re.search(r"reason=(\w+)", link.get_attribute("href")).group(1)
        link.click()
        page.wait_for_selector("tr[data-letter]")
        shown = page.locator("tr[data-letter] td:nth-child(4)").all_inner_texts()
        self.assertTrue(shown and all(reason in text for text in shown), shown)

    def test_the_counters_of_sources_sinks_and_the_store_lead_to_letters(self):
        """A server refuses an entry: the cards of source, sink and store all lead to what they count."""
        server = subprocess.Popen([sys.executable, ROOT / "Tests/Servers/echoing_refusals.py"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        port = int(server.stdout.readline())
        instance = self.start("--idle", "1s", "--lateness", "1s", "--server",
                              f"http://127.0.0.1:{port}/fhir", "--server-identity", "create")
        instance.send("no json", *[reading("watch-1", offset=-second) for second in range(3)])
        wait_until(lambda: {one["kind"] for one in instance.dead_letters()} >= {"payload", "entry"}, 40, "a refused entry")
        page = self.logged_in(instance)
        for link, shown in [('[data-part="sources"] a', "payload"), ('[data-part="sinks"] a', "entry"),
                            ('[data-part="store"] a', None)]:
            self.go(page, "overview")
            page.wait_for_selector(link)
            page.locator(link).first.click()
            page.wait_for_selector('section[data-page="letters"] tr[data-letter]')
            rows = page.locator("tr[data-letter]").count()
            kinds = [one["kind"] for one in instance.dead_letters()]
            self.assertEqual(rows, kinds.count(shown) if shown else len(kinds), link)

    def test_a_gap_in_what_came_is_a_gap_in_the_chart(self):
        """While nothing was counted, nothing is drawn: two lines, and no line from one to the other."""
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        lines = page.evaluate("""async () => {
            const {throughput, throughputTable} = await import('./chart.js');
            const sample = (time) => ({time, received: time * 10, rejected: 0});
            const samples = [...Array(20).keys(), ...Array.from({length: 20}, (_, place) => 60 + place)].map(sample);
            const path = throughput(samples, 80).querySelector('.line').getAttribute('d');
            return [path.match(/M/g).length, throughputTable(samples).querySelectorAll('tbody tr').length];
        }""")
        self.assertEqual(lines, [2, 4])

    @slow
    def test_the_chart_has_a_table_behind_it(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        page.click("summary:has-text('Show as a table')")
        page.wait_for_selector('[data-part="flow"] tbody tr')
        self.assertIn("Readings per second", page.locator("svg.chart").get_attribute("aria-label"))

    # Dead letters

    def test_masked_until_revealed(self):
        page = self.logged_in(self.instance, "operate", "letters")
        page.wait_for_selector("tr[data-letter]")
        letter = next(one for one in self.instance.dead_letters() if one["reason"] not in ("invalidJSON", "clockAhead"))
        page.click(f'tr[data-letter="{letter["number"]}"] button')
        page.wait_for_selector("aside h2")
        self.assertNotIn(SECRET, page.content())
        lines = self.instance.log.count("has revealed")
        page.click("text=Reveal content")
        page.wait_for_selector('[data-part="text"]')
        page.click("summary:has-text('Hexadecimal')")
        self.assertRegex(page.locator('[data-part="hex"]').inner_text(), r"^000000  [0-9a-f]{2} ")
        self.assertEqual(self.instance.log.count("has revealed"), lines + 1)
        self.assertIn(f"letter={letter['number']}", page.url)
        page.reload()
        page.wait_for_selector("aside h2:has-text('Letter')")
        self.assertEqual(page.locator('[data-part="text"]').count(), 0, "revealed once is not revealed for ever")

    def test_discard_asks_and_discards(self):
        self.instance.send("to be discarded")
        number = wait_until(lambda: [one for one in self.instance.dead_letters()][-1]["number"])
        page = self.logged_in(self.instance, "operate", f"letters?letter={number}")
        page.wait_for_selector("aside button.danger")
        page.click("aside button.danger")
        page.click("dialog button:has-text('Cancel')")
        self.assertIn(number, [one["number"] for one in self.instance.dead_letters()])
        page.click("aside button.danger")
        page.click("dialog button.strong")
        page.wait_for_selector("text=discarded 1 dead letter")
        self.assertNotIn(number, [one["number"] for one in self.instance.dead_letters()])
        self.assertIn("discards dead letter", self.instance.log)

    def test_replay_by_the_code_of_the_command(self):
        page = self.logged_in(self.instance, "operate", "letters?reason=invalidJSON")
        page.wait_for_selector("tr[data-letter]")
        page.locator("tr[data-letter] input").first.check()
        page.click("button:has-text('Replay 1')")
        page.click("dialog button.strong")
        page.wait_for_selector("text=replayed 0 payloads")
        page.wait_for_selector("text=rejected again: invalidJSON")

    def test_hostile_content_is_only_text(self):
        attack = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
        payloads = [attack, "\u202egnp.exe\u202c " + attack, "a" * 4096, json.dumps({"deviceId": attack, attack: 1})]
        before = len(self.instance.dead_letters())
        self.instance.send(*payloads)
        wait_until(lambda: len(self.instance.dead_letters()) >= before + 4, what="4 letters")
        numbers = [one["number"] for one in self.instance.dead_letters()[-4:]]
        page = self.logged_in(self.instance, "operate", "letters")
        for number in numbers:
            self.go(page, f"letters?letter={number}")
            page.wait_for_selector(f"aside h2:has-text('Letter {number}')")
            page.click("text=Reveal content")
            page.wait_for_selector("[data-part='text'], [data-part='hex']", state="attached")
            self.assertEqual(page.locator("main script, main img").count(), 0)
            self.assertNotEqual(page.title(), "owned")
            self.assertEqual(page.evaluate("document.documentElement.scrollWidth > innerWidth"), False, "no overflow")
        self.go(page, f"letters?letter={numbers[1]}")
        page.click("text=Reveal content")
        page.wait_for_selector("[data-part='text']")
        self.assertIn("⟨U+202E⟩", page.locator("[data-part='text']").inner_text())

    # Mappings

    @slow
    def test_mappings_and_their_examples(self):
        page = self.logged_in(self.instance, path="mappings")
        page.wait_for_selector('tr[data-name="reading"] .tag.good:has-text("in use")')
        page.wait_for_selector('tr[data-name="reading"] .tag:has-text("pass")')
        page.click('tr[data-name="reading"] button')
        page.wait_for_selector("aside >> text=heartRate")
        page.wait_for_selector("aside >> text=✓ passes")

    # Keyboard, accessibility

    @slow
    def test_keyboard_alone(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "main")
        page.focus('nav a[data-page="letters"]')
        page.keyboard.press("Enter")
        page.wait_for_selector("tr[data-letter]")
        page.locator("tr[data-letter] button").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("aside h2:has-text('Letter')")

    @slow
    def test_focus_outlives_an_update(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        page.focus('[data-part="balance"] a')
        page.wait_for_timeout(2200)
        self.assertEqual(page.evaluate("document.activeElement.dataset.key"), "rejected")

    def test_axe_finds_nothing(self):
        for scheme in ["light", "dark"] if RUNS_ALL else ["light"]:
            page = self.page(scheme=scheme)
            page.goto(self.instance.address + "/console/")
            page.wait_for_selector("#code")
            self.check_look(page, f"login {scheme}", 1440)
            for width in [1440, 390] if RUNS_ALL else [1440]:
                page = self.logged_in(self.instance, "operate", scheme=scheme, width=width)
                for name in PAGES:
                    self.go(page, name)
                    self.wait_state(page, "loaded", "partial")
                    if name != "overview":
                        page.locator("tbody button").first.click()
                        page.wait_for_selector("aside .card")
                    self.check_look(page, f"{name} {scheme} {width}", width)

    @slow
    def test_the_menu_of_a_small_screen_by_keys(self):
        page = self.logged_in(self.instance, width=390, height=844)
        self.wait_state(page, "loaded")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.className"), "menu")
        page.keyboard.press("Enter")
        self.assertTrue(page.locator("nav").is_visible())
        self.assertEqual(page.locator("button.menu").get_attribute("aria-expanded"), "true")
        page.keyboard.press("Escape")
        self.assertFalse(page.locator("nav").is_visible())
        page.keyboard.press("Enter")
        names = page.locator("nav [data-page]").evaluate_all("links => links.map((link) => link.dataset.page)")
        for name in names[:names.index("letters") + 1]:
            page.keyboard.press("Tab")
            self.assertEqual(page.evaluate("document.activeElement.dataset.page"), name)
        page.keyboard.press("Enter")
        page.wait_for_selector('section[data-page="letters"]')
        self.assertFalse(page.locator("nav").is_visible())

    @slow
    def test_questions_are_answered_by_keys(self):
        page = self.logged_in(self.instance, "operate", "letters?letter=1")
        page.wait_for_selector("aside button.danger")
        page.focus("aside button.danger")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open]")
        self.assertEqual(page.evaluate("document.activeElement.closest('dialog') !== null"), True)
        self.assertEqual(page.evaluate("document.activeElement.value"), "cancel", "the harmless answer comes first")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        self.assertIn(1, [one["number"] for one in self.instance.dead_letters()])
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")
        self.assertIn(1, [one["number"] for one in self.instance.dead_letters()])

    def test_nothing_moves_where_that_is_not_wanted(self):
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        page.route("**/console/api/letters/reasons", lambda route: None)
        self.go(page, "letters")
        page.wait_for_selector(".skeleton span")
        moving = "() => document.getAnimations().length"
        self.assertEqual(page.evaluate(moving), 0)
        page.emulate_media(reduced_motion="no-preference")
        self.assertGreater(page.evaluate(moving), 0)

    @slow
    def test_small_screens_have_a_menu_and_no_overflow(self):
        page = self.logged_in(self.instance, width=390, height=844)
        self.assertFalse(page.locator("nav").is_visible())
        for name in PAGES:
            page.click("button.menu")
            page.click(f'nav a[data-page="{name}"]')
            self.wait_state(page, "loaded", "partial")
            self.assertFalse(page.locator("nav").is_visible())
            self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390, name)


class StateTests(ConsoleTestCase):
    def test_empty_store(self):
        instance = self.start()
        page = self.logged_in(instance)
        self.wait_state(page, "loaded")
        verdict = page.locator('[data-part="verdict"]')
        self.assertIn("0 of 1 source have received", verdict.inner_text())
        self.assertIn("has received nothing yet", verdict.inner_text())
        self.assertNotIn("All is well", verdict.inner_text())
        self.go(page, "letters")
        self.wait_state(page, "empty")
        self.go(page, "overview")
        instance.send(reading("watch-1"))
        page.wait_for_selector("text=All is well")
        self.assertIn("1 source has received", verdict.inner_text())
        instance.send("no json")
        wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
        self.go(page, "letters?letter=1")
        page.click("aside button.danger")
        page.click("dialog button.strong")
        self.wait_state(page, "empty")
        said = page.locator("main .view").inner_text()
        self.assertIn("No dead letters are kept", said)
        self.assertIn("discarded 1 dead letter", said)

    def test_server_gone_is_stale_and_comes_back_by_itself(self):
        admin = f"127.0.0.1:{free_port(socket.SOCK_STREAM)}"
        instance = self.start(admin=admin)
        self.expects_errors = True
        page = self.logged_in(instance)
        self.wait_state(page, "loaded")
        instance.kill()
        self.wait_state(page, "stale")
        self.assertIn("No answer since", page.locator("main .notice").inner_text())
        self.assertEqual(page.locator('[data-part="balance"]').count(), 1, "the last data stays")
        self.go(page, "letters")
        self.wait_state(page, "error")
        page.click("text=Overview")
        # Sessions are in the memory of the instance that has ended.
        self.start(directory=instance.directory, admin=admin)
        page.wait_for_selector("#code")
        self.assertIn("your session has ended", page.locator("#login-message").inner_text())

    def test_logged_out_elsewhere_is_a_login_and_not_a_dead_instance(self):
        instance = self.start()
        page = self.logged_in(instance)
        self.wait_state(page, "loaded")
        other = page.context.new_page()
        other.goto(instance.address + "/console/")
        other.click("text=Log out")
        page.wait_for_selector("#code")
        self.assertIn("your session has ended", page.locator("#login-message").inner_text())

    def test_the_overview_changes_in_place(self):
        instance = self.start()
        instance.send("no json", reading("watch-1"))
        page = self.logged_in(instance)
        link = '[data-part="balance"] a'
        page.wait_for_selector(link)
        page.evaluate("selector => { window.kept = document.querySelector(selector); kept.focus(); }", link)
        text = page.locator('[data-part="store"] h2')
        text.evaluate("node => getSelection().selectAllChildren(node)")
        seen = page.evaluate("document.querySelector('.pulse').textContent")
        instance.send("no json either")
        wait_until(lambda: page.locator(link).inner_text() == "2", what="the second rejection")
        page.wait_for_function("seen => document.querySelector('.pulse').textContent !== seen", arg=seen)
        self.assertTrue(page.evaluate("selector => document.querySelector(selector) === kept", link))
        self.assertTrue(page.evaluate("document.activeElement === kept"))
        self.assertEqual(page.evaluate("getSelection().toString()"), "Store")
        # A press that lasts longer than a second is a click all the same.
        box = page.locator(link).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.wait_for_timeout(1200)
        page.mouse.up()
        page.wait_for_selector('section[data-page="letters"]')

    def test_the_letter_that_was_chosen_last_is_shown(self):
        instance = self.start()
        instance.send("no json", "no json either")
        wait_until(lambda: len(instance.dead_letters()) == 2, what="2 letters")
        page = self.logged_in(instance, "operate", "letters?letter=1")
        page.wait_for_selector("aside h2:has-text('Letter 1')")
        waiting = []
        page.route("**/letters/1/reveal", lambda route: waiting.append(route))
        page.click("text=Reveal content")
        wait_until(lambda: page.wait_for_timeout(50) or waiting, what="the reveal of letter 1")
        page.click('tr[data-letter="2"] button')
        page.wait_for_selector("aside h2:has-text('Letter 2')")
        with contextlib.suppress(Exception):
            waiting[0].continue_()
        page.wait_for_timeout(500)
        self.assertEqual(page.locator("aside h2").first.inner_text(), "Letter 2")
        self.assertEqual(page.locator('[data-part="text"]').count(), 0)

    def test_a_replay_is_told_though_the_list_cannot_be_loaded(self):
        instance = self.start()
        instance.send("no json")
        wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
        self.expects_errors = True
        page = self.logged_in(instance, "operate", "letters?letter=1")
        page.wait_for_selector("aside h2:has-text('Letter 1')")
        page.route("**/letters/reasons", lambda route: route.abort())
        page.click("aside button.strong:has-text('Replay')")
        page.click("dialog button.strong")
        page.wait_for_selector("text=replayed 0 payloads")
        page.wait_for_selector("text=The list below is from before that")

    def test_a_letter_is_replayed_once_its_mapping_is_mended(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="kymo-mapping-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        device, right = misspelt_mapping(folder)
        instance = self.start("--mapping", f"{folder}/")
        instance.send(reading("watch-1"))
        wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
        page = self.logged_in(instance, "operate", "letters?letter=1")
        device.write_text(right)
        wait_until(lambda: "loaded" in instance.log.split("keeping data")[1], what="the mended mapping")
        page.click("aside button.strong:has-text('Replay')")
        page.click("dialog button.strong")
        page.wait_for_selector("text=replayed 1 payload")
        self.wait_state(page, "empty", "loaded")
        self.assertEqual(instance.dead_letters(), [])
        self.go(page, "overview")
        wait_until(lambda: page.locator('[data-part="balance"] .accepted dd').inner_text() == "1", 10, "1 accepted")

    @slow
    def test_100_000_letters(self):
        folder = tempfile.mkdtemp(prefix="kymo-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        instance = self.start("--unix", f"{folder}/s")
        with socket.socket(socket.AF_UNIX) as sender:
            sender.connect(f"{folder}/s")
            sender.sendall(b"".join(b"no json %d\n" % number for number in range(100_000)))
        reasons = lambda: instance.kymo("dead", "reasons").stdout
        wait_until(lambda: re.search(r"invalidJSON +payload +100000", reasons()), 120, "100,000 letters")
        page = self.logged_in(instance, path="letters")
        self.wait_state(page, "partial")
        self.assertIn("100 of 100,000", page.locator("main .notice").first.inner_text())
        page.click("text=Show 100 more")
        page.wait_for_selector("text=200 of 100,000")

    @slow
    def test_partial(self):
        instance = self.start()
        instance.send(*[f"no json {number}" for number in range(150)])
        wait_until(lambda: len(instance.dead_letters()) == 150, what="150 letters")
        page = self.logged_in(instance, path="letters")
        self.wait_state(page, "partial")
        self.assertEqual(page.locator("tr[data-letter]").count(), 100)
        page.click("text=Show 100 more")
        self.wait_state(page, "loaded")
        self.assertEqual(page.locator("tr[data-letter]").count(), 150)

    def test_loading_and_error(self):
        instance = self.start()
        self.expects_errors = True
        page = self.logged_in(instance)
        held = []
        page.route("**/api/letters/reasons", lambda route: held.append(route))
        self.go(page, "letters")
        self.wait_state(page, "loading")
        wait_until(lambda: (page.wait_for_timeout(50), held)[1], what="a request")
        held[0].fulfill(status=503, content_type="application/json", body='{"error":"unreadable","message":"no disk"}')
        self.wait_state(page, "error")
        self.assertIn("no disk", page.locator("main").inner_text())
        page.unroute("**/api/letters/reasons")
        page.click("text=Try again")
        self.wait_state(page, "empty")

    @slow
    def test_first_paint(self):
        instance = self.start()
        page = self.page()
        page.goto(instance.login()[0])
        self.wait_state(page, "loaded")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        # 300 ms are promised of a quiet machine.
        self.assertLess(paint, 900)


if __name__ == "__main__":
    unittest.main()
