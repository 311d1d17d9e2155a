"""Everything by keys alone: what Tab reaches on each page, in which order and how it is seen; panels that are entered and
left; buttons, boxes and menus."""

import json
import unittest

from console_testing import ConsoleTestCase, Instance, reading, wait_until

#: Notes what Tab is to reach, in the order of the document; of a group of radio buttons one.
NOTE_STOPS = """() => {
    const radios = (node) => [...document.getElementsByName(node.name)].filter((one) => !one.disabled);
    window.stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter((node) => !node.disabled && node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true}))
        .filter((node) => node.type !== 'radio' || node === (radios(node).find((one) => one.checked) ?? radios(node)[0]));
    return stops.length;
}"""
#: Where the focus is: its place among what was noted, whether one sees that, and whether anything else covers it.
LOOK = """() => {
    const node = document.activeElement;
    const shown = node.type === 'radio' ? node.nextElementSibling : node;
    const style = getComputedStyle(shown);
    const box = shown.getBoundingClientRect();
    const isHit = (x, y) => {
        const hit = document.elementFromPoint(x, y);
        return hit !== null && (shown.contains(hit) || hit.contains(shown) && hit !== document.body);
    };
    const x = Math.max(1, box.left) + Math.min(box.width, innerWidth) / 2;
    return {
        place: stops.indexOf(node), name: node.outerHTML.slice(0, 160),
        isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        isClear: [box.top + 2, box.top + box.height / 2, box.bottom - 2].some((y) => isHit(x, y)),
    };
}"""
#: What is focused, in a few words.
FOCUS = "[document.activeElement.tagName, document.activeElement.dataset.key ?? document.activeElement.id].join(' ')"


class KeyTests(ConsoleTestCase):
    @classmethod
    def setUpClass(cls):
        cls.instance = Instance("--idle", "1s", "--lateness", "1s")
        cls.instance.send(*[reading("watch-1", 60 + second, -second, patientId="p-1") for second in range(60)],
                          *[f"no json {number}" for number in range(4)])
        wait_until(lambda: len(cls.instance.dead_letters()) == 4, what="letters")
        wait_until(lambda: json.loads(cls.instance.kymo("query", "--count").stdout or '{"windows": 0}')["windows"] >= 6, 40,
                   "closed windows")

    @classmethod
    def tearDownClass(cls):
        cls.instance.kill()

    def opened(self, name, path=None, width=1440):
        page = self.logged_in(self.instance, path=path or name, width=width)
        if name in ("timeline", "ledger"):
            page.fill("#find", "watch-1")
            page.keyboard.press("Enter")
            page.wait_for_selector(".buckets, .hours")
        self.wait_state(page, "loaded")
        return page

    def focused(self, page):
        return page.evaluate(FOCUS)

    def wait_focus(self, page, what):
        wait_until(lambda: self.focused(page).startswith(what), 5, f"focus on {what}, it is on {self.focused(page)},")

    def newest_bucket(self, page):
        """Moves a chart's cursor to its last bucket that has readings."""
        page.focus(".buckets svg")
        page.keyboard.press("End")
        for _ in range(200):
            if ": 0 accepted" not in page.locator(".buckets svg").first.get_attribute("aria-valuetext"):
                return
            page.keyboard.press("ArrowLeft")

    # What Tab reaches

    def check_stops(self, page, name, least):
        count = page.evaluate(NOTE_STOPS)
        self.assertGreaterEqual(count, least, name)
        page.evaluate("() => { document.activeElement?.blur(); getSelection().removeAllRanges(); }")
        page.evaluate("() => stops[0].focus()")
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        for place in range(count):
            found = page.evaluate(LOOK)
            self.assertEqual(found["place"], place, f"{name}: Tab has come to {found['name']}")
            self.assertTrue(found["isSeen"], f"{name}: one does not see that {found['name']} is focused")
            self.assertTrue(found["isClear"], f"{name}: {found['name']} is covered, or beside the screen")
            page.keyboard.press("Tab")
        page.evaluate("place => stops[place].focus()", count - 1)
        for place in reversed(range(max(0, count - 12), count)):
            found = page.evaluate(LOOK)
            self.assertEqual(found["place"], place, f"{name}, backwards: {found['name']}")
            self.assertTrue(found["isClear"], f"{name}, backwards: {found['name']} is covered")
            page.keyboard.press("Shift+Tab")

    def test_tab_reaches_all_of_the_overview(self):
        # Skip link, the pages, log out, a link for the rejected ones, the table.
        self.check_stops(self.opened("overview"), "overview", 11)

    def test_tab_reaches_all_of_the_timeline(self):
        page = self.opened("timeline")
        self.newest_bucket(page)
        page.keyboard.press("Enter")
        page.wait_for_selector("aside pre, aside [data-key^='window']")
        if page.locator("aside pre").count() == 0:
            page.locator("aside [data-key^='window']").first.press("Enter")
        page.wait_for_selector("aside pre")
        self.check_stops(page, "timeline", 25)

    def test_tab_reaches_all_of_the_ledger(self):
        page = self.opened("ledger")
        page.locator(".hours button:not(.none)").first.press("Enter")
        page.wait_for_selector("aside .table")
        self.check_stops(page, "ledger", 20)

    def test_tab_reaches_all_of_the_letters(self):
        page = self.opened("letters", "letters?letter=1")
        page.wait_for_selector("aside button.danger")
        page.locator("input[aria-label='Choose letter 2']").press("Space")
        page.wait_for_selector("button:has-text('Replay 1')")
        self.check_stops(page, "letters", 25)

    def test_tab_reaches_all_of_the_playground(self):
        page = self.opened("playground")
        page.wait_for_selector("text=1 reading, 0 rejected")
        self.check_stops(page, "playground", 25)

    def test_tab_reaches_all_of_the_mappings(self):
        page = self.opened("mappings", "mappings?name=reading")
        page.wait_for_selector("aside summary")
        self.check_stops(page, "mappings", 40)

    # Panels

    def test_a_letter_is_entered_and_left(self):
        page = self.opened("letters")
        page.locator("[data-key='letter 3']").press("Enter")
        self.wait_focus(page, "H2")
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        self.wait_focus(page, "BUTTON letter 3")

    def test_a_mapping_is_entered_and_left(self):
        page = self.opened("mappings")
        page.locator("[data-key='mapping reading']").press("Space")
        self.wait_focus(page, "H2")
        page.keyboard.press("Escape")
        self.wait_focus(page, "BUTTON mapping reading")

    def test_an_hour_is_entered_and_left(self):
        page = self.opened("ledger")
        cell = page.locator(".hours button:not(.none)").first
        key = cell.get_attribute("data-key")
        cell.press("Enter")
        self.wait_focus(page, "H2")
        page.keyboard.press("Escape")
        self.wait_focus(page, f"BUTTON {key}")
        page.keyboard.press("Home")
        self.assertIn("T00:00:00", self.focused(page))
        page.keyboard.press("End")
        self.assertIn("T23:00:00", self.focused(page))

    def test_a_bucket_is_entered_and_left(self):
        page = self.opened("timeline")
        self.newest_bucket(page)
        page.keyboard.press("Enter")
        self.wait_focus(page, "H2")
        page.keyboard.press("Escape")
        self.wait_focus(page, "svg chart")
        # The table behind the chart does the same.
        page.locator("summary:has-text('As a table')").first.press("Enter")
        page.locator("[data-key^='row ']").first.press("Space")
        self.wait_focus(page, "H2")
        page.keyboard.press("Escape")
        self.wait_focus(page, "BUTTON row ")

    def test_a_click_moves_no_focus(self):
        page = self.opened("mappings")
        page.click("[data-key='mapping reading']")
        page.wait_for_selector("aside summary")
        self.assertEqual(self.focused(page), "BUTTON mapping reading")
        page.keyboard.press("Escape")
        self.assertEqual(self.focused(page), "BUTTON mapping reading")

    # Buttons, boxes, menus

    def test_the_menu_gives_the_focus_back(self):
        page = self.opened("overview", width=390)
        page.focus("button.menu")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        self.assertTrue(page.evaluate("document.activeElement.closest('nav') !== null"))
        page.keyboard.press("Escape")
        self.assertFalse(page.locator("nav").is_visible())
        self.assertEqual(page.evaluate("document.activeElement.className"), "menu")

    def test_boxes_choices_and_tables_by_keys(self):
        page = self.opened("letters")
        page.locator("input[aria-label='Choose letter 1']").press("Space")
        page.wait_for_selector("button:has-text('Discard 1'):enabled")
        page.locator("[data-key='discard']").press("Space")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        self.assertEqual(self.focused(page), "BUTTON discard")
        page = self.opened("timeline")
        page.focus('input[name="bucket"][value="1h"]')
        page.keyboard.press("ArrowRight")
        page.wait_for_function("location.hash.includes('bucket=1d')")
        page.wait_for_selector(".buckets")
        self.wait_focus(page, "INPUT bucket 1d")
        page = self.opened("overview")
        page.locator("summary").press("Enter")
        page.wait_for_selector('[data-part="flow"] tbody tr')

    def test_login_by_keys(self):
        page = self.page()
        page.goto(self.instance.address + "/console/")
        page.wait_for_selector("#code")
        page.keyboard.type(self.instance.login()[1])
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.wait_for_selector('section[data-page="overview"]')


if __name__ == "__main__":
    unittest.main()
