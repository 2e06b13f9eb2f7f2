"""A consensus with more clusterings, or more objects: beside the same from scratch."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import ran, refused
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.generation import METHODS as GENERATION
from consilience.generation import extend
from consilience.measures import adjusted_rand, anmi
from samples import refuses


@pytest.fixture(scope="module")
def noisy():
    return noisy_labels(400, 5, 60, 0.3, random_state=0)


@pytest.fixture(scope="module")
def before(noisy):
    return cs.combine(noisy[0][:, :50], 5, random_state=0)


def test_more_clusterings_give_what_starting_again_gives(noisy, before):
    ens, known = noisy
    found, anew = before.update(ens), cs.combine(ens, 5, random_state=0)
    assert adjusted_rand(found.labels, anew.labels) > 0.98
    assert adjusted_rand(found.labels, known) >= adjusted_rand(before.labels, known) - 0.01
    numbers = pd.crosstab(found.labels, anew.labels).to_numpy().argmax(axis=1)
    same = numbers[found.labels] == anew.labels
    assert same.mean() > 0.98
    np.testing.assert_allclose(found.support[same], anew.support[same], atol=0.05)
    assert found.anmi == pytest.approx(anmi(ens, found.labels))
    assert np.abs(found.confidence - anew.confidence).mean() < 0.05
    assert found.names == ens.names
    assert found.members["clustering"].tolist() == ens.names
    assert found.clusters["size"].tolist() == found.sizes.tolist()


def test_clusters_keep_their_numbers(noisy, before):
    """Though the smallest becomes the largest: yesterday's labels can be joined with today's."""
    old = noisy[0].labels[:, :50]
    last = old[before.labels == before.n_clusters - 1]
    found = before.update(cs.Ensemble(np.vstack([old, last, last, last])))
    assert found.sizes.argmax() == before.n_clusters - 1
    assert found.labels[: len(old)].tolist() == before.labels.tolist()


@pytest.mark.parametrize("method", ["walk", "vote", "evidence"])
def test_without_anything_new_nothing_changes(method):
    """Though the votes would move some objects: clusters of a cloud are not where most votes are."""
    X = np.random.default_rng(0).normal(size=(150, 3))
    ens = cs.generate(X, 20, (3, 9), "minima", random_state=0, progress=False)
    before = cs.combine(ens, 5, method, random_state=0)
    found = before.update(ens)
    np.testing.assert_array_equal(found.labels, before.labels)
    np.testing.assert_allclose(found.confidence, before.confidence, atol=1e-12)
    np.testing.assert_allclose(found.support, before.support, atol=1e-12)
    assert found.anmi == pytest.approx(before.anmi)
    assert "0 objects moved" in found.note


def test_many_new_clusterings_can_overrule_the_old_ones():
    truth = np.repeat([0, 1, 2], 40)
    wrong = truth.copy()
    wrong[[0, 1, 2]] = 1  # what the first five believe
    labels = np.column_stack([wrong] * 5 + [truth] * 8)
    before = cs.combine(labels[:, :5], 3)
    assert adjusted_rand(before.labels, wrong) == 1
    found = before.update(labels)
    assert adjusted_rand(found.labels, truth) == 1
    assert "3 objects moved" in found.note
    assert found.support[:3] == pytest.approx(8 / 13)
    few = before.update(labels[:, :9])  # four against five
    assert adjusted_rand(few.labels, wrong) == 1


def test_new_objects_are_placed(noisy):
    ens, known = noisy
    before = cs.combine(ens[:300], 5, random_state=0)
    found = before.update(ens)
    np.testing.assert_array_equal(adjusted_rand(found.labels[:300], before.labels), 1)
    assert adjusted_rand(found.labels[300:], known[300:]) > 0.9
    assert (found.confidence[300:] > 0).all()
    assert "100 new ones placed" in found.note
    both = cs.combine(ens[:300, :50], 5, random_state=0).update(ens)  # more clusterings too
    assert adjusted_rand(both.labels, known) > 0.9


def test_objects_and_clusterings_are_known_by_their_names(noisy):
    labels = pd.DataFrame(noisy[0].labels, index=[f"o{i}" for i in range(400)]).add_prefix("c")
    before = cs.combine(cs.Ensemble(labels.iloc[:300, :40]), 5, random_state=0)
    order = np.random.default_rng(0).permutation(400)
    shuffled = labels.iloc[order, ::-1]
    one, other = before.update(cs.Ensemble(labels)), before.update(cs.Ensemble(shuffled))
    assert adjusted_rand(one.labels[order], other.labels) == 1
    np.testing.assert_allclose(one.support[order], other.support)


def test_new_clusterings_without_labels_count_for_nothing(noisy, before):
    nothing = np.full((400, 1), -1)
    for labels, without in ((noisy[0].labels[:, :50], before), (noisy[0].labels, before.update(noisy[0]))):
        found = before.update(np.column_stack([labels, nothing]))
        assert found.anmi == pytest.approx(without.anmi)
        np.testing.assert_array_equal(found.labels, without.labels)
        assert "1 new clustering without labels" in found.note
        assert "nan" not in repr(found)


def test_what_is_not_the_same_is_refused(noisy, before):
    ens = noisy[0]
    refuses("20 clusterings of the answer are not there, such as '30'", before.update, ens[:, :30])
    refuses("400 objects, and the clusterings 300", before.update, ens[:300])
    shuffled = cs.Ensemble(ens.labels[::-1])
    refuses("do not support the answer as they did", before.update, shuffled)
    strange = np.column_stack([ens.labels[:, :50], np.random.default_rng(0).integers(0, 5, (400, 10))])
    assert "agreeing with no other: 50, 51" in before.update(strange).left_out


def test_saved_and_updated_again(noisy, before, tmp_path):
    ens = noisy[0]
    before.save(tmp_path / "first")
    second = cs.consensus.Consensus.load(tmp_path / "first").update(ens[:, :55])
    second.save(tmp_path / "second")
    third = cs.consensus.Consensus.load(tmp_path / "second").update(ens)
    assert third.note.count("updated from") == 1
    assert adjusted_rand(third.labels, before.update(ens).labels) > 0.99


def test_on_the_command_line(noisy, tmp_path):
    frame = pd.DataFrame(noisy[0].labels).add_prefix("c").rename_axis("id")
    frame.iloc[:, :50].to_csv(tmp_path / "few.csv")
    frame.to_csv(tmp_path / "more.csv")
    ran("combine", tmp_path / "few.csv", "-k", 5, "--save", tmp_path / "first")
    out = tmp_path / "out.csv"
    update = ("combine", tmp_path / "more.csv", "--update", tmp_path / "first")
    done = ran(*update, "-o", out, "--save", tmp_path / "second", "-v")
    assert "updated from 50 clusterings to 60" in done.stdout
    assert set(pd.read_csv(out)["cluster"]) == set(range(5))
    assert "--n-clusters is that of the consensus" in refused(*update, "-k", 4)


def test_clusterings_of_a_run_take_more_objects(tmp_path):
    X, known = gaussians_8d5k(300, random_state=0)
    ens = cs.generate(X[:200], 20, (4, 8), "minima+pca+features", store=tmp_path / "run", progress=False)
    more = extend(tmp_path / "run", X[:200], X[200:])
    np.testing.assert_array_equal(more.labels[:200], ens.labels)
    np.testing.assert_array_equal(extend(ens, X[:200], X[:50]).labels[200:], ens.labels[:50])
    found = cs.combine(ens, 5).update(more)
    assert adjusted_rand(found.labels[200:], known[200:]) > 0.9
    assert more.info["settings"].equals(ens.info["settings"])
    other = X[:200].copy()
    other[7, 3] += 0.001  # a run in the store knows its data to the last cell
    for source, wrong in ((ens, X[::-1][:200]), (tmp_path / "run", other)):
        refuses("is it the data", extend, source, wrong, X[200:])
    refuses("200 objects, and the data has 300", extend, ens, X, X)
    refuses("8 columns, and the new objects have 3", extend, ens, X[:200], X[200:, :3])
    refuses(r"has no 'method'|only one made by generate", extend, cs.Ensemble(ens.labels), X[:200], X[200:])


@pytest.mark.parametrize("methods", sorted(GENERATION))
def test_other_data_than_that_of_the_clusterings_is_refused(methods):
    X, _ = gaussians_8d5k(150, random_state=0)
    ens = cs.generate(X, 2, 2 if methods == "minima" else 5, methods, progress=False)
    assert extend(ens, X, X[:10]).n_objects == 160
    refuses("is it the data", extend, ens, X[np.random.default_rng(0).permutation(150)], X[:10])
