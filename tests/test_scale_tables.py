"""Labels whose distinct rows have no room: by tables that add up over blocks, the answers of memory."""

import tracemalloc
import weakref

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.blocks import LabelBlocks, WrittenConsensus, seeding
from consilience.blocks import survey as survey_module
from consilience.blocks.by_tables import METHODS as BY_TABLES
from consilience.blocks.by_tables import NEEDS_ROWS, answer_by_tables
from consilience.blocks.combining import FIXED
from consilience.blocks.running import Here
from consilience.blocks.survey import survey
from consilience.consensus import METHODS
from consilience.consensus.bayes import bounds
from consilience.consensus.methods import label_model as label_tables
from consilience.consensus.methods import lwgp as transfer_cut
from consilience.consensus.methods import mixture
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust.confidence import cluster_posterior
from consilience.datasets import noisy_labels
from consilience.engine.information import batch_scores, objective_of
from consilience.engine.views import label_views
from consilience.measures import adjusted_rand

LITTLE = FIXED + 10**6  # bytes: room for no more than some hundred rows


@pytest.fixture(scope="module")
def codes():
    table = noisy_labels(6000, 5, 12, 0.35, random_state=1)[0].labels.copy()
    table[::19, 3] = -1
    table[[7, 4000]] = -1
    return table


def in_blocks(table, size=700):
    return LabelBlocks([table[i : i + size] for i in range(0, len(table), size)])


def combine_tightly(table, method="auto", size=700, k=5, **options):
    return cs.combine(in_blocks(table, size), k, method, memory_limit=LITTLE + 40 * len(table), **options)


def assert_close(found, wanted):
    np.testing.assert_array_equal(found.labels, wanted.labels)
    for name in ("confidence", "support", "membership"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9, err_msg=name)
    assert (found.n_clusters, found.method, found.names) == (wanted.n_clusters, wanted.method, wanted.names)
    assert found.anmi == pytest.approx(wanted.anmi, abs=1e-9)
    tied = "nearest"  # the same share of votes may speak for two
    pd.testing.assert_frame_equal(found.clusters.drop(columns=tied), wanted.clusters.drop(columns=tied), rtol=1e-9)
    pd.testing.assert_frame_equal(found.members, wanted.members, rtol=1e-9)


def test_overlaps_are_exact_whatever_the_blocks(codes):
    one_hot = np.hstack([(column[:, None] == np.arange(5)).astype(np.int64) for column in codes.T])
    for size in (1, 700, 6000):
        table = codes[:60] if size == 1 else codes
        found = survey(in_blocks(table, size), Here())
        np.testing.assert_array_equal(found.overlaps, one_hot[: len(table)].T @ one_hot[: len(table)])


@pytest.mark.parametrize("method", ["mcla", "dawid_skene", "auto"])
def test_same_answer_as_in_memory(codes, method):
    wanted = cs.combine(codes, 5, method)
    found = combine_tightly(codes, method)
    assert_close(found, wanted)
    assert "by tables of all objects" in found.note


@pytest.mark.parametrize(("inference", "k", "prior"), [("vb", None, "tsb"), ("cvb", 4, "tsb"), ("cvb2", None, "fsd")])
def test_bounds_of_nbce_are_those_of_memory(codes, inference, k, prior, monkeypatch):
    monkeypatch.setattr(bounds, "SAMPLE", 800)  # so that starts compete on some objects, and passes go over all
    monkeypatch.setattr(bounds, "BLOCK", 500)
    options = {"inference": inference, "prior": prior, "n_components": 9, "n_init": 2, "max_iter": 12}
    table = codes[:2500]
    wanted = cs.combine(table, k, "nbce", **options)
    assert wanted.estimator.n_iter_ > 1
    found = combine_tightly(table, "nbce", k=k, **options)
    assert_close(found, wanted)
    assert found.note.startswith(f"{found.n_clusters} clusters by NBCE ({inference}")


def test_bound_of_few_objects_needs_no_passes(codes):
    table = codes[:1500]
    options = {"inference": "vb", "n_components": 8, "n_init": 1, "power": 0.7}
    assert_close(combine_tightly(table, "nbce", k=None, **options), cs.combine(table, None, "nbce", **options))


def test_a_mixture_fitted_to_all_objects_knows_labels_that_the_sample_lacks(codes, monkeypatch):
    monkeypatch.setattr(survey_module, "SAMPLE", 1500)
    table = codes.copy()
    table[11, 0] = 5
    options = {"n_components": 8, "n_init": 1}
    found = [combine_tightly(table, "nbce", size, k=None, **options) for size in (500, 6000)]
    assert_close(*found)
    wanted = cs.combine(table, None, "nbce", inference="vb", **options)
    assert found[0].n_clusters == wanted.n_clusters
    assert adjusted_rand(found[0].labels, wanted.labels) > 0.99


@pytest.mark.parametrize("some", [20_000, 100])  # rows on which starts of k-means compete
def test_eigenvectors_of_clusters_place_all_objects(codes, some, monkeypatch):
    monkeypatch.setattr(transfer_cut, "SAMPLE", some)
    table = np.where(np.random.default_rng(2).random(codes.shape) < 0.4, codes[::-1], codes)  # hard to tell apart
    found, wanted = combine_tightly(table, "lwgp", theta=0.3), cs.combine(table, 5, "lwgp", theta=0.3)
    assert_close(found, wanted)


@pytest.mark.parametrize("sample", [100_000, 1500])
def test_quadratic_consensus_is_k_means_of_all_objects(codes, sample, monkeypatch):
    monkeypatch.setattr(survey_module, "SAMPLE", sample)
    found, other = (combine_tightly(codes, "quadratic", size) for size in (500, 6000))
    np.testing.assert_array_equal(found.labels, other.labels)
    known = found.labels >= 0
    views, labels = label_views(codes[known]), found.labels[known].astype(np.int32)
    nearest = batch_scores(views, labels, 5, "quadratic")
    np.testing.assert_allclose(nearest[np.arange(len(labels)), labels], nearest.max(axis=1), atol=1e-12)
    wanted = cs.combine(codes, 5, "quadratic")
    objective = objective_of(views, labels, 5, objective="quadratic")
    assert objective > 0.999 * wanted.estimator.objective_
    assert adjusted_rand(found.labels, wanted.labels) > 0.98
    np.testing.assert_allclose(found.membership[known].sum(axis=1), 1)
    np.testing.assert_allclose(found.membership[known][np.arange(len(labels)), labels], found.confidence[known])


def test_vote_differs_only_in_ties(codes):
    wanted, found = cs.combine(codes, 5, "vote"), combine_tightly(codes, "vote")
    moved = wanted.labels != found.labels
    assert moved.mean() < 0.01
    np.testing.assert_allclose(found.membership[moved].max(axis=1), wanted.membership[moved].max(axis=1))
    np.testing.assert_allclose(found.membership[~moved], wanted.membership[~moved], atol=1e-9)


def test_clusterings_that_err_alike_have_the_discounted_confidence(codes):
    hard = np.random.default_rng(0).random(len(codes)) < 0.3
    easy, wild = (noisy_labels(6000, 5, 12, noise, random_state=1)[0].labels for noise in (0.1, 0.8))
    table = np.where(hard[:, None], wild, easy)  # all are wrong about the same objects
    found = combine_tightly(table, "mcla")
    problem = check_problem(table, 5)
    rows = found.labels[problem.first]
    wanted = problem.to_objects(cluster_posterior(problem, rows)[np.arange(len(rows)), rows], 0.0)
    np.testing.assert_allclose(found.confidence, wanted, atol=1e-9)
    assert combine_tightly(table).method == "mcla"
    assert "walk needs the distinct rows" in combine_tightly(table).note


@pytest.mark.parametrize("rows", [2000, 500])  # that starts compete on
def test_em_goes_over_all_objects_as_in_memory(codes, rows, monkeypatch):
    for module in (label_tables, mixture):
        monkeypatch.setattr(module, "SAMPLE", rows)
    table = np.where(np.random.default_rng(2).random(codes.shape) < 0.3, codes[::-1], codes)  # takes some passes
    table[[7, 4000]] = -1
    wanted = cs.combine(table, 5, "mixture", smoothing=0.5)
    assert wanted.estimator.n_iter_ > 5
    assert_close(combine_tightly(table, "mixture", smoothing=0.5), wanted)
    assert "EM has not converged" in combine_tightly(table, "mixture", smoothing=0.5, max_iter=2).note


@pytest.mark.parametrize("method", ["mcla", "dawid_skene", "vote", "lwgp", "mixture"])
def test_a_sample_stands_for_the_rows_where_they_are_many(codes, method, monkeypatch):
    monkeypatch.setattr(survey_module, "SAMPLE", 1500)
    table = codes.copy()
    table[11, 0] = 5  # a label that the sample lacks
    table = table.astype(str).astype(object)
    table[codes < 0] = None
    found = [combine_tightly(table, method, size) for size in (500, 6000)]
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    np.testing.assert_allclose(found[0].confidence, found[1].confidence, atol=1e-12)
    wanted = cs.combine(table, 5, method)
    assert adjusted_rand(found[0].labels, wanted.labels) > 0.97
    assert abs(found[0].mean_confidence - wanted.mean_confidence) < 0.02


def test_tables_of_parts_are_added_up_as_they_come(codes):
    living, most = [], []

    class Slowly(Here):
        def each(self, function, parts, shared, more):
            for found in super().each(function, parts, shared, more):
                if isinstance(found, tuple) and len(found) == 3:
                    living.append(weakref.ref(found[0]))
                    most.append(sum(one() is not None for one in living))
                yield found

    blocks, many = in_blocks(codes, 100), {"random_state": 0, "n_jobs": None, "verbose": 0}
    answer_by_tables(blocks, Slowly(), method="mcla", n_clusters=5, how=many, options={}, check=lambda n_objects: None)
    assert len(most) > 50
    assert max(most) < 6


def test_written_and_read_again(codes, tmp_path):
    wanted = cs.combine(codes, 5, "mcla")
    found = combine_tightly(codes, "mcla", output=tmp_path / "out")
    assert isinstance(found, WrittenConsensus)
    assert (found.n_objects, found.n_without_labels, found.n_floaters) == (6000, 2, wanted.n_floaters)
    assert found.mean_confidence == pytest.approx(wanted.mean_confidence, abs=1e-9)
    assert_close(found, wanted)


def test_a_number_of_clusters_is_chosen_by_the_sample():
    table = noisy_labels(3000, 4, 12, 0.3, random_state=2)[0].labels
    wanted = cs.combine(table, "auto", "mcla")
    found = combine_tightly(table, "mcla", k="auto")
    assert (found.n_clusters, found.scales) == (wanted.n_clusters, None)
    assert wanted.note.partition(";")[0] in found.note
    few = combine_tightly(np.random.default_rng(0).integers(0, 60, (4000, 3)), "mcla", k="auto")
    assert "60 clusters, the median of the clusterings, since fewer than four clusterings" in few.note
    np.testing.assert_array_equal(found.labels, wanted.labels)


@pytest.mark.parametrize("gap", ["all", 0, 2, 6])
def test_seeds_are_those_of_memory_however_few_rows_are_counted(monkeypatch, gap):
    table = noisy_labels(6000, 5, 8, 0.3, random_state=1)[0].labels.copy()
    wanted = cs.combine(table, 5, "sccc", gap=gap)
    for places, heaviest in ((20, 2**14), (8, 20), (3, 1)):  # the last find hardly a seed in two passes
        monkeypatch.setattr(seeding, "PLACES", places)
        monkeypatch.setattr(seeding, "HEAVIEST", heaviest)
        if heaviest == 1:
            with pytest.raises(InputError, match="too many and too rare to rank without all distinct rows"):
                combine_tightly(table, "sccc", gap=gap)
        else:
            assert_close(combine_tightly(table, "sccc", size=900, gap=gap), wanted)


@pytest.mark.parametrize(("heaviest", "gaps"), [(2**14, range(7)), (2, range(2))])
def test_seeds_of_every_gap_are_the_heaviest_rows_far_from_earlier_ones(monkeypatch, heaviest, gaps):
    """Against going down the list of all rows, with ties by their codes."""
    monkeypatch.setattr(seeding, "HEAVIEST", heaviest)
    table = noisy_labels(3000, 4, 6, 0.25, random_state=3)[0].labels
    blocks = in_blocks(table)
    found = seeding.find_seeds(blocks, Here(), survey(blocks, Here()), 4, gaps)
    rows, counts = np.unique(table, axis=0, return_counts=True)
    for gap in gaps:
        seeds = []
        for row in rows[np.lexsort([*rows.T[::-1], -counts])]:
            if len(seeds) < 4 and all((row != seed).sum() >= max(gap, 1) for seed in seeds):
                seeds.append(row)
        assert (gap in found) == (len(seeds) == 4)
        if gap in found:
            np.testing.assert_array_equal(found[gap], seeds)


def test_seeds_where_a_block_has_no_rows():
    table = noisy_labels(3000, 4, 6, 0.25, random_state=3)[0].labels
    blocks = LabelBlocks([table[:1500], table[:0], table[1500:]])
    found = cs.combine(blocks, 4, "sccc", memory_limit=LITTLE + 40 * len(table))
    np.testing.assert_array_equal(found.labels, combine_tightly(table, "sccc", k=4).labels)


def test_seeds_of_many_gaps_take_little_memory(monkeypatch):
    """Only a few gaps have tables at the same time; the seeds are far down, so that most gaps go on after the first pass."""
    monkeypatch.setattr(seeding, "HEAVIEST", 20)
    rows = np.random.default_rng(0).integers(0, 4, (60, 60))
    rows[:30] = rows[0] ^ np.eye(30, 60, dtype=int)  # the heaviest differ in two clusterings
    table = np.repeat(rows, np.arange(100, 40, -1), axis=0)
    blocks = in_blocks(table, 3000)
    seen = survey(blocks, Here())
    tracemalloc.start()
    try:
        found = seeding.find_seeds(blocks, Here(), seen, 6, range(1, 61))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 20 < len(found) < 60
    assert peak < 120e6


def test_threads_do_not_matter(codes):
    assert_close(combine_tightly(codes, n_jobs=2), combine_tightly(codes))


def test_what_needs_distinct_rows_says_so(codes, monkeypatch):
    known = r"name a method that works by tables \(mcla, dawid_skene, vote, nbce, quadratic, lwgp, mixture, sccc\)"
    with pytest.raises(InputError, match=rf"and lwea links the distinct rows in a tree: .*{known}"):
        combine_tightly(codes, "lwea")
    with pytest.raises(InputError, match="some labels are missing, and SCCC then needs the distinct rows"):
        combine_tightly(codes, "sccc")
    assert set(NEEDS_ROWS) | set(BY_TABLES) == set(METHODS)
    with pytest.raises(InputError, match="NBCE by Gibbs sampling moves single objects and needs the distinct rows"):
        combine_tightly(codes, "nbce")
    monkeypatch.setattr(survey_module, "_count_part", None)  # all else is said before labels are read again
    wide = np.random.default_rng(0).integers(0, 200, (3000, 6))
    with pytest.raises(InputError, match="clusters together, and tables of all pairs have room for 1,000"):
        combine_tightly(wide, "mcla")
    with pytest.raises(InputError, match=r"objects have no room .* give output="):
        cs.combine(in_blocks(codes), 5, "mcla", memory_limit=FIXED + 1000)
