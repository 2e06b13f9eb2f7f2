"""The explorer's page in a headless Chromium on a real server: wall times, since they are what people wait for.

First paint is from the start of navigation until tree, scores and every tile in sight are drawn; a click is from the
pointer's event until the frame that shows the new colors, on branches never asked for (fetched from the server) and
again on the same ones (kept by the page); recolor is the drawing alone.
"""

import shutil
import statistics

import numpy as np

import consilience as cs

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
MEASURED = "name => performance.getEntriesByName(name).map(entry => entry.duration)"
CLICKS, LOADS = 50, 5


def page_5000():
    """5,000 clusterings × 990 objects."""
    return _measure(_copies(990, 5000, 15), first=800, consensus=250)


def page_of_100000():
    """1,000 clusterings × 100,000 objects."""
    return _measure(_copies(100_000, 1000, 15), first=1000, consensus=1000)


def _copies(n, m, k, kinds=16, seed=0):
    """Copies of several unrelated clusterings, some nearly exact and some half noise: a tree with branches of all heights."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, k, (kinds, n), dtype=np.int8)
    labels = np.empty((m, n), np.int8)
    for i, noise in enumerate(rng.uniform(0.02, 0.5, m)):
        labels[i] = np.where(rng.random(n, np.float32) < noise, rng.integers(0, k, n, dtype=np.int8), first[i % kinds])
    return cs.Ensemble(labels.T)


def _measure(ensemble, first, consensus):
    from playwright.sync_api import sync_playwright

    data = np.random.default_rng(0).standard_normal((ensemble.n_objects, 10))
    server = cs.explore(ensemble, data=data, browser=False, block=False)
    try:
        with sync_playwright() as playwright:
            found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
            paints = [_first_paint(browser, server.url) for _ in range(LOADS)]
            page = _open(browser, server.url)
            spots = _spots(page, CLICKS, 0.2, 0.7)
            fetched, kept = _clicks(page, spots), _clicks(page, spots)
            drawn = page.evaluate(MEASURED, "consilience-draw")
            page.keyboard.press("c")
            page.wait_for_selector(".tile-picture:empty", state="detached", timeout=120_000)
            agreed = _clicks(page, _spots(page, CLICKS // 5, 0.1, 0.4))
            browser.close()
    finally:
        server.close()
    result = {
        "first_paint_ms": round(statistics.median(paints)),
        "click_p50_ms": round(np.quantile(fetched, 0.5)),
        "click_p95_ms": round(np.quantile(fetched, 0.95)),
        "kept_click_p50_ms": round(np.quantile(kept, 0.5)),
        "kept_click_p95_ms": round(np.quantile(kept, 0.95)),
        "recolor_p50_ms": round(float(np.quantile(drawn, 0.5)), 1),
        "recolor_p95_ms": round(float(np.quantile(drawn, 0.95)), 1),
        "consensus_click_p50_ms": round(np.quantile(agreed, 0.5)),
        "consensus_click_max_ms": round(max(agreed)),
        "clicks": len(fetched),
    }
    bars = {
        "first_paint_ms": first,
        "click_p50_ms": 60,
        "click_p95_ms": 100,
        "recolor_p50_ms": 16,
        "consensus_click_max_ms": consensus,
    }
    return result | {"bars": bars, "ok": all(result[name] <= bar for name, bar in bars.items())}


def _open(browser, url):
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(url)
    _wait(page, "consilience-first-paint", 0, 10_000)
    page.wait_for_selector(".big-picture[aria-busy=false] canvas", timeout=120_000)
    return page


def _first_paint(browser, url):
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(url)
    _wait(page, "consilience-first-paint", 0, 10_000)
    (found,) = page.evaluate(MEASURED, "consilience-first-paint")
    page.close()
    return found


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


CASES = [page_5000, page_of_100000]
