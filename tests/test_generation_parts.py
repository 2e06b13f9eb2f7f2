"""The parts of generation that stand alone: scaling of distances, spectral clustering, killed runs."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

import consilience as cs
from consilience.ensemble.store import Store
from consilience.generation.methods.mds import embed
from consilience.generation.methods.spectral import spectral_run
from consilience.measures import adjusted_rand


def stress_of(columns, D):
    """Eq. 2 of Caruana et al. 2006, pair by pair."""
    i, j = np.triu_indices(len(D), 1)
    made = np.linalg.norm(columns[i] - columns[j], axis=1)
    return (np.square(made - D[i, j]) / D[i, j]).sum() / D[i, j].sum()


def test_euclidean_distances_are_recovered():
    X = np.random.default_rng(0).normal(size=(60, 3))
    D = squareform(pdist(X))
    columns, stress = embed(D, 3)
    np.testing.assert_allclose(cdist(columns, columns), D, atol=1e-3)
    assert stress < 1e-6
    assert (np.diff(columns.var(axis=0)) < 0).all()


def test_the_descent_goes_down_to_a_minimum_of_its_own_formula():
    rng = np.random.default_rng(1)
    D = squareform(np.abs(rng.normal(1, 0.4, 45)) + 0.1)
    columns, stress = embed(D, 2, max_iter=5000, tolerance=1e-13)
    assert stress == pytest.approx(stress_of(columns, D), rel=1e-9)
    assert stress < embed(D, 2, max_iter=3)[1] < embed(D, 2, max_iter=1)[1]
    for _ in range(20):
        assert stress_of(columns + rng.normal(0, 1e-3, columns.shape), D) > stress - 1e-9


def test_equal_objects_do_not_break_the_scaling():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 3, axis=0)
    columns, stress = embed(squareform(pdist(X)), 2)
    assert np.isfinite(columns).all()
    assert stress < 1e-4


def test_spectral_finds_rings_that_k_means_cannot():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 300), np.repeat([1.0, 3.0], 150)
    rings = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(0, 0.05, (300, 2))
    found = spectral_run(rings, 2, 16.0, seed=0, unit=0).labels[0]
    assert adjusted_rand(radius.astype(int), found) == 1.0


def test_spectral_with_objects_like_no_other():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[1e4, 1e4], [-1e4, 3e4]]])
    labels = spectral_run(X, 3, 1e6, seed=0, unit=0).labels[0]
    assert labels.min() >= 0


PROGRAM = """
import sys, threading, numpy as np, consilience as cs
from consilience.ensemble.store import Store

append = Store.append

def append_and_stop(store, *args, **how):
    append(store, *args, **how)
    print("a part is written", flush=True)
    threading.Event().wait()

Store.append = append_and_stop
cs.generate(np.random.default_rng(0).normal(size=(300, 5)), 60, 4, "zipf+pca+objects", random_state=5, store=sys.argv[1])
"""


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path):
    """Killed after its first part, however fast the machine is; at random moments: `make faults`."""
    run, X = tmp_path / "run", np.random.default_rng(0).normal(size=(300, 5))
    with subprocess.Popen([sys.executable, "-c", PROGRAM, run], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("a part")
        process.kill()
    assert 0 < Store.open(run).n_clusterings < 60
    resumed = cs.generate(X, 60, 4, "zipf+pca+objects", random_state=5, store=run)
    whole = cs.generate(X, 60, 4, "zipf+pca+objects", random_state=5)
    np.testing.assert_array_equal(resumed.labels, whole.labels)
