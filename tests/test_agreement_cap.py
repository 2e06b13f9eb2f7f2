"""Comraf, CAP and agree: the objective, the graph, the starts; an agreement on disk and back."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience._check import InputError
from consilience._names import unique_names
from consilience.agreement import CAP, Agreement, Comraf
from consilience.agreement.comraf import _check_edges, _nodes, color
from consilience.agreement.result import Sides
from consilience.inputs import as_ensemble
from consilience.measures import adjusted_rand, nmi, stability
from samples import block_counts, refusals
from test_agreement_models import information, uniform


def all_pairs(table, sides):
    return sum(information(table, rows, columns) for rows in sides.rows.labels.T for columns in sides.columns.labels.T)


COUNTS, TRUTH, _ = block_counts(n=300, d=500, k=6, counts=30, own=0.3, seed=1)


@pytest.fixture(scope="module")
def found():
    return cs.agree(COUNTS, 6, 30, n_clusterings=5, max_iter=3, model="mdc_plain", random_state=2)


def test_agreement_makes_clusterings_alike_and_its_objective_is_the_sum_over_all_pairs(found):
    assert len(found.objective) == 2 * 3 + 1
    assert (np.diff(found.objective) >= 0).all()
    for at, sides in zip(found.objective[::2], [found.before, *found.iterations], strict=True):
        assert at == pytest.approx(all_pairs(uniform(COUNTS), sides), abs=1e-8)
    table = found.stability_by_iteration(TRUTH)
    for side in ("rows", "columns"):
        assert table[side].iloc[-1] > 1.2 * table[side].iloc[0]
    assert table["accuracy"].iloc[-1] >= table["accuracy"].iloc[0]
    assert np.array_equal(found.after.rows.labels, found.iterations[-1].rows.labels)
    assert "jaccard" in repr(found)


def test_neither_threads_nor_the_number_of_runs_matter(found):
    fewer = cs.agree(COUNTS, 6, 30, n_jobs=2, n_clusterings=2, max_iter=1, model="mdc_plain", random_state=2)
    assert np.array_equal(fewer.before.rows.labels, found.before.rows.labels[:, :2])
    assert np.array_equal(fewer.before.columns.labels, found.before.columns.labels[:, :2])


def test_of_more_runs_those_with_most_information_take_part():
    how = {"max_iter": 1, "model": "mdc_plain", "random_state": 2}
    many = cs.agree(COUNTS, 6, 30, n_clusterings=6, **how).before
    few = cs.agree(COUNTS, 6, 30, n_clusterings=2, n_init=3, **how).before
    single = np.arange(COUNTS.shape[1])
    known = [information(uniform(COUNTS), rows, single) for rows in many.rows.labels.T]
    best = sorted(np.argsort(known)[-2:])
    assert np.array_equal(few.rows.labels, many.rows.labels[:, best])
    assert np.array_equal(few.columns.labels, many.columns.labels[:, best])


def test_it_begins_again_from_its_own_consensus_where_that_ends_higher():
    table, _, _ = block_counts(n=200, d=300, k=8, counts=14, own=0.3, seed=3)
    how = {"n_clusterings": 5, "max_iter": 2, "model": "mdc_plain", "random_state": 0}
    plain, again = (cs.agree(table, 8, 24, restart=restart, **how) for restart in (False, True))
    assert (len(plain.iterations), len(again.iterations)) == (2, 4)
    assert np.array_equal(again.iterations[1].rows.labels, plain.after.rows.labels)
    assert np.array_equal(again.objective[:5], plain.objective)
    assert again.objective[-1] > plain.objective[-1]
    assert again.objective[-1] == pytest.approx(all_pairs(uniform(table), again.after))
    assert stability(again.after.rows).mean > stability(plain.after.rows).mean
    table, _, _ = block_counts(n=60, d=90, k=3, counts=60, own=0.9, seed=0)
    found = cs.agree(table, 3, 6, n_clusterings=3, max_iter=2, random_state=0, restart=True)  # all alike at once
    assert len(found.iterations) == 2


def test_it_starts_from_any_clusterings(found):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((300, 3)) < 0.4, rng.integers(0, 6, (300, 3)), TRUTH[:, None])
    both = cs.agree(COUNTS, rows=rows, columns=found.before.columns, max_iter=2)
    assert both.before.rows.n_clusterings == 3
    assert both.after.columns.n_clusterings == 5
    alone = cs.agree(COUNTS, rows=rows, max_iter=2)
    assert alone.after.columns.n_clusterings == 3
    named = cs.agree(COUNTS, None, 10, rows=rows, max_iter=1)
    assert (named.after.columns.n_clusters == 10).all()
    turned = cs.agree(COUNTS, 6, columns=found.before.columns, max_iter=1)
    assert (turned.after.rows.n_clusters == 6).all()
    for some in (both, alone):
        score = [np.mean([nmi(TRUTH, labels) for labels in sides.rows.labels.T]) for sides in (some.before, some.after)]
        assert score[1] > score[0]


def test_the_class_and_the_function_agree(found):
    estimator = CAP(3, temperature=0, random_state=2).fit(COUNTS, found.before.rows, found.before.columns)
    assert np.array_equal(estimator.rows_.labels, found.after.rows.labels)
    np.testing.assert_array_equal(estimator.objective_, found.objective)
    stopped = CAP(50, temperature=0, tol=1e-3, random_state=2).fit(COUNTS, found.before.rows, found.before.columns)
    assert 1 < len(stopped.agreement_.iterations) < 20
    assert stopped.objective_[-1] >= found.objective[2]


@pytest.mark.parametrize("temperature", [0.2, 0.4, 2.0])
def test_noise_never_lowers_the_objective(found, temperature):
    sides = found.before.rows, found.before.columns
    one, two = (CAP(4, temperature=temperature, random_state=2, n_jobs=n).fit(COUNTS, *sides) for n in (1, 2))
    assert (np.diff(one.objective_) >= 0).all()
    assert one.objective_[-1] == pytest.approx(all_pairs(uniform(COUNTS), Sides(one.rows_, one.columns_)), abs=1e-8)
    assert np.array_equal(one.rows_.labels, two.rows_.labels)
    plain = CAP(4, temperature=0, random_state=2).fit(COUNTS, *sides)
    assert not np.array_equal(one.rows_.labels, plain.rows_.labels)


def test_noise_that_melts_the_clusters_is_taken_back(found):
    sides = found.after.rows, found.after.columns
    plain, molten = (CAP(2, temperature=t, random_state=2).fit(COUNTS, *sides) for t in (0, 1e6))
    assert np.array_equal(plain.rows_.labels, molten.rows_.labels)
    assert np.array_equal(plain.objective_, molten.objective_)


def test_cap_is_a_bipartite_comraf(found):
    weighted = uniform(COUNTS)
    rows, columns = ([f"{side}{i}" for i in range(5)] for side in "rc")
    given = [*found.before.rows.labels.T, *found.before.columns.labels.T]
    start = dict(zip([*rows, *columns], given, strict=True))
    edges = [(a, b, weighted) for a in rows for b in columns]
    nodes = _nodes(_check_edges(edges))
    assert [len(group) for group in color(nodes)] == [5, 5]
    assert len({id(node.rows) for node in nodes}) == 2  # the table stands in memory once for each side
    field = Comraf({}, max_iter=3, tol=0, random_state=0).fit(edges, init=start)
    assert field.history_[0] == pytest.approx(found.objective[0], abs=1e-8)
    assert (np.diff(field.history_) >= -1e-10).all()
    assert field.objective_ == pytest.approx(found.objective[-1], rel=0.1)


@pytest.mark.parametrize("schedule", ["parallel", "round_robin"])
def test_three_kinds_of_objects(schedule):
    """Documents, words and authors: two tables with documents, one of authors and words; weights count."""
    words, documents, word_blocks = block_counts(n=160, d=140, k=4, counts=30, own=0.5, seed=3)
    rng = np.random.default_rng(4)
    author = np.where(rng.random(160) < 0.8, documents + 4 * rng.integers(10, size=160), rng.integers(40, size=160))
    wrote = sparse.csr_matrix((np.ones(160), (np.arange(160), author)), shape=(160, 40))
    said = sparse.csr_matrix(wrote.T @ words)
    edges = [("documents", "words", words), ("documents", "authors", wrote, 0.05), ("authors", "words", said, 1)]
    found = Comraf({"documents": 4, "words": 4, "authors": 4}, schedule=schedule, random_state=5).fit(edges)
    assert (np.diff(found.history_) >= -1e-12).all()
    parts = [information(table, found.labels_[a], found.labels_[b]) for a, b, table, *_ in edges]
    value = parts[0] + 0.05 * parts[1] + parts[2]
    assert found.objective_ == pytest.approx(value, abs=1e-9)
    fields = [Comraf(4, schedule=schedule, random_state=s).fit(edges) for s in range(6)]
    best = max(fields, key=lambda fitted: fitted.objective_)
    assert nmi(documents, best.labels_["documents"]) > 0.9
    assert nmi(word_blocks, best.labels_["words"]) > 0.6


def test_every_clustering_has_a_stream_of_its_own():
    """Equal starts part ways: each takes the objects in its own order."""
    table, _, _ = block_counts(n=300, d=500, k=6, counts=30, own=0.25, seed=1)
    rng = np.random.default_rng(0)
    rows, columns = [rng.permutation(np.arange(300) % 6)] * 3, [rng.permutation(np.arange(500) % 20)] * 3
    found = cs.agree(table, rows=rows, columns=columns, max_iter=1).after
    for side in (found.rows.labels.T, found.columns.labels.T):
        assert len({tuple(labels) for labels in side}) == 3


def test_what_has_no_counts_stays_and_missing_labels_are_filled():
    table = block_counts(n=80, d=60, k=3, seed=2)[0].tolil()
    table[[0, 7]] = 0
    table[:, 5] = 0
    table = table.tocsr()
    found = cs.agree(table, 3, n_clusterings=3, max_iter=1)
    assert found.empty_rows.tolist() == [0, 7]
    assert 5 in found.empty_columns
    assert (found.after.rows.labels[[0, 7]] == -1).all()
    assert "2 rows without counts" in repr(found)
    given = np.tile(np.arange(80) % 3, (2, 1))
    kept = cs.agree(table, rows=list(given), max_iter=1)
    assert kept.after.rows.labels[[0, 7]].tolist() == [[0, 0], [1, 1]]
    field = Comraf({"a": 3, "b": 3}, random_state=0).fit([("a", "b", table)], init={"a": given[0]})
    assert field.empty_["a"].tolist() == [0, 7]
    assert field.labels_["a"][[0, 7]].tolist() == [0, 1]
    table, truth, _ = block_counts(n=120, d=90, k=3, own=0.6, seed=5)
    rows = np.tile(truth, (2, 1)).astype(float)
    rows[0, ::4] = np.nan
    found = cs.agree(table, rows=list(rows), max_iter=2)
    assert found.before.rows.has_missing
    assert not found.after.rows.has_missing
    assert adjusted_rand(truth, found.after.rows.labels[:, 0]) > 0.95


@pytest.mark.slow
def test_real_documents_agree(data_folder):
    """TREC documents: the Jaccard index rises by a fifth, accuracy does not fall by more than one standard error."""
    with np.load(data_folder / "cluto_tr11.npz", allow_pickle=False) as file:
        shape = tuple(int(s) for s in file["shape"])
        table, truth = sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=shape), file["y"]
    runs = [cs.agree(table, int(truth.max()) + 1, n_clusterings=4, max_iter=2, random_state=seed) for seed in (0, 1)]
    first, *_, last = (
        step for _, step in pd.concat([run.stability_by_iteration(truth) for run in runs]).groupby("iteration")
    )
    assert last["rows"].mean() >= 1.2 * first["rows"].mean()
    assert last["accuracy"].mean() >= first["accuracy"].mean() - first["accuracy_sem"].mean() / 2**0.5


SMALL = block_counts(n=30, d=20, k=2)[0]


test_bad_input = refusals(
    (lambda: cs.agree(SMALL), "n_clusters must say how many"),
    (lambda: cs.agree(SMALL, 1), "n_clusters must be a whole number of at least 2"),
    (lambda: cs.agree(-SMALL, 3), "negative"),
    (lambda: cs.agree(SMALL, 3, rows=[[0] * 30]), "leave n_clusters out"),
    (lambda: cs.agree(SMALL, rows=[[0] * 29]), "30 rows, and the clusterings of the rows are of 29 objects"),
    (lambda: cs.agree(SMALL, rows=[[0] * 30], n_init=2), "n_init= is for clusterings that the model makes"),
    (lambda: Comraf({"a": 2}).fit([("a", "a", SMALL)]), "joins 'a' to itself"),
    (lambda: Comraf({}).fit([("a", "b", SMALL), ("c", "d", SMALL)]), "falls apart: no path leads from 'a' to 'c'"),
    (lambda: Comraf({}).fit([("a", "b", SMALL), ("b", "c", SMALL)]), "'b' has 30 objects at edge 1 and 20"),
    (lambda: Comraf({"a": 2}).fit([("a", "b", SMALL)]), "does not say how many clusters 'b'"),
    (lambda: Comraf(2).fit([("a", "b", SMALL)], init={"a": [0, 1]}), "2 labels for 30 objects"),
)


# --- on disk and back ---


SIDES = ("rows", "columns")


def steps(found):
    return [found.before, *found.iterations]


def assert_same(one, other):
    for mine, theirs in zip(steps(one), steps(other), strict=True):
        for a, b in ((mine.rows, theirs.rows), (mine.columns, theirs.columns)):
            assert a.labels.dtype == b.labels.dtype
            np.testing.assert_array_equal(a.labels, b.labels)
            np.testing.assert_array_equal(a.ids, b.ids)
            pd.testing.assert_frame_equal(a.info, b.info, check_dtype=False, check_column_type=False)
    for name in ("objective", "empty_rows", "empty_columns", "source"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture(scope="module")
def named():
    """Named rows and columns, one of each without counts."""
    table = block_counts(n=40, d=30, k=3, own=0.2)[0].toarray()
    table[3], table[:, 5] = 0, 0
    frame = pd.DataFrame(table, index=[f"doc{i}" for i in range(40)], columns=[f"word{j}" for j in range(30)])
    return cs.agree(frame, 3, 8, n_clusterings=3, max_iter=2, model="mdc_plain")


@pytest.fixture(scope="module")
def kept(named, tmp_path_factory):
    folder = tmp_path_factory.mktemp("agreements") / "found"
    named.save(folder)
    return folder


@pytest.fixture
def copy(kept, tmp_path):
    """A copy to damage."""
    return shutil.copytree(kept, tmp_path / "copy")


def test_what_was_saved_comes_back(named, kept):
    again = Agreement.load(kept)
    assert_same(named, again)
    assert again.after is again.iterations[-1]
    np.testing.assert_array_equal(as_ensemble(kept).labels, named.after.rows.labels)
    assert as_ensemble(kept).ids.tolist() == again.ids.tolist()
    pd.testing.assert_frame_equal(again.to_frame(), named.stability_by_iteration())
    for side in SIDES:
        whole = cs.Ensemble.load(kept / side)
        assert whole.info["iteration"].tolist() == [0] * 3 + [1] * 3 + [2] * 3
        assert whole.info["run"].tolist() == [0, 1, 2] * 3
        np.testing.assert_array_equal(whole.labels[:, -3:], getattr(named.after, side).labels)
    header = json.loads((kept / "result.json").read_text())
    assert (header["kind"], header["n_clusterings"], header["n_iter"]) == ("Agreement", 3, 2)
    assert (header["empty_rows"], header["source"]) == ([3], "DataFrame")
    assert 5 in header["empty_columns"]


def test_without_names_and_with_as_few_as_one_clustering(tmp_path):
    found = cs.agree(block_counts(n=40, d=30, k=2)[0], 2, n_clusterings=1, max_iter=1)
    found.save(tmp_path)  # an empty folder will do
    assert_same(found, Agreement.load(tmp_path))


def test_clusterings_of_ones_own_keep_their_numbers_and_what_is_known_of_them(tmp_path):
    table, truth, _ = block_counts(n=40, d=30, k=3)
    info = {"name": ["a", "b"], "run": [7, 8], "iteration": ["x", "y"], "number": [1, 2]}
    info["scores"] = [{"ari": 0.5}, None]
    mine = cs.Ensemble(np.column_stack([truth, truth * 0 + np.arange(40) % 3]), info=info)
    found = cs.agree(table, rows=mine[:, :], columns=[np.arange(30) % 4] * 3, max_iter=1)
    found.save(tmp_path / "a")
    assert_same(found, Agreement.load(tmp_path / "a"))


def part(folder, side):
    return next((folder / side).glob("part-*.parquet"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: rewrite(folder, objective="many"), "copy is damaged, or written by another version"),
        (lambda folder: rewrite(folder, n_clusterings=2), "rows does not hold 2 clusterings of each of 3 steps"),
        (
            lambda folder: os.truncate(part(folder, "rows"), 500),
            r"damaged: .*part-.*parquet is left out: it does not match",
        ),
        (lambda folder: os.remove(part(folder, "columns")), "columns: the store holds no finished clustering"),
        (lambda folder: os.remove(folder / "rows" / "ids.parquet"), r"ids\.parquet is left out: it is missing"),
    ],
)
def test_damage_is_named(copy, damage, words):
    damage(copy)
    with pytest.raises(InputError, match=words) as caught:
        Agreement.load(copy)
    assert "\n" not in str(caught.value)


def rewrite(folder, **changes):
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_names_become_distinct():
    names = ["a", "b", "a", "a (2)", "", None, np.nan, "a"]
    assert unique_names(names) == ["a", "b", "a (2)", "a (2) (2)", "4", "5", "6", "a (3)"]
