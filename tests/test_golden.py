"""Numbers that must not change unless they are meant to: labels and objectives of one seed, and folders saved earlier.

`python tests/test_golden.py` writes tests/golden anew. Then say in CHANGELOG why the numbers changed; a stored run
or result of an earlier format is never rewritten, but kept beside the new one.
"""

from __future__ import annotations

import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.alternatives import CCIB
from consilience.consensus import METHODS
from consilience.datasets import load_beads, load_beads_labels, orthogonal_multinomials
from consilience.ensemble.results import HEADER, Result
from consilience.generation import METHODS as GENERATION
from samples import block_counts, noisy_copies

pytestmark = pytest.mark.full_effort

GOLDEN = Path(__file__).parent / "golden"
RUN, CONSENSUS, EARLIER = (GOLDEN / name for name in ("run_format_2", "consensus_format_2", "consensus_format_1"))
# Left out are those whose labels are of the versions of Mt-KaHyPar and of HDBSCAN; similarities that are
# nearly 0 have many first eigenvectors, of which each version of LAPACK gives others.
PARTITIONERS, HDBSCAN = ("mcla", "hbgf", "cspa", "hgpa"), "density"
SHORT = {"nbce": {"max_iter": 60, "n_chains": 2}}
WIDE = {"spectral": {"sigma_divisors": (1, 2, 4)}}


def code(labels):
    """A short word for labels: equal where they are."""
    return f"{zlib.crc32(np.ascontiguousarray(labels, np.int32).tobytes()):08x}"


def consensus(method):
    labels, _ = noisy_copies(120, 4, 6, 0.3, missing=0.1)
    found = cs.combine(labels, 4, method, random_state=0, **SHORT.get(method, {}))
    return {"labels": code(found.labels), "anmi": found.anmi, "confidence": found.confidence.mean()}


def generation(method):
    options = WIDE.get(method, {})
    return {"labels": code(cs.generate(load_beads(), 6, 4, methods={method: 1}, random_state=0, **options).labels)}


def organized():
    meta = cs.organize(load_beads_labels(), measure="cluster_difference")
    return {"groups": code(meta.groups), "distances": meta.distances.mean()}


def agreement():
    found = cs.agree(block_counts(60, 50, 3, 25)[0], 3, n_clusterings=3, max_iter=2, random_state=0)
    return {"rows": code(found.after.rows.labels), "objective": found.objective[-1]}


def alternative():
    X, given, _ = orthogonal_multinomials(2, random_state=0)
    found = CCIB(2, n_init=2, random_state=0).fit(X, given)
    return {"labels": code(found.labels_), "objective": found.objective_}


NUMBERS = {
    **{f"combine {name}": (consensus, name) for name in METHODS if name not in PARTITIONERS},
    **{f"generate {name}": (generation, name) for name in GENERATION if name != HDBSCAN},
    "organize": (organized,),
    "agree": (agreement,),
    "contrast": (alternative,),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_labels_and_objectives(name):
    compute, *args = NUMBERS[name]
    expected = json.loads((GOLDEN / "numbers.json").read_text())[name]
    assert compute(*args) == {
        key: value if isinstance(value, str) else pytest.approx(value, rel=1e-9) for key, value in expected.items()
    }


def test_every_number_is_compared():
    assert list(json.loads((GOLDEN / "numbers.json").read_text())) == list(NUMBERS)


def named_ensemble():
    """Labels of all sorts, some missing, for names and ids to come back."""
    columns = [["T cell", "B cell", None, "T cell", "B cell"], ["007", "7", "7", "007", None], [0, 1, 1, -1, 2]]
    return cs.Ensemble(columns, ids=["a", "b", "c", "d", "e"], info={"method": ["by eye", "by rule", "k-means"]})


def test_a_stored_run_opens(tmp_path):
    found, expected = cs.Ensemble.load(shutil.copytree(RUN, tmp_path / "run")), named_ensemble()
    assert found.to_frame().equals(expected.to_frame())
    assert found.info["method"].tolist() == expected.info["method"].tolist()


def test_a_saved_result_opens():
    found, expected = Result.load(CONSENSUS), cs.combine(named_ensemble(), 2, "vote")
    assert found.to_frame().equals(expected.to_frame())
    assert found.method == "vote"
    assert repr(found) == repr(expected)


def test_a_saved_result_of_an_earlier_format_opens():
    """With its own confidence, and three clusterings that it is better without, as was said of them then."""
    found, expected = Result.load(EARLIER), cs.combine(named_ensemble(), 2, "vote")
    assert json.loads((EARLIER / HEADER).read_text())["version"] == 1
    assert found.to_frame().drop(columns="confidence").equals(expected.to_frame().drop(columns="confidence"))
    assert found.members.columns.tolist() == expected.members.columns.tolist()
    assert found.members["better_without"].all()


if __name__ == "__main__":
    found = {name: compute(*args) for name, (compute, *args) in NUMBERS.items()}
    (GOLDEN / "numbers.json").write_text(json.dumps(found, indent=2) + "\n")
    if not RUN.exists():
        named_ensemble().save(RUN)
    if not CONSENSUS.exists():
        cs.combine(named_ensemble(), 2, "vote").save(CONSENSUS)
    sys.stdout.write(f"written: {GOLDEN}\n")
