"""Results in a real IPython: text and a picture, or text alone."""

import json
import re
import subprocess
import sys

import pytest

import consilience as cs

SHOWN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell('''
import sys
import numpy as np
import consilience as cs
from consilience.datasets import load_beads, load_beads_labels
ens = load_beads_labels()
meta = cs.organize(ens, 3)
beads = load_beads()
results = {
    "Ensemble": ens,
    "MetaClustering": meta,
    "Consensus": cs.combine(ens, 3, "vote"),
    "Agreement": cs.agree(np.random.default_rng(0).poisson(2, (40, 30)), 3, n_clusterings=3, max_iter=1),
    "Contrast": cs.contrast(beads.values, beads.labels["shape"], 3, n_init=2),
    "Comparison": cs.compare(ens, known=beads.labels),
    "Stability": cs.stability(ens),
    "Map": meta.map(),
    "one": cs.Ensemble([[0, 1, 1]]),
    "large": cs.Ensemble(np.random.default_rng(0).integers(0, 3, (5000, 300))),
    "<b>": cs.Ensemble({"<b>": [0, 0, 1], "x": [0, 1, 1]}, info={"name": ["<b>", "x"], "method": "<script>"}),
}
early = [name for name in ("matplotlib", "click") if sys.modules.get(name)]
''').raise_error()
def shown():
    found = {}
    for name, result in shell.user_ns["results"].items():
        data, _ = shell.display_formatter.format(result)
        found[name] = {"text": data["text/plain"], "html": data.get("text/html"), "repr": repr(result)}
    return found

sys.modules["matplotlib"] = None  # as where it is not installed
without = shown()
del sys.modules["matplotlib"]
print(json.dumps({"early": shell.user_ns["early"], "without": without, "found": shown()}))
"""


@pytest.fixture(scope="module")
def told():
    """What is shown of every result, without matplotlib and with it."""
    pytest.importorskip("IPython", reason="IPython is not installed: pip install ipython")
    done = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_result_shows_its_text_and_a_picture(told):
    assert told["early"] == []  # neither importing the package nor its verbs load plotting
    for name, one in told["found"].items():
        assert one["text"] == one["repr"]
        if name == "one":
            assert one["html"] is None  # nothing to compare a single clustering with
            continue
        assert one["html"].startswith("<pre>")
        assert one["html"].count('<img width="') == 1
        assert "data:image/png;base64,iVBOR" in one["html"]
        assert len(one["html"]) < 200_000
    assert "&lt;script&gt;" in told["found"]["<b>"]["html"]
    assert "<script>" not in told["found"]["<b>"]["html"]


def test_without_matplotlib_there_is_text(told):
    assert all(one["html"] is None and one["text"] == one["repr"] for one in told["without"].values())


def test_without_ipython_nothing_is_loaded():
    code = "import sys, consilience; print('consilience.reports' in sys.modules, 'IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.usefixtures("no_matplotlib")
def test_a_report_without_matplotlib_names_the_extra(tmp_path):
    with pytest.raises(ImportError, match=re.escape("pictures need matplotlib: pip install 'consilience[plots]'")):
        cs.report(cs.Ensemble([[0, 0, 1], [0, 1, 1]]), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
