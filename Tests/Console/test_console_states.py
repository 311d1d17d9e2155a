"""Each page in each of its states: forced where it is rare, measured by axe and by the screen's width, and kept as a picture.

KYMO_CONSOLE_SHOTS=FOLDER writes the pictures there, to be looked at.
"""

import contextlib
import os
import pathlib
import unittest

from console_testing import RUNS_ALL, ConsoleTestCase, Instance, reading, wait_until, wall_names, wall_second

SHOTS = os.environ.get("KYMO_CONSOLE_SHOTS")
#: A page, and the path of the API that it waits for first.
FIRST = {"overview": "live", "live": "wall", "timeline": "subjects", "ledger": "subjects", "letters": "letters/reasons",
         "playground": "mappings", "mappings": "mappings"}
#: Looks at a page with data that take longer than `make test` has time for.
MORE_LOOKS = [(390, "light"), (1440, "dark")]
#: Letters of which no limit cuts any.
FEW = "letters?reason=clockAhead"
#: What a page without anything gets.
NOTHING = {"live": {"slices": []}, "timeline": {"subjects": []}, "ledger": {"subjects": []}, "letters": [], "mappings": []}


def cut(page, answer):
    """An answer of which a limit has cut a part."""
    if page == "timeline":
        return answer | {"partial": ["series"]}
    return answer | {"isPartial": True}


def second(count):
    """What the page of what is sent gets of a second in which `count` series have sent."""
    readings = [(number, 1_780_000_000_000, 60 + number) for number in range(count)]
    return {"slices": [wall_second(1, 1_780_000_000, readings)]}


class StatesTests(ConsoleTestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance("--idle", "2s", "--lateness", "1s")
        # A reading every second over ten minutes; a hundred are missing.
        seconds = [second for second in range(600) if not 200 <= second < 300]
        cls.instance.send(*[reading("watch-1", 60 + second % 30, second - 700, patientId="p-1") for second in seconds])
        cls.instance.send(*[reading("a-strap-with-a-long-name-" + "7" * 60, 70, -300 - second) for second in range(9)])
        cls.instance.send(*[f"no json {number}" for number in range(130)], reading("watch-1", offset=86400))
        wait_until(lambda: len(cls.instance.dead_letters()) == 131, what="letters")
        wait_until(lambda: cls.instance.kymo("query", "--count").returncode == 0, 40, "closed windows")

    @classmethod
    def tearDownClass(cls):
        cls.instance.kill()

    # What is asked of each

    def check(self, page, name, state, looks=((390, "light"), (1440, "light"))):
        """Looks at a state as wide and as narrow screens show it."""
        for width, scheme in looks:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": 900})
            self.keep(page, f"{name}-{state}", width, scheme)
            self.check_look(page, f"{name}, {state}, {width}, {scheme}", width)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")

    def check_state(self, page, name, state):
        self.wait_state(page, state)
        self.check(page, name, state)

    def keep(self, page, name, width, scheme="light"):
        if SHOTS:
            pathlib.Path(SHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=width < 1000)

    def opened(self, page, name, choosing=True):
        """Goes to a page that has all of what it shows."""
        if name == "live":
            page.route("**/console/api/wall*", lambda route: route.fulfill(json=second(40)))
            page.route("**/console/api/wall/names*", lambda route: route.fulfill(json=wall_names(
                (number, {"type": "heartRate", "device": f"masked-{number}", "unit": "/min"}) for number in range(1_001))))
        self.go(page, name)
        if name in ("timeline", "ledger") and choosing:
            page.wait_for_selector("#find")
            page.fill("#find", "watch-1")
            page.keyboard.press("Enter")
            page.wait_for_selector(".buckets, .hours")
        if name == "playground":
            page.wait_for_selector("text=1 reading, 0 rejected")
        if name == "mappings":
            page.wait_for_function("() => /mappings; .* pass/.test(document.querySelector('main').innerText)")

    @contextlib.contextmanager
    def answering(self, page, path, handler):
        pattern = f"**/console/api/{path}"
        page.route(pattern, handler)
        page.route(pattern + "?*", handler)
        yield
        page.unroute(pattern)
        page.unroute(pattern + "?*")

    def loaded(self):
        """A page that is logged in, on the overview."""
        page = self.logged_in(self.instance)
        self.wait_state(page, "loaded")
        return page

    # States

    def test_loaded(self):
        page = self.loaded()
        for name in FIRST:
            self.opened(page, FEW if name == "letters" else name)
            self.wait_state(page, "loaded")
            # Both widths and both schemes are among the first two.
            self.check(page, name, "loaded", [(390, "dark"), (1440, "light")] + (MORE_LOOKS if RUNS_ALL else []))

    def test_loaded_with_something_chosen(self):
        page = self.loaded()
        for name, thing in [("timeline", ".buckets svg"), ("ledger", ".hours button:not(.none)"),
                            ("letters", "tr[data-letter] button"), ("mappings", "tr[data-name] button")]:
            self.opened(page, FEW if name == "letters" else name)
            target = page.locator(thing).first
            target.wait_for()
            if name == "timeline":
                target.focus()
                page.keyboard.press("End")
                for _ in range(200):
                    if "accepted" in (said := target.get_attribute("aria-valuetext")) and ": 0 " not in said:
                        break
                    page.keyboard.press("ArrowLeft")
                page.keyboard.press("Enter")
                page.locator("aside [data-key^='window']").first.click()
                page.wait_for_selector("aside pre")
            else:
                target.click()
            page.wait_for_selector("aside .card")
            self.check(page, name, "chosen")

    def test_initial(self):
        page = self.logged_in(self.instance)
        for name in ["timeline", "ledger"]:
            self.go(page, name)
            self.check_state(page, name, "initial")

    def test_loading(self):
        page = self.logged_in(self.instance)
        waiting = []
        hold = lambda route: waiting.append(route)
        # Each is ended at last: Playwright complains of those that are not.
        self.addCleanup(lambda: [route.abort() for route in waiting])
        for name in FIRST:
            if name == "overview":
                # Its data comes by the stream alone.
                page.route("**/console/api/live", hold)
                page.reload()
                page.wait_for_selector('section[data-page="overview"]')
                self.check_state(page, name, "loading")
                continue
            with self.answering(page, FIRST[name], hold):
                self.go(page, name)
                self.check_state(page, name, "loading")
                self.assertEqual(page.locator("main > section").get_attribute("aria-busy"), "true")

    def test_error(self):
        self.expects_errors = True
        refuse = lambda route: route.fulfill(
            status=503, content_type="application/json", body='{"error":"unreadable","message":"The store cannot be read: disk I/O error."}')
        page = self.logged_in(self.instance)
        for name in FIRST:
            if name == "overview":
                page.route("**/console/api/live", lambda route: route.abort())
                # It gives the instance five seconds.
                page.clock.install()
                page.reload()
                page.wait_for_selector('section[data-page="overview"]')
                page.clock.fast_forward(6_000)
                self.check_state(page, name, "error")
                page.unroute("**/console/api/live")
                continue
            with self.answering(page, FIRST[name], refuse):
                self.go(page, name)
                self.check_state(page, name, "error")
            # What failed can be tried again.
            page.click("text=Try again")
            self.wait_state(page, "initial", "loaded", "partial", "empty")

    def test_empty(self):
        page = self.logged_in(self.instance)
        for name, nothing in NOTHING.items():
            with self.answering(page, FIRST[name], lambda route: route.fulfill(json=nothing)):
                self.go(page, name)
                self.check_state(page, name, "empty")

    def test_partial(self):
        page = self.logged_in(self.instance)
        for name, path in [("timeline", "timeline"), ("ledger", "hours")]:
            def part(route):
                route.fulfill(json=cut(name, route.fetch().json()))
            with self.answering(page, path, part):
                self.opened(page, name)
                self.check_state(page, name, "partial")
        self.go(page, "letters")
        self.check_state(page, "letters", "partial")
        self.opened(page, "live")
        with self.answering(page, "wall", lambda route: route.fulfill(json=second(1_001))):
            self.check_state(page, "live", "partial")

    def test_stale(self):
        """The last data stays on each page, and the page says since when nothing answers."""
        self.expects_errors = True
        instance = self.start("--idle", "2s", "--lateness", "1s")
        instance.send(*[reading("watch-1", 60, -second) for second in range(30)], "no json")
        wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
        pages = []
        for name in FIRST:
            page = self.logged_in(instance)
            self.opened(page, name)
            self.wait_state(page, "loaded")
            pages.append((name, page))
        # Nothing was answered yet, and nothing will be.
        waiting = self.logged_in(instance)
        waiting.route("**/console/api/letters/reasons", lambda route: None)
        self.go(waiting, "letters")
        texts = {name: page.locator("main .content").first.inner_text() for name, page in pages}
        # What stands for the instance on this page ends with it.
        dict(pages)["live"].route("**/console/api/wall*", lambda route: route.abort())
        instance.kill()
        for name, page in pages:
            self.wait_state(page, "stale")
            self.assertRegex(page.locator("main .notice").first.inner_text(), r"No answer since \d\d:\d\d:\d\d UTC")
            if name != "overview":
                self.assertEqual(page.locator("main .content").first.inner_text(), texts[name], f"{name}: the last data stays")
            self.check(page, name, "stale")
        self.assertEqual(self.state(waiting), "loading")

    def unanswered(self, name, state):
        """A page in this state to which nothing has been told for ten seconds."""
        page = self.logged_in(self.instance, path=name)
        self.wait_state(page, state)
        page.wait_for_selector(".pulse:not(.waiting)")
        page.evaluate("import('./live.js').then(({disconnect}) => disconnect())")
        page.clock.install()
        page.clock.fast_forward(10_000)
        self.wait_state(page, "stale")
        return page

    def test_answers_that_come_again_are_no_longer_stale(self):
        page = self.unanswered("mappings", "loaded")
        page.evaluate("import('./live.js').then(({connect}) => connect())")
        self.wait_state(page, "loaded")
        self.assertEqual(page.locator("main .notice").first.inner_text(), "")

    def test_part_of_an_answer_is_still_a_part_when_it_is_stale(self):
        page = self.unanswered("letters", "partial")
        said = page.locator("main .notice").first.inner_text()
        self.assertIn("No answer since", said)
        self.assertIn("100 of 131 letters are shown", said)
        self.assertEqual(page.locator("text=Show 100 more").count(), 1)


if __name__ == "__main__":
    unittest.main()
