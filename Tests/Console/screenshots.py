"""Pictures of the running console for README and docs/images: all pages of `kymo demo --console`, whose devices are in trouble."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

from PIL import Image

from console_testing import KYMO, ROOT, Browser, serve_files, wait_until

FOLDER = ROOT / "docs/images"
MOST_BYTES = 150_000
#: How long the devices send before the pictures are taken.
SECONDS = 150
#: A name, its address, and what is looked for before.
PAGES = [
    ("overview", "overview", None), ("live", "live", None), ("timeline", "timeline", "watch-2"), ("ledger", "ledger", "watch-2"),
    ("letters", "letters?reason=clockAhead", None), ("playground", "playground", None),
    ("mappings", "mappings?name=pulse-oximeter", None),
]
#: Milliseconds that a page takes until it has what it shows: Live most of its minute, Mappings the results of all examples.
WAITS = {"live": 50_000, "mappings": 4000}
SCREENS = [("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844)]


class Demo:
    """`kymo demo --console`."""

    def __init__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([KYMO, "demo", "--console"], stdout=subprocess.DEVNULL, stderr=self.log)
        self.data = wait_until(self.told, what="the directory of the demo")

    def told(self):
        self.log.seek(0)
        match = re.search(r"--data (\S+)", self.log.read())
        return match and match.group(1)

    def kymo(self, *arguments):
        return subprocess.run([KYMO, *arguments, "--data", self.data], capture_output=True, text=True, check=True).stdout

    def login(self):
        answer = json.loads(self.kymo("console", "login", "--role", "operate", "--format", "json"))
        return f"{answer['address']}#login={answer['code']}"

    def letter(self):
        letters = json.loads(self.kymo("dead", "list", "--format", "json"))["letters"]
        return next(one["number"] for one in letters if one["reason"] == "clockAhead")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def show(page, demo, name, address, found):
    if name == "letters":
        address += f"&letter={demo.letter()}"
    page.evaluate("address => { location.hash = address; }", f"#/{address}")
    page.wait_for_selector(f'section[data-page="{name}"]')
    if found:
        page.fill("#find", found)
        page.keyboard.press("Enter")
        page.wait_for_selector(".buckets, .hours")
    wait_until(lambda: page.locator("main > section").get_attribute("data-state") in ("loaded", "partial"))
    page.evaluate("document.activeElement.blur()")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(WAITS.get(name, 1500))


def keep(picture, path):
    """With a palette, in which rare colours stay: a third of the bytes, and no difference that one sees."""
    path.write_bytes(picture)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{path} has more than {MOST_BYTES:,} bytes")


def main():
    FOLDER.mkdir(exist_ok=True)
    demo = Demo()
    try:
        time.sleep(float(os.environ.get("KYMO_SECONDS", SECONDS)))
        for scheme, width, height in SCREENS:
            context = Browser.shared().new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
            serve_files(context)
            page = context.new_page()
            page.goto(demo.login())
            page.wait_for_selector("nav a[aria-current]", state="attached")
            for name, address, found in PAGES:
                show(page, demo, name, address, found)
                keep(page.screenshot(), FOLDER / f"console-{name}-{width}-{scheme}.png")
            context.close()
    finally:
        demo.stop()


main()
