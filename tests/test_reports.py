import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.reports import draw_agreement, write_table
from consilience.reports.figures import _similar_first


@pytest.fixture(scope="module")
def result():
    beads = load_beads()
    return cs.compare(load_beads_labels(), ("jaccard", "cluster_difference"), truth=dict(beads.labels.items()))


def test_comparison_prints_a_summary(result):
    text = repr(result)
    assert "16 clusterings of 300 objects" in text
    assert "jaccard with shape: best 0.97" in text
    assert "cluster_difference with colour: best 0.0" in text  # the smallest difference is the best


def test_truth_of_another_length_is_refused():
    with pytest.raises(InputError, match="'class' are 3 for 4 objects"):
        cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], truth={"class": [0, 0, 1]})


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture(result, tmp_path, suffix):
    for measure in ("jaccard", "cluster_difference"):
        path = tmp_path / f"{measure}.{suffix}"
        draw_agreement(result, path, measure=measure)
        magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
        assert path.read_bytes().startswith(magic)


def test_picture_without_known_labels_of_few_and_of_many_clusterings(tmp_path):
    for m in (1, 2, 60):
        ens = cs.Ensemble(np.random.default_rng(0).integers(0, 3, (30, m)))
        draw_agreement(cs.compare(ens, ["nmi"]), tmp_path / f"{m}.png")
        assert (tmp_path / f"{m}.png").stat().st_size > 5000


def test_alike_clusterings_stand_side_by_side():
    a, b = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    matrix = cs.pairwise([a, b, a, b, a], "cluster_difference")
    order = _similar_first(matrix, True).tolist()
    assert sorted(order[:2]) == [1, 3] or sorted(order[-2:]) == [1, 3]


def test_pictures_say_how_to_get_matplotlib(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\nimport consilience as cs\n"
        "from consilience.reports import draw_agreement\n"
        f"draw_agreement(cs.compare([[0, 1], [0, 1]]), {str(tmp_path / 'x.png')!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'consilience[plots]'" in done.stderr


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")

    class Broken(pd.DataFrame):
        def to_csv(self, file, **options):
            file.write(b"half")
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_table(Broken({"a": [1]}), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]
