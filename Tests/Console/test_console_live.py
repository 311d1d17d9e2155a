"""What each series sends, as it comes, in a real browser."""

import itertools
import json
import re
import threading
import time
import unittest

from console_testing import (ConsoleTestCase, Instance, Wire, numbers_of, reading, readings_of, slow, totals, wait_until,
                             wall_names, wall_second)

DEVICES = 30
#: Whether something is drawn in a canvas besides its ground.
DRAWN = """() => {
    const canvas = document.querySelector('.wall canvas');
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return pixels.some((pixel) => pixel !== pixels[0]);
}"""


START = 1_780_000_000


def answer(first, count, second):
    """What a page gets of a second in which `count` series have sent."""
    return piece(second, [(number, (START + second) * 1000, 60 + number % 40) for number in range(first, first + count)])


def piece(second, readings, **others):
    """What a page gets of a second in which these came: number, milliseconds, value."""
    return {"slices": [wall_second(second, START + second, readings, **others)]}


def wall_piece(identifier, second):
    """A later look of the same second, in which nothing came."""
    return {"slices": [wall_second(identifier, START + second, [])]}


def asked(route):
    """The series whose names are asked for."""
    return map(int, route.request.url.split("of=")[1].replace("%2C", ",").split(","))


#: Series by their numbers: of names that could be taken for something else, two of which only look the same.
NAMED = {
    1: {"type": "heartRate", "device": "masked-1", "unit": "/min"},
    2: {"type": "heartRate", "device": "masked-2", "unit": "/min"},
    3: {"type": '"}],<img src="x">', "device": "masked-\u202e<b>", "unit": "<b>\\n</b>"},
    4: {"type": "caf\u00e9", "device": "masked-4", "unit": "1"},
    7: {"type": "cafe\u0301", "device": "masked-7", "unit": "mm[Hg]"},
    8: {"type": "heartRate", "device": "masked-8"},
    9: {"type": "heartRate", "device": "masked-9", "unit": "\u00b5V"},
    500: {"type": "constructor", "device": "__proto__", "unit": "length"},
    4_000: {"type": "heartRate", "device": "masked-8", "unit": "/min"},
}
#: Seconds of ``minute``: as many as are kept.
SECONDS = 60


def sent(second):
    """What each series sends in a second: milliseconds since 1970, and value."""
    now = (START + second) * 1000
    if second == 1:
        # What was in open windows: of a series that sends no more, and of one that will.
        return {1: (now - 7_200_123, 41), 500: (now - 86_400_000, -0.25)}
    readings = {1: (now + second % 7, 60.5 + second), 8: (now, None)}
    if second >= 20:
        readings[2] = (now - 999, second)
    if second <= 30:
        readings[3] = (now, -second)
    if second % 5 == 0:
        readings[7] = (now, 1e21 if second % 2 else 0)
    # A clock that is ahead at first, and then two readings of which the later one says something else.
    readings[9] = (now + 70_000, 99) if second < 10 else (now, 30 + second / 8)
    if second * second % 7 < 3:
        readings[4] = (now - second * 86_400_000, second)
        # By the clock of the one before it in the list.
        readings[4_000] = (readings[9][0] - 500, second)
    return readings


def minute():
    """A minute of these, second by second."""
    return [piece(second, [(number, *one) for number, one in sorted(sent(second).items())],
                  **({"isBeginning": True} if second == 1 else {})) for second in range(1, SECONDS + 1)]


def what_is_shown():
    """The table behind the wall at the end of ``minute``: device, type, value, unit, and when it last came."""
    values, last = {}, {}
    for second in range(1, SECONDS + 1):
        for number, (at, value) in sent(second).items():
            if at >= values.get(number, (at, None))[0]:
                values[number] = (at, value)
            last[number] = f"{SECONDS - second} s ago" if second > 1 else "before"
    def text(value):
        return "–" if value is None else f"{value:g}" if abs(value) < 1e6 else str(value)
    def unit(number):
        return {None: "", "1": ""}.get(NAMED[number].get("unit"), NAMED[number].get("unit"))
    def device(number):
        return NAMED[number]["device"].replace("\u202e", "⟨U+202E⟩")
    return [[device(number), NAMED[number]["type"], text(values[number][1]), unit(number), last[number]] for number in sorted(values)]


class LiveTests(ConsoleTestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance()
        cls.devices = DEVICES
        cls.ended = threading.Event()
        cls.sender = threading.Thread(target=cls.send, daemon=True)
        cls.sender.start()

    @classmethod
    def tearDownClass(cls):
        cls.ended.set()
        cls.sender.join()
        cls.instance.kill()

    @classmethod
    def send(cls):
        """Sends a reading of each device each second."""
        while not cls.ended.wait(max(0, 1 - time.time() % 1)):
            cls.instance.send(*[reading(f"bed-{number}", 60 + number) for number in range(cls.devices)])

    def summary(self, page):
        return page.locator("main .content p").first.inner_text()

    def texts(self, page):
        """What is said of each series, by the arrow keys."""
        canvas = page.locator("canvas")
        page.keyboard.press("Home")
        texts = []
        for number in range(DEVICES):
            self.assertEqual(canvas.get_attribute("aria-valuenow"), str(number))
            texts.append(canvas.get_attribute("aria-valuetext"))
            page.keyboard.press("ArrowRight")
        return texts

    def answering(self, page, answers, **names):
        """A page whose second after second is what `answers` gives; `names` is what is told of each series besides."""
        page.route("**/console/api/wall*", lambda route: route.fulfill(json=answers()))
        page.route("**/console/api/wall/names*", lambda route: route.fulfill(json=wall_names(
            (number, {"type": "heartRate", "device": f"masked-{number}", **names}) for number in asked(route))))

    def test_what_comes_is_drawn_and_leads_to_its_timeline(self):
        page = self.logged_in(self.instance, path="live")
        self.wait_state(page, "loaded")
        wait_until(lambda: self.summary(page).startswith(f"{DEVICES} series"), what=f"{DEVICES} series")
        self.assertTrue(page.evaluate(DRAWN))
        self.assertNotIn("bed-", page.content())
        canvas = page.locator("canvas")
        canvas.focus()
        texts = self.texts(page)
        self.assertTrue(all(text.startswith("masked-") for text in texts), texts)
        self.assertEqual(sorted(text.split(" heartRate: ")[1] for text in texts),
                         [f"{60 + number} /min" for number in range(DEVICES)])
        page.locator("summary").press("Enter")
        # A browser says a moment later that something was opened.
        wait_until(lambda: page.locator("tbody tr").count() == DEVICES, what="a table")
        self.assertEqual(page.locator("tbody tr td:nth-child(4)").all_inner_texts(), ["/min"] * DEVICES)
        canvas.press("Enter")
        page.wait_for_selector('section[data-page="timeline"] .buckets')

    @slow
    def test_one_that_stops_is_told(self):
        page = self.logged_in(self.instance, path="live")
        wait_until(lambda: self.summary(page).endswith("all send as usual"), what="a rhythm")
        page.wait_for_timeout(3_500)
        type(self).devices = DEVICES - 2
        self.addCleanup(setattr, type(self), "devices", DEVICES)
        wait_until(lambda: self.summary(page).endswith("2 have stopped"), what="silence")
        page.click("text=Show the next that has stopped")
        self.assertIn(": nothing for ", page.locator("canvas").get_attribute("aria-valuetext"))
        page.focus("canvas")
        self.assertEqual(len([text for text in self.texts(page) if ": nothing for " in text]), 2)
        type(self).devices = DEVICES
        wait_until(lambda: self.summary(page).endswith("all send as usual"), what="readings")
        self.assertEqual(page.locator("text=Show the next that has stopped").count(), 1)
        self.assertFalse(page.locator("text=Show the next that has stopped").is_visible())

    def test_nothing_is_sent_and_then_a_zero_and_what_is_rejected(self):
        instance = self.start()
        page = self.logged_in(instance, path="live")
        self.wait_state(page, "empty")
        instance.send(reading("watch-1", 0))
        self.wait_state(page, "loaded")
        self.assertFalse(page.locator("text=not taken").is_visible())
        page.focus("canvas")
        page.keyboard.press("Home")
        self.assertTrue(page.locator("canvas").get_attribute("aria-valuetext").endswith(" heartRate: 0 /min"))
        instance.send("no json", "nor this")
        page.click("text=2 readings of the last minute were not taken")
        page.wait_for_selector('section[data-page="letters"]')

    def test_what_came_before_says_nothing_of_who_sends(self):
        page = self.logged_in(self.instance)
        old = [(number, (START - 7_200) * 1000, 50 + number) for number in range(3)]
        # The first sends each second, the second a value of yesterday in each, and the third nothing; then all is told again.
        seconds = [piece(1, old, isBeginning=True)] + [piece(second, [
            (0, (START + second) * 1000, 70), (1, (START - 86_400 + second) * 1000, 99)]) for second in range(2, 6)]
        told = iter(seconds)
        self.answering(page, lambda: next(told, {"slices": []}))
        self.go(page, "live")
        wait_until(lambda: self.summary(page).endswith("; 3 are not known yet"), what="the beginning")
        wait_until(lambda: self.summary(page).endswith("; 1 is not known yet"), what="a rhythm")
        canvas = page.locator("canvas")
        canvas.focus()
        page.keyboard.press("Home")
        wait_until(lambda: canvas.get_attribute("aria-valuetext").endswith(": 70"), what="what came")
        page.keyboard.press("ArrowRight")
        self.assertTrue(canvas.get_attribute("aria-valuetext").endswith(": 51"))
        told = iter([piece(60, old, isBeginning=True)])
        wait_until(lambda: self.summary(page).endswith("; 3 are not known yet"), what="the beginning again")
        # A number that nothing has renewed says how old it is.
        self.assertTrue(canvas.get_attribute("aria-valuetext").endswith(": 51, of 2 h ago"))

    def shown(self, page, *slices, **names):
        """The page Live, which has got these seconds; what it says of the first series."""
        told = iter([{"slices": [one for part in slices for one in part["slices"]]}])
        last = slices[-1]["slices"][-1]["id"]
        beyond = iter(range(last + 1, 1_000))
        self.answering(page, lambda: next(told, None) or piece(next(beyond), []), **names)
        self.go(page, "live")
        self.wait_state(page, "loaded")
        page.focus("canvas")
        page.keyboard.press("Home")
        return page.locator("canvas").get_attribute("aria-valuetext")

    def test_a_number_that_is_kept_by_a_clock_that_was_ahead_is_told(self):
        page = self.logged_in(self.instance)
        ahead = [piece(second, [(0, (START + 300) * 1000, 70)]) for second in range(1, 4)]
        behind = [piece(second, [(0, (START + second) * 1000, 30)]) for second in range(4, 12)]
        self.assertTrue(self.shown(page, *ahead, *behind).endswith(": 70, what comes is of earlier times"))
        self.assertIn("1 sends readings of earlier times", self.summary(page))

    def test_one_without_a_number_is_told(self):
        page = self.logged_in(self.instance)
        said = self.shown(page, *[piece(second, [(0, (START + second) * 1000, 70 if second < 5 else None),
                                                 (1, (START + second) * 1000, 0)]) for second in range(1, 7)])
        self.assertTrue(said.endswith(": no number"), said)
        self.assertTrue(self.summary(page).endswith("; ◌ 1 sends no number"), self.summary(page))
        page.keyboard.press("End")
        self.assertTrue(page.locator("canvas").get_attribute("aria-valuetext").endswith(": 0"))

    #: What is drawn at the right end of a cell, of which only bold text is a value.
    WORDS = """() => {
        window.words = [];
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
            if (this.font.includes('600')) window.words.push(text);
            draw.call(this, text, ...place);
        };
    }"""

    def test_a_value_has_its_unit_as_a_text(self):
        for unit, cell, text in [("mm[Hg]", "70 mm[Hg]", "70 mm[Hg]"), ("1", "70", "70"),
                                 ("<b>\u202e</b>", "70 <b>⟨U+202…", "70 <b>⟨U+202E⟩</b>")]:
            with self.subTest(unit):
                page = self.logged_in(self.instance)
                page.evaluate(self.WORDS)
                said = self.shown(page, *[piece(second, [(0, (START + second) * 1000, 70)]) for second in range(1, 7)], unit=unit)
                self.assertTrue(said.endswith(f" heartRate: {text}"), said)
                wait_until(lambda: cell in page.evaluate("window.words"), what=f"{cell} in its cell")
                page.locator("summary").press("Enter")
                wait_until(lambda: page.locator("tbody tr").count() == 1, what="a table")
                self.assertEqual(page.locator("tbody td").all_inner_texts()[1:4], ["heartRate", "70", text[3:]])
                self.assertEqual(page.locator("tbody b").count(), 0)
                page.context.close()

    def test_one_without_a_number_has_no_unit(self):
        page = self.logged_in(self.instance)
        said = self.shown(page, *[piece(second, [(0, (START + second) * 1000, None)]) for second in range(1, 7)], unit="mV")
        self.assertTrue(said.endswith(" heartRate: no number"), said)

    def test_a_minute_that_comes_in_parts_is_shown_as_one(self):
        page = self.logged_in(self.instance)
        parts = [{**piece(second, [(0, (START + second) * 1000, 60 + second)]), "isMore": second < 20} for second in range(1, 21)]
        after = []

        def part(route):
            after.append(route.request.url.split("after=")[1] if "after=" in route.request.url else None)
            route.fulfill(json=parts.pop(0) if parts else {"slices": []})
        self.answering(page, dict)
        page.route(re.compile(r"/console/api/wall(\?|$)"), part)
        self.go(page, "live")
        self.wait_state(page, "loaded")
        # All parts came before anything was shown.
        self.assertGreaterEqual(len(after), 20)
        self.assertEqual(after[:20], [None, *map(str, range(1, 20))])
        page.focus("canvas")
        page.keyboard.press("Home")
        self.assertTrue(page.locator("canvas").get_attribute("aria-valuetext").endswith(": 80"))

    def wall(self, parts, *answers):
        """A page that has got all `parts`, a request each, and in between a few `answers` without one; what is seen of it."""
        page = self.logged_in(self.instance)
        (told, others), beyond, after = (iter(parts), dict(answers)), iter(range(1_001, 9_000)), []

        def part(route):
            after.append(route.request.url.split("after=")[1] if "after=" in route.request.url else None)
            if refused := others.pop(len(after), None):
                return route.fulfill(**refused)
            # Behind all of them come looks of the same second, so that nothing goes on.
            route.fulfill(json=next(told, None) or wall_piece(next(beyond), SECONDS))
        page.route(re.compile(r"/console/api/wall(\?|$)"), part)
        page.route("**/console/api/wall/names*", lambda route: route.fulfill(json=wall_names(
            (number, NAMED[number]) for number in asked(route))))
        self.go(page, "live")
        wait_until(lambda: page.wait_for_timeout(50) or after and int(after[-1] or 0) > 1_000, what="all seconds")
        self.wait_state(page, "loaded")
        page.locator("summary").press("Enter")
        wait_until(lambda: page.locator("tbody tr").count() == len(NAMED), what="a table")
        rows = page.evaluate("[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((one) => one.textContent))")
        page.focus("canvas")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        said = page.locator("canvas").get_attribute("aria-valuetext")
        # It is drawn in the next frame.
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen = rows, self.summary(page), said, page.evaluate("document.querySelector('.wall canvas').toDataURL()")
        page.context.close()
        return seen, after

    def test_what_is_shown_is_what_was_sent_to_whomever(self):
        """To one who sees each second, to one whose requests fail between them, and to one who comes after the minute."""
        seconds = minute()
        each, _ = self.wall([{**one, "isMore": True} for one in seconds[:-1]] + seconds[-1:])
        self.assertEqual(each[0], what_is_shown())
        self.assertIn("◔ 1 has stopped, ◷ 3 send readings of earlier times, ◌ 1 sends no number", each[1])
        self.assertEqual(each[2], "__proto__ constructor: -0.25 length, of 24 h ago")
        late, after = self.wall([{"slices": [one for part in seconds for one in part["slices"]]}])
        self.assertEqual(after[:2], [None, str(SECONDS)])
        self.assertEqual(late, each)
        refused = {"status": 503, "json": {"error": "busy", "message": "too many requests wait"}}
        # The first eight open the page.
        failed, after = self.wall([{**one, "isMore": place not in (7, SECONDS - 1)} for place, one in enumerate(seconds)],
                                  (9, refused), (10, refused))
        # It asks again for what it has not got, and for nothing else.
        self.assertEqual(after[7:11], ["7", "8", "8", "8"])
        self.assertEqual(failed, each)

    def test_a_page_begins_with_the_totals_of_the_minutes_before(self):
        """Each as it was, and none twice where the stream goes on."""
        added = {"id": [7, 1, 1], "milliseconds": [START * 1000 + 250, 1001, -5000], "received": [4_000_000_000, 0, 12],
                 "accepted": [3_999_999_000, 0, 11], "rejected": [1000, 0, 1], "late": [0, 3, 0]}
        later = {name: [sum(all) if name != "id" else 10] for name, all in added.items()}
        page = self.logged_in(self.instance, path="mappings")
        bodies = iter([added, later])

        def stream(route):
            told = next(bodies, {name: [] for name in added})
            route.fulfill(content_type="text/event-stream", body=f"retry: 50\nevent: history\ndata: {json.dumps(told)}\n\n")
        page.route("**/console/api/live", stream)
        page.reload()
        samples = "import('/console/live.js').then((module) => module.live.samples)"
        wait_until(lambda: len(page.evaluate(samples)) == 4, what="totals")
        self.assertEqual(page.evaluate(samples), totals(added) + totals(later))

    def test_a_second_that_is_not_whole_shows_nothing_of_it(self):
        """Catches: values that are taken for those of other series where one of them is missing."""
        page = self.logged_in(self.instance)

        def second(number, value):
            return wall_second(number, START + number, [(one, (START + number) * 1000, value + one) for one in [1, 2, 3]])
        whole = second(2, 90)
        cut = [whole | {"series": [1, 2]}, whole | {"times": whole["times"][1:]}, whole | {"values": whole["values"][1:]}]
        answers = itertools.chain([second(1, 60)], itertools.cycle(cut))
        self.answering(page, lambda: {"slices": [next(answers)]})
        self.go(page, "live")
        # None of the three was taken in five seconds.
        self.wait_state(page, "error")
        self.assertIn("not whole", page.locator("main .notice").first.inner_text())
        page.locator("summary").press("Enter")
        wait_until(lambda: page.locator("tbody tr").count() == 3, what="a table")
        self.assertEqual(page.locator("tbody td:nth-child(3)").all_inner_texts(), ["61", "62", "63"])

    def test_what_is_answered_is_what_came(self):
        """Each value with its time and its name, to one who asks after the first look, and to one who asks later."""
        instance, moment = self.start(), int(time.time()) - 20
        fields = instance.operator()

        def wall(after=""):
            return json.loads(instance.get(f"/console/api/wall?after={after}", fields)[2])["slices"]

        def send(values, offset):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment + offset))
            instance.send(*[reading(f"bed-{number}", value, timestamp=stamp) for number, value in enumerate(values)])

        first, second = [72, 0, 61.25, 1_200, 0.5], [73, 1, 62.75, 1_201]
        found = []

        def all_came(values, offset):
            found.extend(wall(found[-1]["id"] if found else ""))
            newest = {number: (at, value) for one in found for number, at, value in readings_of(one)}
            got = [value for at, value in newest.values() if at == (moment + offset) * 1000]
            return sorted(got) == sorted(values) and newest
        send(first, 1)
        newest = wait_until(lambda: all_came(first, 1), what="the first")
        numbers = {value: number for number, (_, value) in newest.items()}
        send(second, 2)
        newest = wait_until(lambda: all_came(second, 2), what="the second")
        # One stopped, and each of the others is the series that it was.
        expected = {numbers[former]: ((moment + 2) * 1000, value) for former, value in zip(first, second)}
        expected[numbers[0.5]] = ((moment + 1) * 1000, 0.5)
        self.assertEqual(newest, expected)
        late = wall()
        self.assertEqual(late[:len(found)], found)
        of = ",".join(map(str, sorted(newest)))
        kinds = json.loads(instance.get(f"/console/api/wall/names?of={of},99", fields)[2])["kinds"]
        self.assertEqual([(kind["type"], kind["unit"], numbers_of(kind["series"])) for kind in kinds],
                         [("heartRate", "/min", sorted(newest))])
        masks = kinds[0]["devices"]
        self.assertEqual(len(set(masks)), len(first))
        self.assertTrue(all(re.fullmatch(r"masked-[0-9a-f]{8}", mask) for mask in masks), masks)

    def test_the_page_is_small_with_a_reading_of_each_of_1_000_series(self):
        """Less than 120 KB over the wire; what a whole minute of them takes, `make bench-console` measures."""
        instance = self.start()
        instance.send(*[reading(f"watch-{number}", 60 + number % 40, -(number % 600)) for number in range(1_000)])
        page = self.logged_in(instance, path="live")
        wait_until(lambda: self.summary(page).startswith("1,000 series"), what="all series")
        tab = page.context.new_page()
        wire = Wire(tab)
        tab.goto(f"{instance.address}/console/#/live")
        self.wait_state(tab, "loaded", "partial")
        wait_until(lambda: tab.wait_for_timeout(50) or wire.has_snapshot, what="a snapshot")
        self.assertTrue(self.summary(tab).startswith("1,000 series"))
        self.assertGreater(wire.count, 60_000)
        self.assertLess(wire.count, 120_000)

    def test_a_long_silence_is_none_of_the_rhythm(self):
        page = self.logged_in(self.instance)
        # A minute each second, ten minutes nothing while another sends, three seconds, and nothing again.
        sends = [*range(1, 61), *range(661, 664)]
        self.shown(page, *[piece(second, [(number, (START + second) * 1000, 70) for number in [0, 1] if number or second in sends])
                           for second in range(1, 671)])
        self.assertIn("◔ 1 has stopped", self.summary(page))

    def test_where_counts_come_and_no_readings_can_be_read_nothing_looks_fresh(self):
        self.expects_errors = True
        page = self.logged_in(self.instance, path="live")
        wait_until(lambda: self.summary(page).endswith("all send as usual"), what="a rhythm")
        broken = threading.Event()
        broken.set()
        page.route("**/console/api/wall?*", lambda route: route.fulfill(
            status=503, json={"error": "unreadable", "message": "The store cannot be read: disk I/O error."})
            if broken.is_set() else route.fallback())
        self.wait_state(page, "error")
        notice = page.locator("main .notice").first.inner_text()
        self.assertIn("Nothing is known since ", notice)
        self.assertIn("disk I/O error", notice)
        self.assertRegex(self.summary(page), r"; nothing is known since \d\d:\d\d:\d\d UTC$")
        broken.clear()
        self.wait_state(page, "loaded")
        wait_until(lambda: "nothing is known" not in self.summary(page), what="an answer")

    def test_of_more_than_1_000_series_that_is_told_and_only_what_is_seen_is_drawn(self):
        page = self.logged_in(self.instance)
        seconds = iter(range(1, 1_000))
        self.answering(page, lambda: answer(0, 1_001, next(seconds)))
        self.go(page, "live")
        self.wait_state(page, "partial")
        self.assertIn("Only 1,000 series are shown", page.locator("main .notice").first.inner_text())
        sizes = page.evaluate("[document.querySelector('.wall').clientHeight, document.querySelector('canvas').clientHeight]")
        self.assertGreater(sizes[0], 5_000)
        self.assertLess(sizes[1], 1_200)
        page.evaluate("scrollTo(0, 4000)")
        page.wait_for_timeout(300)
        self.assertTrue(page.evaluate(DRAWN))
        self.assertLess(abs(page.evaluate("document.querySelector('canvas').getBoundingClientRect().top")), 60)
        page.focus("canvas")
        page.keyboard.press("End")
        self.assertIn("masked-999 ", page.locator("canvas").get_attribute("aria-valuetext"))
        page.wait_for_timeout(300)
        # What is chosen is seen.
        self.assertGreater(page.evaluate("scrollY"), 5_000)


if __name__ == "__main__":
    unittest.main()
