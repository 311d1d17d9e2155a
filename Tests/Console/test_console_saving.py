"""Mappings that are mended and saved in the console, in a real browser."""

import json
import pathlib
import shutil
import tempfile
import unittest
import urllib.parse

from console_testing import ROOT, ConsoleTestCase, misspelt_mapping, reading, wait_until


class SavingTests(ConsoleTestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kymo-mapping-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.mapping = self.folder / "mine"
        self.mapping.mkdir()
        self.device, self.right = misspelt_mapping(self.mapping)
        examples = self.mapping / "examples"
        examples.mkdir()
        for kind in ["in", "out"]:
            shutil.copy(ROOT / f"mappings/reading/examples/heart-rate.{kind}.json", examples)
        self.name = f"{self.mapping}/"
        self.settings = self.folder / "kymo.yaml"
        self.settings.write_text("console:\n  edit: true\n")

    def running(self):
        """An instance with the misspelt mapping, and a letter of a reading that no template of it matched."""
        instance = self.start("--config", str(self.settings), "--mapping", self.name)
        instance.send(reading("watch-1"))
        wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
        return instance

    def playground(self, instance, role, **more):
        query = urllib.parse.urlencode({"mapping": self.name, **more})
        page = self.logged_in(instance, role, f"playground?{query}")
        page.wait_for_selector("#edit-device")
        return page

    def test_from_a_letter_to_an_observation(self):
        instance = self.running()
        page = self.playground(instance, "edit", letter=1)
        page.wait_for_selector("text=This is dead letter 1")
        device, save = page.locator("#edit-device"), page.locator("button:has-text('Check, and save')")
        wrong = self.device.read_text()
        device.fill("{")
        save.click()
        page.wait_for_selector("text=Not saved: it cannot be used.")
        device.fill(self.right.replace("'heartRate'", "'heartrate'"))
        save.click()
        page.wait_for_selector("text=Not saved: 1 example would give something else.")
        page.wait_for_selector("strong:has-text('heart-rate')")
        self.assertEqual(self.device.read_text(), wrong)
        device.fill(self.right)
        page.wait_for_selector("text=1 reading, 0 rejected")
        save.click()
        page.wait_for_selector("text=Saved. Readings are mapped by it from now on.")
        self.assertEqual(self.device.read_text(), self.right)
        self.assertEqual(sorted(one.name for one in self.mapping.iterdir()), ["device.json", "examples", "fhir.json"])

        page.click("a:has-text('replay it')")
        page.click("aside button.strong:has-text('Replay')")
        page.click("dialog button.strong")
        page.wait_for_selector("text=replayed 1 payload")
        self.assertEqual(instance.dead_letters(), [])
        self.assertEqual(instance.kymo("flush").returncode, 0)
        listed = instance.kymo("query", "--device", "watch-1", "--readings")
        self.assertIn("watch-1", listed.stdout, listed.stderr)
        ledger = instance.kymo("ledger", "--device", "watch-1")
        # What came of the letter is durable, so that nothing is missing any more.
        self.assertIn("\ncomplete\n", ledger.stdout, ledger.stderr)
        self.assertIn("replayed: noTemplate 1\n", ledger.stdout, ledger.stderr)
        saved = [json.loads(line)["message"] for line in instance.log.splitlines() if '"console.save"' in line]
        self.assertEqual(len(saved), 1)
        self.assertIn(f"saves the mapping {self.name}: {self.device} sha256 ", saved[0])

    def test_what_has_changed_meanwhile_is_not_overwritten(self):
        instance = self.running()
        page = self.playground(instance, "edit")
        other = self.device.read_text() + "\n"
        self.device.write_text(other)
        page.locator("#edit-device").fill(self.right)
        page.click("button:has-text('Check, and save')")
        page.wait_for_selector("text=the files have changed since they were opened here")
        self.assertEqual(self.device.read_text(), other)
        self.assertNotIn("console.save", instance.log)

    def test_who_may_not_edit_is_offered_nothing(self):
        instance = self.running()
        page = self.playground(instance, "operate")
        page.wait_for_selector(".verdict")
        self.assertEqual(page.locator("button:has-text('Check, and save')").count(), 0)
        status, _, _ = instance.get("/console/api/mappings/save", instance.operator(), "POST", b"{}")
        self.assertEqual(status, 403)
        # One of the catalogue has no file.
        page = self.logged_in(instance, "edit", "playground?mapping=glucose-meter")
        page.wait_for_selector(".verdict")
        self.assertEqual(page.locator("button:has-text('Check, and save')").count(), 0)


if __name__ == "__main__":
    unittest.main()
