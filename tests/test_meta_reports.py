"""What people see of a meta clustering: printed and drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from consilience._check import InputError
from consilience.meta import organize, score
from consilience.reports import draw_curve, draw_map, draw_scores, draw_tree, print_organized
from consilience.reports.meta import _branches
from samples import three_kinds


@pytest.fixture(scope="module")
def case():
    ens, _, truths = three_kinds(noise=0.3)
    return organize(ens, 3), score(ens, known={"a": truths[0], "b": truths[1]}), truths


def test_the_summary_has_groups_scores_and_the_null(case, capsys):
    meta, scores, truths = case
    null = meta.null({"a": truths[0]}, n_shuffles=3)
    print_organized(meta, title="beads", scores=scores, null=null)
    text = capsys.readouterr().out
    assert text.startswith("beads: 19 clusterings of 120 objects in 3 groups\n")
    assert "None of them is the truth" in text
    assert f"{scores['accuracy:a'][meta.groups == 2].mean():.3f}" in text
    assert f"{null.table['best'].iloc[0]:.3f}" in text
    assert "against the null: 3 shuffles" in text
    for term in ("medoid", "bend", "null", "height"):
        assert text.count(f"\n{term}: ") == 1


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_are_written(case, tmp_path, ending):
    meta, scores, _ = case
    path = tmp_path / f"picture.{ending}"
    maps = [meta.map(), meta.map("neighbors", max_iter=250)]
    for draw in (
        lambda: draw_tree(meta, path),
        lambda: draw_tree(meta.cut(19), path, score=scores["accuracy:a"]),
        lambda: draw_curve(meta, path),
        lambda: draw_map(maps[0], path),
        lambda: draw_map(maps, path, score=scores["accuracy:a"]),
        lambda: draw_map(maps, path, groups=meta.cut(19).groups),
        lambda: draw_scores(scores, "accuracy:a", "accuracy:b", path, marked={"some": scores.head(2)}),
    ):
        path.unlink(missing_ok=True)
        draw()
        assert path.stat().st_size > 5000


def test_distortion_is_written_on_the_map(case, tmp_path):
    meta, _, _ = case
    found = meta.map()
    draw_map(found, tmp_path / "map.svg")
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw_map(found, tmp_path / "map.svg")
    assert f"stress {found.stress:.2f}, keeps {100 * found.neighbors_kept:.0f} %" in (tmp_path / "map.svg").read_text(
        "utf-8"
    )


def test_branches_meet_above_the_middle_and_have_their_mean(case):
    meta, scores, _ = case
    values = scores["accuracy:a"].to_numpy().copy()
    values[3] = np.nan
    paths, means = _branches(meta, values)
    assert paths.shape == (18, 4, 2)
    np.testing.assert_array_equal(paths[:, 1, 1], meta.tree[:, 2])
    for i in range(18):
        assert means[i] == pytest.approx(np.nanmean(values[meta.branch(19 + i)]))


def test_bad_requests_are_refused(case, tmp_path):
    meta, scores, _ = case
    with pytest.raises(InputError, match="each of 19 clusterings"):
        draw_tree(meta, tmp_path / "x.png", score=pd.Series([1.0, 2.0]))
    with pytest.raises(InputError, match="not by both"):
        draw_map(meta.map(), tmp_path / "x.png", score=scores["accuracy:a"], groups=meta.groups)
    with pytest.raises(InputError, match="one or a list"):
        draw_map([], tmp_path / "x.png")
    with pytest.raises(InputError, match="unknown score 'c'"):
        draw_scores(scores, "c", "accuracy:a", tmp_path / "x.png")
    with pytest.raises(InputError, match="endings"):
        draw_curve(meta, tmp_path / "x.bmp")
    assert not list(tmp_path.iterdir())
