"""Our place among the methods of a survey: by hand on a table of four methods and three sets."""

import json

import numpy as np

from benchmarks.survey import place, read_survey, report

SETS = ["IS", "LR", "VS"]
OURS = np.array([0.6, 0.4, 0.2])


def table(folder):
    """Columns in another order, and one of a set that is not asked for."""
    rows = [[0.3, 0.9, 0.7, 0.5], [0.1, 0.9, 0.5, 0.3], [0.19, 0.0, 0.62, None], [0.1, 0.0, None, None]]
    names = ["better everywhere", "worse everywhere", "above on one of two", "worse on one"]
    kept = {"datasets": ["VS", "other", "IS", "LR"], "methodLabels": names, "values": rows}
    (folder / "review-data.json").write_text(json.dumps({"matrix": {"mean": {"NMI": kept}}}))
    return read_survey(folder / "review-data.json", SETS)


def test_each_method_is_compared_on_the_sets_that_it_finished(tmp_path):
    names, values = table(tmp_path)
    np.testing.assert_equal(values[0], [0.7, 0.5, 0.3])
    np.testing.assert_equal(values[2], [0.62, np.nan, 0.19])
    found = place(values, OURS)
    np.testing.assert_allclose(found["mean"], [0.5, 0.3, 0.405, 0.1])
    np.testing.assert_allclose(found["beside"], [0.4, 0.4, 0.4, 0.2])
    assert [names[at] for at in found["above"]] == ["better everywhere", "above on one of two"]
    assert found["place"] == 3
    assert (found["place_of_whole"], found["n_whole"]) == (2, 2)
    assert found["place_by_set"].tolist() == [3, 2, 2]
    assert found["n_by_set"].tolist() == [3, 2, 4]
    text = report(names, SETS, values, OURS, formula=OURS - 0.05)
    assert text.startswith("place 3 of 5 by the sets that each finished; 2 of 3 among those that finished all")
    assert "| better everywhere | 3 | .500 | .400 |\n| above on one of two | 2 | .405 | .400 |" in text
    assert "worse everywhere" not in text
    assert "| place of `combine` | 3 of 4 | 2 of 3 | 2 of 5 | |" in text
