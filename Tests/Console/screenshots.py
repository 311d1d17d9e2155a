"""Pictures of the running console for docs/images: an instance with a ward of simulated devices, two of which are in trouble."""

import json
import sys
import threading
import time

from PIL import Image

from console_testing import ROOT, Browser, Instance, reading, wait_until

FOLDER = ROOT / "docs/images"
MOST_BYTES = 150_000
PAGES = [("overview", "overview"), ("letters", "letters?reason=noTemplate"), ("mappings", "mappings?name=pulse-oximeter")]


def ward(instance):
    """Eight devices; now and then one sends what no template knows, and one is two hours ahead."""
    beat = 0
    while instance.process.poll() is None:
        payloads = [reading(f"watch-{number}", 62 + (beat * 7 + number * 3) % 25) for number in range(8)]
        if beat % 9 == 4:
            payloads.append(json.dumps({"deviceId": "strap-4", "pulse": 71, "at": beat}))
        if beat % 13 == 6:
            payloads.append(reading("watch-8", 80, offset=7200))
        instance.send(*payloads)
        beat += 1
        time.sleep(0.25)


def main():
    FOLDER.mkdir(exist_ok=True)
    # Nothing listens there: the sink is down.
    instance = Instance("--server", "http://127.0.0.1:9/fhir", "--server-identity", "create")
    threading.Thread(target=ward, args=[instance], daemon=True).start()
    time.sleep(150)
    for scheme in ["light", "dark"]:
        for width, height in [(1440, 900), (390, 844)]:
            context = Browser.shared().new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
            page = context.new_page()
            page.goto(instance.login("operate")[0])
            page.wait_for_selector("nav a[aria-current]", state="attached")
            for name, address in PAGES:
                if name == "letters":
                    number = next(one["number"] for one in instance.dead_letters() if one["reason"] == "noTemplate")
                    address += f"&letter={number}"
                page.evaluate("address => { location.hash = address; }", f"#/{address}")
                page.wait_for_selector(f'section[data-page="{name}"]')
                wait_until(lambda: page.locator("main > section").get_attribute("data-state") in ("loaded", "partial"))
                page.evaluate("document.activeElement.blur()")
                page.evaluate("scrollTo(0, 0)")
                page.wait_for_timeout(1500 if name != "mappings" else 4000)
                keep(page.screenshot(), FOLDER / f"console-{name}-{width}-{scheme}.png")
            context.close()
    instance.kill()


def keep(picture, path):
    """With a palette: a third of the bytes, and no difference that one sees."""
    path.write_bytes(picture)
    Image.open(path).convert("RGB").quantize(colors=128, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{path} has more than {MOST_BYTES:,} bytes")


main()
