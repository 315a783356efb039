#!/usr/bin/env python3
"""Opens HTML reports in headless Chromium, at the width of a desktop and of a phone. Arguments: files; none: golden pages.

Exits 77 (skipped) where there is no Chromium. --screenshots DIR also writes pictures, light and dark."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTHS = {"desktop": 1280, "phone": 390}
MARK = "ASSAY-MEASURED:"

# The report allows no script, so another page looks at it from outside.
WRAPPER = """<!doctype html><body style="margin:0"><iframe id="f" style="border:0;width:%dpx;height:900px" src="%s"></iframe>
<script>
document.getElementById("f").onload = () => {
  const d = document.getElementById("f").contentDocument;
  const folded = [...d.querySelectorAll("details")];
  folded.forEach(e => { e.open = true; });
  const wide = [...d.querySelectorAll("main *")].filter(e => !e.closest(".table, pre, svg") &&
      e.getBoundingClientRect().right > d.documentElement.clientWidth + 1);
  const text = [...d.querySelectorAll("svg text")].map(e => parseFloat(getComputedStyle(e).fontSize) *
      e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width);
  const outside = [...d.querySelectorAll("svg")].filter(e => [...e.querySelectorAll("text, circle")].some(t => {
      const a = t.getBoundingClientRect(), b = e.getBoundingClientRect();
      return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1; }));
  const seen = JSON.stringify({
      page_width: d.documentElement.scrollWidth, view_width: d.documentElement.clientWidth,
      wide: wide.map(e => e.tagName + ":" + e.textContent.slice(0, 40)).slice(0, 5),
      smallest_text: text.length ? Math.min(...text) : null, outside: outside.length,
      images: d.images.length, scripts: d.scripts.length, forms: d.forms.length, frames: d.querySelectorAll("iframe,object,embed").length,
      handlers: [...d.querySelectorAll("*")].filter(e => [...e.attributes].some(a => a.name.startsWith("on"))).length,
      links: [...d.links].map(a => a.href).filter(h => !/^(https?|artifact):/.test(h)),
      loaded: d.defaultView.performance.getEntriesByType("resource").length,
      headings: d.querySelectorAll("h1").length, tables: d.querySelectorAll("table").length, plots: d.querySelectorAll("svg").length});
  document.body.innerHTML = "";
  document.body.textContent = "%s" + seen;
};
</script>"""


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for path in map(shutil.which, names) if path), None)


def run(browser: str, profile: str, *arguments: str) -> str:
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}",
               "--allow-file-access-from-files", "--virtual-time-budget=10000", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def measure(browser: str, folder: str, page: pathlib.Path, width: int) -> dict:
    """What the page looks like from outside, every fold open."""
    wrapper = pathlib.Path(folder) / "wrapper.html"
    wrapper.write_text(WRAPPER % (width, page.resolve().as_uri(), MARK))
    dom = run(browser, folder, f"--window-size={width},900", "--dump-dom", wrapper.as_uri())
    found = re.search(MARK + r"(\{.*\})", dom, re.DOTALL)
    if not found:
        raise RuntimeError(f"{page}: did not load:\n{dom[:500]}")
    return json.loads(found.group(1).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


def complaints(page: pathlib.Path, name: str, seen: dict) -> list[str]:
    rules = [
        (seen["headings"] == 1, "has no headline"),
        (seen["page_width"] <= seen["view_width"], f"is wider ({seen['page_width']}) than the window ({seen['view_width']})"),
        (not seen["wide"], f"has parts outside of the window: {seen['wide']}"),
        (seen["smallest_text"] is None or seen["smallest_text"] >= 9, f"has plot text of {seen['smallest_text']} px"),
        (seen["outside"] == 0, f"has {seen['outside']} plots with text outside of their frame"),
        (seen["images"] + seen["scripts"] + seen["forms"] + seen["frames"] + seen["handlers"] == 0,
         "has an image, script, form, frame or handler: somebody's text became markup"),
        (not seen["links"], f"has links that are not of the web: {seen['links']}"),
        (seen["loaded"] == 0, "loaded something beside itself"),
    ]
    return [f"{page} at {name} width: {what}" for holds, what in rules if not holds]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    browser = chromium()
    if browser is None:
        print("skipped: no Chromium here (Debian: chromium)")
        return 77
    pages = options.pages or sorted((ROOT / "reports/golden").glob("*/report.html"))
    found, plots = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            for name, width in WIDTHS.items():
                seen = measure(browser, folder, page, width)
                found += complaints(page, name, seen)
                plots += seen["plots"]
                for scheme, number in {"light": 1, "dark": 0}.items() if options.screenshots else ():
                    options.screenshots.mkdir(parents=True, exist_ok=True)
                    picture = options.screenshots / f"{page.parent.name}-{name}-{scheme}.png"
                    run(browser, folder, f"--window-size={width},3000", f"--blink-settings=preferredColorScheme={number}",
                        f"--screenshot={picture}", page.resolve().as_uri())
    if plots == 0:
        found.append("no page has a plot")
    print("\n".join(found) if found else f"{len(pages)} pages are well at {' and '.join(WIDTHS)} width, {plots} plots seen")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
