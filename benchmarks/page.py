"""The explorer's page in a headless Chromium, on a server that the command line started: what people wait for, in wall time.

The first picture is from the start of navigation until tree and every tile in sight are drawn; a click is from the
pointer's event until the frame that shows the new colors, on 200 branches (fetched from the server) and on 50 of them
again (kept by the page); recolor is the drawing alone. Consensuses are timed until every tile in sight is drawn: from
the key that asks for them, and from the pointer's release after the slider was drawn through many numbers of groups.

``python -m benchmarks.page`` prints each bar with its figure.
"""

import gzip
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import consilience as cs

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--enable-precise-memory-info",
]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#token=\w+")
MEASURED = "name => performance.getEntriesByName(name).map(entry => entry.duration)"
DRAWN = """patience => new Promise((done, fail) => {
  const start = performance.now();
  const look = () => !document.querySelector(".tile-picture:empty, .big-picture[aria-busy=true]") ? done()
    : performance.now() < start + 1000 * patience ? requestAnimationFrame(look)
    : fail(new Error(`tiles or the picture are still empty after ${patience} s`));
  requestAnimationFrame(() => requestAnimationFrame(look));
})"""
CLICKS, AGAIN, LOADS, DRAGS = 200, 50, 5, 3
PATIENCE = 120  # seconds for anything that is waited for


def page_5000():
    """5,000 clusterings × 990 objects; the map of neighbors within 10 s, or with its progress."""
    bars = {"first_picture_ms": 800, "click_p95_ms": 100, "recolor_p50_ms": 16, "neighbor_map_s": 10}
    return _measure(copies(990, 5000, 15), bars)


def page_of_100000():
    """1,000 clusterings × 100,000 objects; the consensuses of what is in sight."""
    bars = {"first_picture_ms": 1000, "click_p95_ms": 100, "consensus_s": 2, "slider_s": 3}
    return _measure(copies(100_000, 1000, 15), bars)


def page_bundle():
    """What a browser loads before it asks for data."""
    static = Path(cs.__file__).parent / "explorer" / "static"
    sizes = {path.suffix[1:]: len(gzip.compress(path.read_bytes(), 9)) for path in static.glob("[!.]*")}
    result = {"bundle_kb": round(sum(sizes.values()) / 1000, 1), "script_kb": round(sizes["js"] / 1000, 1)}
    return _judged(result, {"bundle_kb": 90})


def copies(n, m, k, kinds=16, seed=0, noise=(0.02, 0.5)):
    """Copies of several unrelated clusterings, some nearly exact and some half noise: a tree with branches of all heights."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, k, (kinds, n), dtype=np.int8)
    labels = np.empty((m, n), np.int8)
    for i, share in enumerate(rng.uniform(*noise, m)):
        labels[i] = np.where(rng.random(n, np.float32) < share, rng.integers(0, k, n, dtype=np.int8), first[i % kinds])
    return cs.Ensemble(labels.T)


def _judged(result, bars):
    missed = [name for name, bar in bars.items() if result[name] > bar and not result.get(f"{name}_shown")]
    return result | {"bars": bars, "missed": missed, "ok": not missed}


def _measure(ensemble, bars):
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        ensemble.save(Path(folder) / "run")
        np.save(Path(folder) / "data.npy", np.random.default_rng(0).standard_normal((ensemble.n_objects, 10)))
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        with _served(Path(folder)) as url:
            context = browser.new_context(viewport={"width": 1440, "height": 1000})
            asked = []
            context.on("request", lambda request: asked.append(request.url))
            result = _of_visits(context, url) | _of_consensuses(context, url)
            if "neighbor_map_s" in bars:
                result |= _of_map(context, url)
        browser.close()
    hosts = {urlsplit(address).hostname for address in asked if address.startswith(("http", "ws"))}
    result |= {"requests": len(asked), "requests_off_the_machine": len(hosts - {"127.0.0.1"})}
    return _judged(result, {**bars, "heap_mb": 30, "requests_off_the_machine": 0})


@contextmanager
def _served(folder):
    """The address of ``consilience explore`` on the run in a folder, in a process of its own."""
    words = [sys.executable, "-m", "consilience", "explore", "run", "--data", "data.npy", "--no-browser"]
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if found := ADDRESS.search(line):
                    yield found[0]
                    break
            else:
                raise RuntimeError("the explorer did not start")
        finally:
            process.send_signal(signal.SIGINT)


def _of_visits(context, url):
    """First pictures, clicks on medoids, and what they leave in memory."""
    paints = [_first_picture(context, url) for _ in range(LOADS)]
    page = _open(context, url)
    before = _heap(page)
    spots = _spots(page, CLICKS, 0.2, 0.7)
    fetched = _clicks(page, spots)
    after = _heap(page)
    kept = _clicks(page, spots[-AGAIN:])
    drawn = page.evaluate(MEASURED, "consilience-draw")
    page.close()
    return {
        "first_picture_ms": round(statistics.median(paints)),
        "click_p50_ms": round(np.quantile(fetched, 0.5)),
        "click_p95_ms": round(np.quantile(fetched, 0.95)),
        "click_max_ms": round(max(fetched)),
        "kept_click_p95_ms": round(np.quantile(kept, 0.95)),
        "recolor_p50_ms": round(float(np.quantile(drawn, 0.5)), 1),
        "recolor_p95_ms": round(float(np.quantile(drawn, 0.95)), 1),
        "heap_before_mb": before,
        "heap_mb": after,
        "clicks": len(fetched),
    }


def _of_consensuses(context, url):
    """Until all tiles in sight are drawn: after the key, and after a drag of the slider."""
    page = _open(context, url)
    start = time.perf_counter()
    page.keyboard.press("c")
    page.evaluate(DRAWN, PATIENCE)
    first = time.perf_counter() - start
    slider = page.locator("#cut-slider")
    box = slider.bounding_box()
    drags = []
    for to in np.linspace(0.9, 0.3, DRAGS):
        low, high = (float(slider.get_attribute(name)) for name in ("min", "max"))
        now = float(slider.input_value())
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 8 + (now - low) / (high - low) * (box["width"] - 16), y)
        page.mouse.down()
        page.mouse.move(box["x"] + to * box["width"], y, steps=40)
        page.mouse.up()
        start = time.perf_counter()
        page.evaluate(DRAWN, PATIENCE)
        drags.append(time.perf_counter() - start)
        page.wait_for_timeout(500)
    clicks = _clicks(page, _spots(page, 10, 0.1, 0.4))
    page.close()
    return {
        "consensus_s": round(first, 2),
        "slider_s": round(max(drags), 2),
        "consensus_click_p50_ms": round(np.quantile(clicks, 0.5)),
        "consensus_click_max_ms": round(max(clicks)),
    }


def _of_map(context, url):
    """Seconds of the map of neighbors, and whether its progress was shown meanwhile."""
    page = _open(context, url)
    page.get_by_role("tab", name="Map").click()
    page.wait_for_selector(".map-plot canvas", timeout=PATIENCE * 1000)
    start = time.perf_counter()
    page.get_by_role("button", name="neighbors", exact=True).click()
    page.wait_for_timeout(100)  # the map before gives way
    shown, drawn = 0, page.locator("#panel-map .map-plot canvas")
    while not drawn.count() and time.perf_counter() < start + PATIENCE:
        shown = max(shown, page.locator(".job progress").count())
        page.wait_for_timeout(50)
    taken = time.perf_counter() - start
    if not drawn.count():
        raise RuntimeError(f"no map of neighbors after {PATIENCE} s")
    page.close()
    return {"neighbor_map_s": round(taken, 2), "neighbor_map_s_shown": bool(shown)}


def _open(context, url):
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(url)
    if not _wait(page, "consilience-first-paint", 0, PATIENCE * 1000):
        raise RuntimeError(f"no first picture after {PATIENCE} s")
    page.wait_for_selector(".big-picture[aria-busy=false] canvas")
    return page


def _first_picture(context, url):
    page = _open(context, url)
    (found,) = page.evaluate(MEASURED, "consilience-first-paint")
    page.close()
    return found


def _heap(page):
    """Megabytes of live JavaScript, arrays among it."""
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    found = tools.send("Runtime.getHeapUsage")
    tools.detach()
    return round((found["usedSize"] + found.get("backingStorageSize", 0)) / 1e6, 1)


def _wait(page, name, past, most):
    """Until there is one more measure of a name; False if it does not come within so many milliseconds."""
    for _ in range(most // 20):
        if len(page.evaluate(MEASURED, name)) > past:
            return True
        page.wait_for_timeout(20)
    return False


def _spots(page, count, top, bottom):
    """Places on the tree, all over its width and between two shares of its height."""
    box = page.locator(".tree-plot").bounding_box()
    rng = np.random.default_rng(0)
    across, down = rng.random(count), rng.uniform(top, bottom, count)
    return [
        (float(box["x"] + 60 + x * (box["width"] - 80)), float(box["y"] + y * box["height"]))
        for x, y in zip(across, down, strict=True)
    ]


def _clicks(page, spots):
    """Milliseconds of each click that changed what is shown."""
    start = len(page.evaluate(MEASURED, "consilience-recolor"))
    seen = start
    for x, y in spots:
        page.mouse.click(x, y)
        seen += _wait(page, "consilience-recolor", seen, 3000 if seen == start else 1000)
    return page.evaluate(MEASURED, "consilience-recolor")[start:]


CASES = [page_5000, page_of_100000, page_bundle]


def main():
    missed = []
    for case in CASES:
        result = case()
        print(f"{case.__name__}: {case.__doc__}")
        for name, bar in result.pop("bars").items():
            verdict = "missed" if name in result["missed"] else "met"
            print(f"  {name:26} {result.pop(name):10} of {bar:5}  {verdict}", flush=True)
        missed += result.pop("missed")
        print(f"  beside them: {', '.join(f'{name} {value}' for name, value in result.items() if name != 'ok')}")
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
