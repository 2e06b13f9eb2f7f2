"""What people see of a meta clustering: printed and drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from consilience._check import InputError
from consilience.meta import organize, score
from consilience.reports import draw
from consilience.reports.meta import _branches, meta_finding
from samples import three_kinds


@pytest.fixture(scope="module")
def case():
    ens, _, truths = three_kinds(noise=0.3)
    return organize(ens, 3), score(ens, known={"a": truths[0], "b": truths[1]}), truths


def test_the_finding_has_groups_scores_and_the_null(case):
    meta, scores, truths = case
    null = meta.null({"a": truths[0]}, n_shuffles=3)
    groups, beaten = meta_finding(meta, scores=scores, null=null).tables
    assert groups.frame["mean purity:a"].tolist() == [
        pytest.approx(scores["accuracy:a"][meta.groups == group].mean()) for group in meta.numbers
    ]
    assert beaten.frame["best"].tolist() == null.table["best"].tolist()
    how = meta_finding(organize(meta.ensemble, 2, sketch=500)).reasons.sentences
    assert any("500 random pairs" in sentence for sentence in how)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_are_written(case, tmp_path, ending):
    meta, scores, _ = case
    path = tmp_path / f"picture.{ending}"
    maps = [meta.map(), meta.map("neighbors", max_iter=250)]
    both = {"x": "accuracy:a", "y": "accuracy:b", "marked": {"some": scores.head(2)}}
    for result, name, options in (
        (meta, "tree", {}),
        (meta.cut(19), "tree", {"score": scores["accuracy:a"]}),
        (meta, "curve", {}),
        (maps[0], "map", {}),
        (maps, "map", {"score": scores["accuracy:a"]}),
        (maps, "map", {"groups": meta.cut(19).groups}),
        (scores, "scores", both),
    ):
        path.unlink(missing_ok=True)
        draw(result, path, name, **options)
        assert path.stat().st_size > 5000


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
        draw(meta, tmp_path / "x.png", score=pd.Series([1.0, 2.0]))
    with pytest.raises(InputError, match="not by both"):
        draw(meta.map(), tmp_path / "x.png", score=scores["accuracy:a"], groups=meta.groups)
    with pytest.raises(InputError, match="one or a list"):
        draw([], tmp_path / "x.png")
    with pytest.raises(InputError, match="unknown score 'c'"):
        draw(scores, tmp_path / "x.png", "scores", x="c", y="accuracy:a")
    with pytest.raises(InputError, match="endings"):
        draw(meta, tmp_path / "x.bmp", "curve")
    assert not list(tmp_path.iterdir())
