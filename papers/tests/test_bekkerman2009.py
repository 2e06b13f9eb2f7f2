"""Bekkerman et al. 2009 again, in small: files appear, and tables hold what they say."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.metrics import roc_auc_score

import consilience as cs
from consilience._check import InputError
from consilience.consensus import SCCC
from consilience.measures import accuracy
from papers import PAPERS, bekkerman2009
from papers.__main__ import command
from papers.bekkerman2009.choice import run_choice
from papers.bekkerman2009.consistency import GAP, consensus
from papers.bekkerman2009.data import (
    Documents,
    check_folder,
    draw_documents,
    draw_ratings,
    hold_out,
    read_documents,
    read_movielens,
)
from papers.bekkerman2009.documents import run_agree, run_documents
from papers.bekkerman2009.ratings import run_ratings
from papers.bekkerman2009.recommend import Recommender
from papers.bekkerman2009.table1 import PAPER, paper_rows
from papers.claims import TableFolder
from papers.results import render

pytestmark = pytest.mark.slow

SMALL = {"m": 3, "n_iter": 1}


@pytest.fixture(scope="module")
def drawn():
    return draw_documents(80, 200, 3)


@pytest.fixture(scope="module")
def found(drawn):
    return run_documents([(drawn, "default")], **SMALL, members={"drawn": (2, 3)})


def test_stages_are_those_of_the_process(drawn, found):
    result = run_agree(drawn, "default", 3, 1, 0, None)
    table = found.stages.set_index(["measure", "stage"])["value"]
    for stage, sides in (("before", result.before), ("cap", result.after)):
        each = [accuracy(drawn.truth, labels) for labels in sides.rows.labels.T]
        assert table["accuracy", stage] == pytest.approx(np.mean(each))
        assert table["documents", stage] == cs.stability(sides.rows, "jaccard").mean
        assert table["words", stage] == cs.stability(sides.columns, "jaccard").mean
    by_gap = SCCC().fit(result.after.rows).labels_by_gap_
    each = [accuracy(drawn.truth, labels) for labels in by_gap.labels.T]
    assert table["accuracy", "cap_sccc"] == pytest.approx(np.mean(each))
    row = found.iterations.iloc[-1]
    assert (row["rows"], row["accuracy"]) == (table["documents", "cap"], table["accuracy", "cap"])


def test_words_by_frequency_and_groups(drawn, found):
    result = run_agree(drawn, "default", 3, 1, 0, None)
    bands = found.bands
    assert bands["low"].tolist() == [1, 1, 6]  # too few words occur more often
    for row in bands.itertuples():
        words = np.flatnonzero((drawn.frequency >= row.low) & (drawn.frequency <= row.high))
        assert row.words == len(words)
        for when, sides in (("before", result.before), ("after", result.after)):
            assert getattr(row, when) == cs.stability(sides.columns[words], "jaccard").mean
    for members in found.groups["members"]:
        labels = result.after.columns.labels[[drawn.words.tolist().index(word) for word in members.split("; ")]]
        assert (labels == labels[0]).all()


def test_the_choice_is_that_of_agree(drawn):
    row = run_choice([drawn], {"drawn": 1}, **SMALL).iloc[0]
    how = {"n_clusterings": 3, "max_iter": 1, "model": "mdc", "random_state": 0, "progress": False}
    for name, n_init in (("first", 1), ("chosen", 2)):
        result = cs.agree(drawn.counts, drawn.n_clusters, n_init=n_init, **how)
        for stage, sides in ((name, result.before), (f"{name}_cap", result.after)):
            assert row[stage] == pytest.approx(
                np.mean([accuracy(drawn.truth, labels) for labels in sides.rows.labels.T])
            )


def test_fewer_clusterings_start_from_the_same(found):
    members = found.members
    assert members["m"].tolist() == [2, 3]
    whole = found.stages.query("measure == 'accuracy'").set_index("stage")["value"]
    assert members["before"].iloc[1] == pytest.approx(whole["before"])
    assert members["after"].iloc[1] == pytest.approx(whole["cap"])


def test_paper_s_table_is_as_printed():
    rows = paper_rows().set_index(["data", "measure", "stage"])
    assert len(rows) == 36
    assert rows.at[("20 Newsgroups", "accuracy", "cap"), "value"] == 0.7562
    assert rows.at[("kitchen-l", "words", "cap_sccc"), "value_sem"] == 0.0405
    gains = {name: round(100 * (v["documents"][1][0] / v["documents"][0][0] - 1), 1) for name, v in PAPER.items()}
    assert gains == {"20 Newsgroups": 50.4, "sanders-r": 53.7, "kitchen-l": 115.4}  # printed: 50.3, 53.7, 115.3


def test_consensus_takes_the_gap_or_the_next_below():
    same = cs.Ensemble([[0, 0, 1, 1]] * 6)
    assert len(np.unique(consensus(same))) == 2
    three = cs.Ensemble([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    expected = SCCC(gap=min(GAP, 3)).fit(three).labels_
    assert cs.measures.rand(consensus(three), expected) == 1


def test_held_out_pairs():
    rng = np.random.default_rng(0)
    users, movies = np.nonzero(rng.random((40, 30)) < 0.3)
    full = sparse.csr_matrix((np.ones(len(users)), (users, movies)), (40, 30)).toarray()
    for popular in (True, False):
        data = hold_out("x", users, movies, 200, popular=popular, seed=0)
        assert len(data.users) == len(data.movies) == len(data.positive) == 200
        assert data.positive.sum() == 16
        yes = data.positive == 1
        assert (full[data.users[yes], data.movies[yes]] == 1).all()
        assert (full[data.users[~yes], data.movies[~yes]] == 0).all()
        assert (data.counts.toarray()[data.users, data.movies] == 0).all()  # the table knows none of them
        assert data.counts.sum() == len(users) - 16
        assert len(np.unique(data.users * 30 + data.movies)) == 200
    with pytest.raises(InputError, match="too few pairs"):
        hold_out("x", users, movies, 5000, popular=False, seed=0)


def test_popular_pairs_are_harder_to_tell():
    values = {}
    for popular in (True, False):
        rows = run_ratings([("drawn", draw_ratings(popular=popular))], 4, m=3, n_iter=1)
        values[popular] = rows[rows["iteration"] == 1].set_index("measure")["value"]
    assert values[True]["popularity"] < values[False]["popularity"]
    assert values[True]["auc"] > values[True]["popularity"] + 0.03


def test_documents_drawn_and_sampled(drawn):
    assert drawn.counts.shape == (80, 200)
    assert np.bincount(drawn.truth).tolist() == [27, 27, 26]
    some = drawn.sample(30)
    assert some.counts.shape[0] == len(some.truth) == 30
    assert some.frequency.min() > 1
    assert len(some.words) == some.counts.shape[1]
    assert Documents("x", drawn.counts, drawn.truth).sample(30).words is None


def test_whole_run_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(
        bekkerman2009, "DRAWN_QUICK", replace(bekkerman2009.DRAWN_QUICK, m=3, n_iter=1, members=(2, 3), sample=60)
    )
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    done = CliRunner().invoke(
        command, ["bekkerman2009", "-o", str(tmp_path), "--quick", "--jobs", "1"], catch_exceptions=False
    )
    assert done.exit_code == 0
    folder = tmp_path / "results" / "bekkerman2009"
    made = {path.name for path in folder.iterdir()}
    tables = {"table1.csv", "table2.csv", "table3.csv", "figure3.csv", "figure4.csv", "word_groups.csv"}
    assert {"report.md", "figure3.png", "figure4.png", *tables} <= made
    assert all(f"wrote {folder / name}" in done.output for name in made)
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "**Left out:** all real data" in text
    assert "| 20 Newsgroups | the paper | accuracy | 0.7203 ± 0.0044 | 0.7562 ± 0.0047 (+5.0%) |" in text
    assert "| Netflix | unknown | AUC, mean of the co-clusterings | 0.7313 ± 0.0002 |" in text
    assert "| sanders-r | the paper | Jaccard, word consensus | 0.2163 ± 0.0018 | 0.3310 ± 0.0028 | +53.0% |" in text
    saved = pd.read_csv(folder / "table1.csv")
    assert set(saved["recipe"]) == {"the paper", "default", "paper's"}
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert page == render(tmp_path, PAPERS)
    assert len(re.findall(r"\*\*(holds|holds in part|does not hold)\*\*", page)) >= 2


def test_real_sets_are_what_the_report_says(data_folder):
    enron = read_documents(data_folder, "enron20folders")
    assert enron.counts.shape[0] == 11_044
    assert enron.n_clusters == 19  # twin folders are one
    assert len(enron.words) == enron.counts.shape[1]
    pages = read_documents(data_folder, "k1b")
    assert (pages.counts.shape, pages.n_clusters, pages.words) == ((2340, 21_839), 6, None)
    ratings = read_movielens(data_folder, popular=True)
    assert ratings.counts.shape == (6040, 3952)
    assert ratings.counts.nnz + ratings.positive.sum() == 1_000_209
    assert ratings.positive.mean() == pytest.approx(0.078)


def test_quick_run_on_real_data(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(bekkerman2009, "QUICK", replace(bekkerman2009.QUICK, m=3, n_iter=1, members=(2,), sample=60))
    PAPERS["bekkerman2009"].run(tmp_path, data=data_folder, quick=True, n_jobs=1)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| cluto_tr11 | default | " in text
    assert len(PAPERS["bekkerman2009"].claims(TableFolder(tmp_path))) == 18
    assert "Left out" not in text


def test_bad_use_is_refused(tmp_path):
    with pytest.raises(InputError, match="n_seeds"):
        PAPERS["bekkerman2009"].run(tmp_path / "out", n_seeds=0)
    with pytest.raises(InputError, match=r"has no newsgroups20\.npz"):
        PAPERS["bekkerman2009"].run(tmp_path / "out", data=tmp_path)
    assert not (tmp_path / "out").exists()
    (tmp_path / "x.npz").write_bytes(b"")
    check_folder(tmp_path, ("x",))


# --- popularity lifted by clusters: the formula in plain sums ---


def r_by_hand(counts, rows, columns, u, m):
    """r(u, m) as the paper prints it."""
    p = counts / counts.sum()
    us, ms = rows == rows[u], columns == columns[m]
    return p[u].sum() * p[:, m].sum() * p[np.ix_(us, ms)].sum() / (p[us].sum() * p[:, ms].sum())


def test_scores_are_the_paper_s_and_auc_the_share_of_pairs_in_the_right_order():
    draw = np.random.default_rng(0)
    counts = draw.poisson(0.7, size=(20, 15)) + (np.arange(15) == 0)
    rows, columns = draw.integers(3, size=(20, 4)), draw.integers(4, size=(15, 4))
    who = Recommender(counts, cs.Ensemble(rows), cs.Ensemble(columns))
    u, m = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    found = who.scores(u, m)
    for model in range(4):
        by_hand = [r_by_hand(counts, rows[:, model], columns[:, model], i, j) for i, j in zip(u, m, strict=True)]
        np.testing.assert_allclose(found[:, model], by_hand, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 1)  # r is a distribution
    p = counts / counts.sum()
    np.testing.assert_allclose(who.popularity(u, m), np.outer(p.sum(1), p.sum(0)).ravel())
    u, m, truth = draw.integers(20, size=60), draw.integers(15, size=60), draw.integers(2, size=60)
    for value, s in zip(who.auc(u, m, truth), who.scores(u, m).T, strict=True):
        wins = np.sign(s[truth == 1][:, None] - s[truth == 0][None, :])
        assert value == pytest.approx((wins.mean() + 1) / 2)


def test_clusters_find_what_popularity_cannot():
    """Two tastes, equally popular: held-out pairs of the own taste rank above those of the other."""
    rng = np.random.default_rng(3)
    taste_u, taste_m = np.arange(60) % 2, np.arange(40) % 2
    full = (rng.random((60, 40)) < np.where(taste_u[:, None] == taste_m, 0.7, 0.05)).astype(int)
    held = rng.random(full.shape) < 0.2
    u, m = np.nonzero(held)
    who = Recommender(np.where(held, 0, full), cs.Ensemble([taste_u]), cs.Ensemble([taste_m]))
    assert who.auc(u, m, full[held])[0] > 0.75
    assert roc_auc_score(full[held], who.popularity(u, m)) < 0.65


def test_what_has_no_label_is_ranked_by_popularity():
    counts = np.array([[2, 1, 1], [0, 3, 1]])
    who = Recommender(counts, cs.Ensemble([[0, -1]]), cs.Ensemble([[0, 1, -1]]))
    assert who.scores([1, 0], [0, 2])[:, 0].tolist() == pytest.approx(who.popularity([1, 0], [0, 2]).tolist())
