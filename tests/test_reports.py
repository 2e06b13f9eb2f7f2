import io
import os
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rich.console import Console

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.reports import comparison, draw_comparison, print_comparison, write_table
from consilience.reports.comparison import _like_first


@pytest.fixture(scope="module")
def result():
    beads = load_beads()
    return cs.compare(load_beads_labels(), ("jaccard", "cluster_difference"), known=dict(beads.labels.items()))


def test_comparison_prints_a_summary(result):
    text = repr(result)
    assert "16 clusterings of 300 objects" in text
    assert "jaccard with shape: best 0.97" in text
    assert "cluster_difference with color: best 0.0" in text  # the smallest difference is the best


def test_truth_of_another_length_is_refused():
    with pytest.raises(InputError, match="'class' are 3 for 4 objects"):
        cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], known={"class": [0, 0, 1]})


def test_truth_in_every_form():
    ens, y = cs.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]], ids=list("abcd")), [0, 0, 1, 1]
    forms = {
        "known": [y, np.array(y), pd.Series(y, index=list("abcd"))],
        "kind": [pd.Series(y, name="kind"), pd.DataFrame({"kind": y}), {"kind": y}],
    }
    for name, given in forms.items():
        for truth in given:
            assert cs.compare(ens, "rand", known=truth).clusterings[f"rand:{name}"].tolist() == [1, 0.5]


@pytest.mark.parametrize("truth", ["class", 5, {"class": None}, {0, 1}, {"class": "aabb"}])
def test_truth_that_is_none_is_refused(truth):
    with pytest.raises(InputError, match=r"known labels"):
        cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], known=truth)


@pytest.mark.parametrize("measures", [None, [], 5])
def test_no_measure_is_refused(measures):
    with pytest.raises(InputError, match="measures must name at least one of rand"):
        cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], measures)


def test_summary_of_few_clusterings():
    assert repr(cs.compare([[0, 0]], "rand")) == "Comparison of 1 clustering of 2 objects"
    assert "nan" not in repr(cs.compare([[0, 0, 1], [0, 1, 1]], "rand"))


def test_extremes():
    result = cs.compare({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]}, ["rand", "cluster_difference"])
    most, least = result.extremes("rand")
    assert most == ("a", "b", 1.0)
    assert least[:2] == ("a", "c")
    assert result.extremes("cluster_difference") == [("a", "b", 0.0), ("a", "c", 1 - least[2])]
    found = result.to_dict()["stability"]["rand"]
    assert found["most_alike"] == {"clusterings": ["a", "b"], "value": 1.0}


def shown(result, width, **options):
    file = io.StringIO()
    print_comparison(result, title="[red]t[/] :smile:", console=Console(file=file, width=width, **options))
    return file.getvalue()


def test_names_are_printed_as_they_are():
    text = shown(cs.compare({"[bold]x[/]": [0, 0, 1], ":smile:": [0, 1, 1]}, "rand"), 240)
    assert "[red]t[/] :smile:: 2 clusterings of 3 objects" in text
    assert "[bold]x[/], :smile: (0.333)" in text
    assert "nan" not in text


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_is_cut_at_80_columns(terminal):
    result = cs.compare(load_beads_labels(), list(cs.measures.MEASURES), known=load_beads().labels)
    text = shown(result, 80, force_terminal=terminal, color_system=None)
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert "…" not in text
    for word in ("variation_of_information", "difference", "information", "color6"):
        assert any(word in line.split() for line in lines), word
    if not terminal:
        assert not any(line.endswith(" ") for line in lines)


def test_one_clustering_is_told_to_bring_known_labels():
    assert "nothing to compare it with" in shown(cs.compare([[0, 0, 1]]), 240)


def test_names_that_come_twice_can_be_written_as_parquet(tmp_path):
    result = cs.compare(cs.Ensemble([[0, 1], [0, 1]], info={"name": ["a", "a"]}), "rand")
    write_table(result.matrix("rand"), tmp_path / "m.parquet")
    assert list(pd.read_parquet(tmp_path / "m.parquet").columns) == ["a", "a (2)"]


def test_pictures_are_only_of_comparisons_and_in_known_formats(result, tmp_path):
    with pytest.raises(InputError, match="draws what compare found; got a list"):
        draw_comparison([1], tmp_path / "x.png")
    with pytest.raises(InputError, match=r"x\.doc: a picture can be drawn as \.png"):
        draw_comparison(result, tmp_path / "x.doc")
    assert not list(tmp_path.iterdir())


def test_picture_of_one_clustering_with_known_labels(tmp_path):
    draw_comparison(cs.compare([[0, 0, 1]], "nmi", known=[0, 1, 1]), tmp_path / "x.PNG")
    assert (tmp_path / "x.PNG").stat().st_size > 5000


def test_picture_of_odd_names_and_unknown_values(tmp_path):
    labels = {"a name that goes on and on and on and on": [0, 1, None], "$x^$": [0, 0, 1], "聚类": [None, None, 0]}
    result = cs.compare(labels, ["nmi", "variation_of_information"], known=[0, 0, 1])
    for measure in result.matrices:  # a warning from matplotlib would be an error here
        draw_comparison(result, tmp_path / "x.png", measure=measure)
    apart = cs.compare([[0, None, None], [None, 0, None], [None, None, 0]], "nmi")
    draw_comparison(apart, tmp_path / "x.png")


def test_scales_are_those_of_the_measure(result, monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(comparison, "new_figure", lambda *size: made.append(Figure(size)) or made[-1])
    ens = cs.Ensemble([[0, 0, 1, None], [0, 0, 1, None], [None, None, None, 0]])
    draw_comparison(cs.compare(ens, "jaccard", known=[0, 0, 1, 1]), tmp_path / "x.png")
    matrix, known = made[0].axes[:2]
    image = matrix.images[0]
    assert image.get_clim() == (0, 1)
    assert image.get_array().mask.sum() == 4
    assert np.allclose(image.cmap.get_bad()[:3], 0.8)
    assert known.get_xticks().max() <= 1 + 1e-6
    assert known.get_yticks().max() <= 1 + 1e-6


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture(result, tmp_path, suffix):
    for measure in ("jaccard", "cluster_difference"):
        path = tmp_path / f"{measure}.{suffix}"
        draw_comparison(result, path, measure=measure)
        magic = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
        assert path.read_bytes().startswith(magic)


def test_a_picture_is_drawn_once(monkeypatch, tmp_path):
    """Its layout is found beforehand, for which savefig would draw everything once more."""
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda self, renderer: drawn.append(self) or draw(self, renderer))
    draw_comparison(cs.compare([[0, 0, 1, 1], [0, 1, 0, 1]], "nmi"), tmp_path / "one.svg")
    assert len(drawn) == 1


def test_picture_without_known_labels_of_few_and_of_many_clusterings(tmp_path):
    for m in (1, 2, 60):
        ens = cs.Ensemble(np.random.default_rng(0).integers(0, 3, (30, m)))
        draw_comparison(cs.compare(ens, ["nmi"]), tmp_path / f"{m}.png")
        assert (tmp_path / f"{m}.png").stat().st_size > 5000


def test_alike_clusterings_stand_side_by_side():
    a, b = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    matrix = cs.pairwise([a, b, a, b, a], "cluster_difference")
    order = _like_first(matrix, True).tolist()
    assert sorted(order[:2]) == [1, 3] or sorted(order[-2:]) == [1, 3]


@pytest.mark.usefixtures("no_matplotlib")
def test_pictures_say_how_to_get_matplotlib(tmp_path):
    with pytest.raises(ImportError, match=re.escape("pip install 'consilience[plots]'")):
        draw_comparison(cs.compare([[0, 1], [0, 1]]), tmp_path / "x.png")


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


def test_a_write_that_the_system_refuses_names_the_file_asked_for(tmp_path):
    write_table(pd.DataFrame({"a": [1]}), tmp_path / f"{'x' * 251}.csv")  # the longest there is
    with pytest.raises(OSError, match="long") as caught:
        write_table(pd.DataFrame({"a": [1]}), tmp_path / f"{'x' * 252}.csv")
    assert caught.value.filename.endswith("x.csv")
    assert "unfinished" not in str(caught.value)


def test_names_of_35_clusterings_cover_neither_each_other_nor_the_legend(tmp_path):
    rng = np.random.default_rng(0)
    known = rng.integers(0, 5, 200)
    columns = {
        f"leiden_resolution_{j}": np.where(rng.random(200) < j / 40, rng.integers(0, 5, 200), known) for j in range(35)
    }
    figure = comparison.comparison_figure(cs.compare(cs.Ensemble(pd.DataFrame(columns)), "nmi", known=known))
    figure.draw_without_rendering()
    axis = figure.axes[1]
    boxes = [text.get_window_extent() for text in axis.texts]
    assert len(boxes) > 5
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    assert all(box.x1 <= axis.get_window_extent().x1 + 1 for box in boxes)
    assert axis.get_legend() is not None  # what the colors mean


def test_the_beads_on_the_picture_all_have_a_name(result):
    axis = comparison.comparison_figure(result).axes[1]
    names = " ".join(text.get_text() for text in axis.texts)
    more = sum(int(number) for number in re.findall(r"and (\d+) more", names))
    assert len(axis.texts) + more == 16
