"""One consensus: what `combine` gives is what every verb says that clusterings agree on."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._run.random import child_seed
from consilience.blocks import LabelBlocks
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.inputs import open_source
from consilience.reports.report import make_report
from explorer_cases import arrays, codes
from papers.bekkerman2009.data import draw_documents


def blobs(n=300):
    return gaussians_8d5k(n, random_state=0)[0]


def with_gaps():
    """k-means at several k, each without the labels of a fifth of the objects."""
    ens = cs.generate(blobs(), 12, (2, 9), random_state=1, progress=False)
    labels = ens.labels.copy()
    labels[np.random.default_rng(0).random(labels.shape) < 0.2] = -1
    return cs.Ensemble(labels)


def tools_and_junk():
    """What six tools found, two of them the same, beside shuffled labels."""
    labels = noisy_labels(300, 4, 5, 0.2, random_state=0)[0].labels.T
    found = [*labels, labels[1], np.random.default_rng(0).permutation(labels[0])]
    return dict(zip(["kmeans", "ward", "gmm", "spectral", "leiden", "birch", "shuffled"], found, strict=True))


ENSEMBLES = {
    "k-means at many k": lambda: cs.generate(blobs(), 30, (2, 15), random_state=0, progress=False),
    "noisy copies": lambda: noisy_labels(300, 5, 12, 0.25, random_state=0)[0],
    "Leiden": lambda: cs.generate(blobs(), 8, methods="graph", random_state=0, progress=False),
    "gaps": with_gaps,
    "tools and junk": lambda: cs.Ensemble(tools_and_junk()),
    "20,000 x 20": lambda: noisy_labels(20_000, 6, 20, 0.3, random_state=0)[0],
}


@pytest.fixture(scope="module", params=list(ENSEMBLES))
def combined(request):
    ens = ENSEMBLES[request.param]()
    return ens, cs.combine(ens)


def assert_same(labels, consensus):
    np.testing.assert_array_equal(labels, consensus.labels)
    assert labels.max() + 1 == consensus.n_clusters


def test_organize_and_report_and_explorer(combined):
    ens, consensus = combined
    meta = cs.organize(ens, 2, progress=False)
    assert_same(meta.consensus().labels, consensus)
    opened = open_source(ens)
    assert_same(make_report(opened.result, opened.provenance, n_groups=2).consensus.labels, consensus)
    m = ens.n_clusterings
    _, sent = arrays(Api(Session(meta)), f"labels/{m}.{2 * m - 2}c")
    assert_same(codes(sent["labels"][0]), consensus)


def test_row_blocks(combined):
    ens, consensus = combined
    third = ens.n_objects // 3
    frame = pd.DataFrame(ens.labels, columns=ens.names)
    blocks = LabelBlocks([frame[:third], frame[third:]])
    assert_same(cs.combine(blocks).labels, consensus)


@pytest.mark.parametrize("n_clusters", [5, None, "auto"])
def test_clusterer(n_clusters):
    model = cs.EnsembleClusterer(n_clusters, n_clusterings=20, base_n_clusters=(2, 9), random_state=0).fit(blobs())
    seed = child_seed(0, "clusterer.consensus")
    assert_same(model.labels_, cs.combine(model.ensemble_, model.n_clusters_, random_state=seed))


def test_agreement():
    found = cs.agree(draw_documents(60, 80, 3).counts, 3, 12, n_clusterings=3, max_iter=2, random_state=0)
    opened = open_source(found)
    report = make_report(opened.result, opened.provenance)
    assert_same(report.consensus.labels, cs.combine(found.after.rows))
