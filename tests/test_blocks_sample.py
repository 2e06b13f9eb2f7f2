"""Labels whose distinct rows have no room: a method is fitted to a sample, and the other objects are placed."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.blocks import LabelBlocks, WrittenConsensus, passes, sample_and_place
from consilience.blocks.combining import FIXED
from consilience.consensus import METHODS, MajorityVote
from consilience.consensus.bayes import variational
from consilience.datasets import noisy_labels
from consilience.measures import adjusted_rand
from samples import refuses

OBJECTS, CLUSTERS = 1200, 4
NBCE = {"n_components": 6, "n_init": 1, "max_iter": 12}
OPTIONS = {"nbce": {**NBCE, "inference": "vb"}}
SLOW = ("anmi", "cspa", "hgpa", "bce")


@pytest.fixture(scope="module")
def codes():
    table = noisy_labels(OBJECTS, CLUSTERS, 8, 0.3, random_state=1)[0].labels.copy()
    table[::19, 3] = -1
    table[[7, 800]] = -1
    return table


def in_blocks(table, size=250):
    return LabelBlocks([table[i : i + size] for i in range(0, len(table), size)])


def combine_tightly(table, method="auto", size=250, k=CLUSTERS, **options):
    """With room for the answers, and for no more than a hundred distinct rows."""
    return cs.combine(in_blocks(table, size), k, method, memory_limit=FIXED + 50_000 + 40 * len(table), **options)


def assert_close(answer, wanted):
    np.testing.assert_array_equal(answer.labels, wanted.labels)
    for name in ("confidence", "support", "membership"):
        np.testing.assert_allclose(getattr(answer, name), getattr(wanted, name), atol=1e-6, err_msg=name)
    assert (answer.n_clusters, answer.method, answer.names) == (wanted.n_clusters, wanted.method, wanted.names)
    pd.testing.assert_frame_equal(answer.clusters, wanted.clusters, rtol=1e-9)
    pd.testing.assert_frame_equal(answer.members, wanted.members, rtol=1e-9)


@pytest.mark.parametrize("method", ["auto", *(method for method in METHODS if method not in ("vote", *SLOW))])
def test_a_sample_of_all_objects_has_the_answer_of_memory(codes, method):
    answer = combine_tightly(codes, method, **OPTIONS.get(method, {}))
    assert_close(answer, cs.combine(codes, CLUSTERS, method, **OPTIONS.get(method, {})))
    assert "the others are placed by their labels" in answer.note


@pytest.mark.parametrize("method", ["walk", "mcla", "dawid_skene", "lwea", "sccc", "vote", "mixture", "nbce"])
def test_the_rest_is_placed_whatever_the_blocks(codes, method, monkeypatch):
    monkeypatch.setattr(sample_and_place, "SAMPLE", 400)
    monkeypatch.setattr(sample_and_place, "CHUNK", 100)
    table = codes.astype(str).astype(object)
    table[codes < 0] = None
    table[11, 0] = "a label that the sample lacks"
    table[12] = [f"only here {j}" for j in range(8)]
    how = OPTIONS.get(method, {})
    answer, other = (combine_tightly(table, method, size, **how) for size in (90, OBJECTS))
    for name in ("labels", "confidence", "support", "membership"):
        np.testing.assert_allclose(getattr(answer, name), getattr(other, name), atol=1e-9, err_msg=name)
    wanted = cs.combine(codes, CLUSTERS, method, **how)
    assert adjusted_rand(answer.labels, wanted.labels) > 0.9
    assert abs(answer.mean_confidence - wanted.mean_confidence) < 0.03
    np.testing.assert_array_equal(np.flatnonzero(answer.labels < 0), [7, 800])
    np.testing.assert_array_equal(answer.clusters["size"], np.bincount(answer.labels[answer.labels >= 0]))
    assert (np.diff(answer.clusters["size"]) <= 0).all()
    there = answer.labels >= 0
    np.testing.assert_allclose(answer.membership[there].sum(axis=1), 1)


def test_passes_of_the_mixture_and_the_bound_go_over_all_objects(codes, monkeypatch):
    """From a start on a sample they end where those in memory do."""
    monkeypatch.setattr(sample_and_place, "SAMPLE", 900)
    mixture = {"tol": 1e-12, "max_iter": 500}
    wanted = cs.combine(codes, CLUSTERS, "mixture", **mixture)
    np.testing.assert_allclose(combine_tightly(codes, "mixture", **mixture).membership, wanted.membership, atol=1e-4)
    bound = {**NBCE, "inference": "vb", "max_iter": 300, "tol": 1e-10, "power": 0.7, "prior": "fsd"}
    wanted = cs.combine(codes, None, "nbce", **bound)
    answer = combine_tightly(codes, "nbce", k=None, **bound)
    assert (answer.labels == wanted.labels).mean() > 0.99


def test_starts_of_the_bound_compete_on_few_objects_as_in_memory(codes, monkeypatch):
    monkeypatch.setattr(variational, "SAMPLE", 500)
    monkeypatch.setattr(passes, "BLOCK", 300)
    how = {**NBCE, "inference": "vb"}
    assert_close(combine_tightly(codes, "nbce", k=None, **how), cs.combine(codes, None, "nbce", **how))


def test_a_method_from_outside_works_in_row_blocks(codes, monkeypatch):
    class Louder(MajorityVote):
        """A method that consilience does not know."""

    monkeypatch.setitem(METHODS, "louder", Louder)
    assert_close(combine_tightly(codes, "louder"), cs.combine(codes, CLUSTERS, "louder"))
    wanted = cs.combine(codes, CLUSTERS, "louder").labels
    np.testing.assert_array_equal(cs.combine(in_blocks(codes), CLUSTERS, "louder").labels, wanted)


def test_the_number_of_clusters_is_that_of_the_sample(codes):
    wanted, answer = cs.combine(codes, "auto"), combine_tightly(codes, k="auto")
    np.testing.assert_array_equal(answer.labels, wanted.labels)
    assert (answer.method, answer.scales, answer.scale_labels) == (wanted.method, None, None)
    assert wanted.note in answer.note


def test_written_and_read_again(codes, tmp_path):
    wanted = cs.combine(codes, CLUSTERS, "mcla")
    answer = combine_tightly(codes, "mcla", output=tmp_path / "out")
    assert isinstance(answer, WrittenConsensus)
    assert (answer.n_objects, answer.n_without_labels, answer.n_floaters) == (OBJECTS, 2, wanted.n_floaters)
    assert answer.mean_confidence == pytest.approx(wanted.mean_confidence, abs=1e-9)
    assert_close(answer, wanted)


def test_answers_that_have_no_room_are_refused_before_the_work(codes, monkeypatch):
    monkeypatch.setattr(sample_and_place, "_take", None)
    refuses(r"objects have no room .* give output=", cs.combine, in_blocks(codes), CLUSTERS, memory_limit=FIXED + 1000)
