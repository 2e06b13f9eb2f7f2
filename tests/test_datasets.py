import numpy as np
import pandas as pd

from consilience.datasets import load_beads, load_beads_labels, make_beads, sample_path
from consilience.measures import accuracy


def test_the_bundled_beads_are_of_the_kind_that_the_function_draws():
    bundled, drawn = pd.read_csv(sample_path("beads.csv")), make_beads(3000)
    assert bundled.dtypes.equals(drawn.dtypes)
    for name in bundled.select_dtypes("number"):
        for shape in ("ball", "disc", "tube"):
            ours, theirs = bundled[name][bundled["shape"] == shape], drawn[name][drawn["shape"] == shape]
            assert abs(ours.mean() - theirs.mean()) < 0.5 * ours.std(), (name, shape)


def test_beads_have_two_independent_groupings_and_clusterings_find_either():
    beads = load_beads()
    assert beads.values.shape == (300, 8)
    assert accuracy(beads.labels["shape"], beads.labels["color"]) < 0.5
    beads, ens = load_beads(), load_beads_labels()
    assert list(ens.ids) == list(beads.ids)
    by_name = dict(zip(ens.info["name"], ens.labels.T, strict=True))
    assert accuracy(beads.labels["shape"], by_name["form1"]) > 0.95
    assert accuracy(beads.labels["color"], by_name["color1"]) > 0.9
    assert np.count_nonzero(ens.coverage < 1) == 4


def test_other_seeds_and_sizes():
    assert len(make_beads(50, random_state=1)) == 50
    assert not make_beads(50, random_state=1).equals(make_beads(50, random_state=2))
