"""Many clusterings at once: flows, the consensus at several numbers of clusters, and stripes, against plain recomputation."""

from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.explorer.api import Api
from consilience.explorer.calls.label_stripes import Alignment, modes, spread
from consilience.explorer.session import Session
from consilience.measures import variation_of_information
from consilience.reports.plane import aligned as aligned_as_reports_do
from explorer_cases import arrays, ask, beads_ensemble, codes, finish, post


def root_of(api: Api, kind: str = "c") -> str:
    m = api.session.snapshot.n_clusterings
    return f"{m}.{2 * m - 2}{kind}"


def plain_table(a, b, ka, kb):
    table = np.zeros((ka + 1, kb + 1), int)
    for x, y in zip(a, b, strict=True):
        table[x if x >= 0 else ka, y if y >= 0 else kb] += 1
    return table.tolist()


def test_a_flow_counts_the_objects_of_every_two_neighbors_with_missing_labels(holes):
    labels = holes.session.snapshot.meta.ensemble.labels
    assert (labels[:, [4, 0, 10]] < 0).any()
    header, found = arrays(holes, "flow/4m,0m,10m")
    assert [one["ref"] for one in header["columns"]] == ["4m", "0m", "10m"]
    ks = [one["clusters"] for one in header["columns"]]
    assert ks == [int(labels[:, j].max()) + 1 for j in (4, 0, 10)]
    a, b, c = labels[:, [4, 0, 10]].T
    assert header["tables"] == [plain_table(a, b, *ks[:2]), plain_table(b, c, *ks[1:])]
    assert [one["n_missing"] for one in header["columns"]] == [int((labels[:, j] < 0).sum()) for j in (4, 0, 10)]
    np.testing.assert_array_equal(codes(found["labels"]), labels[:, [4, 0, 10]].T)


def test_an_arranged_flow_is_the_shortest_way_through_its_clusterings(api):
    leaves = [2, 11, 23, 37, 51]
    header, _ = arrays(api, "flow/" + ",".join(f"{leaf}m" for leaf in leaves), arrange=1)
    labels = beads_ensemble().labels

    def length(way):
        return sum(variation_of_information(labels[:, a], labels[:, b]) for a, b in pairwise(way))

    way = [int(one["ref"][:-1]) for one in header["columns"]]
    assert sorted(way) == leaves
    assert length(way) == pytest.approx(min(length(other) for other in permutations(leaves)), abs=1e-9)


@pytest.mark.slow
def test_scales_are_the_consensus_at_each_number_of_clusters(api):
    ref, meta = root_of(api), api.session.snapshot.meta
    header, found = arrays(api, f"scales/{ref}", most=7)
    assert [one["clusters"] for one in header["columns"]] == [2, 3, 4, 5, 6, 7]
    assert (header["usual"], header["size"]) == (4, 60)
    for row, column in zip(codes(found["labels"]), header["columns"], strict=True):
        k = column["clusters"]
        assert column["ref"] == f"{ref}{k}"
        np.testing.assert_array_equal(row, meta.consensus(n_clusters=k).labels)
        shown, one = arrays(api, f"labels/{column['ref']}")
        np.testing.assert_array_equal(codes(one["labels"])[0], row)
        assert shown["items"][0]["clusters"] == k
    assert header["tables"][0] == plain_table(*codes(found["labels"])[:2], 2, 3)


@pytest.mark.slow
def test_scales_by_a_job_are_there_for_those_who_ask(api):
    ref = root_of(api)
    job = post(api, "jobs", 202, kind="scales", ref=ref, most=9)
    done = finish(api, job["id"])
    assert (done["state"], done["done"], done["result"]) == ("done", done["total"], {"scales": ref})
    assert [one["clusters"] for one in arrays(api, f"scales/{ref}", most=9)[0]["columns"]] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_an_exported_scale_is_made_again_by_its_python(api):
    ref = root_of(api)
    reply = post(api, "export", format="python", items=[{"ref": f"{ref}6", "name": "six"}])
    node = ref.split(".")[1][:-1]
    assert f"consensus(tree_of_60.branch({node}), n_clusters=6).labels" in reply.body.decode()


def stripes_in_plain_words(api: Api, header, found):
    """The cells again, one by one."""
    labels = api.session.snapshot.meta.ensemble.labels
    consensus = codes(arrays(api, f"labels/{header['ref']}")[1]["labels"])[0]
    order, rows, columns = found["order"], found["rows"], found["columns"]
    members = found["members"]
    none = np.iinfo(found["slots"].dtype).max
    matched = np.stack([aligned_as_reports_do(labels[:, leaf], consensus) for leaf in members])
    for i, (low, high) in enumerate(pairwise(rows)):
        for j, (left, right) in enumerate(pairwise(columns)):
            cell = matched[low:high][:, order[left:right]].ravel()
            value = int(found["slots"][i, j])
            value = -1 if value == none else value
            share = (cell == value).mean()
            assert share == max((cell == one).mean() for one in set(cell.tolist()))
            assert found["shares"][i, j] == np.round(254 * share)
    return matched, consensus


@pytest.mark.parametrize("which", ["api", "holes"])
def test_stripes_are_the_modes_of_aligned_clusterings(request, which):
    api = request.getfixturevalue(which)
    header, found = arrays(api, f"stripes/{root_of(api)}", rows=7, columns=23)
    matched, consensus = stripes_in_plain_words(api, header, found)
    order, k = found["order"], header["clusters"]
    np.testing.assert_array_equal(np.sort(order), np.arange(len(consensus)))
    in_order = np.where(consensus[order] < 0, k, consensus[order])
    assert (np.diff(in_order) >= 0).all()
    tree = api.session.snapshot.newest
    np.testing.assert_array_equal(found["members"], tree.order)
    both = (matched >= 0) & (consensus >= 0)
    expected = [(row == consensus)[is_both].mean() for row, is_both in zip(matched, both, strict=True)]
    np.testing.assert_allclose(found["agreement"], expected, 1e-6)
    for row, member in enumerate(found["members"][:5]):
        own = api.session.snapshot.meta.ensemble.labels[:, member]
        there = matched[row] >= 0
        np.testing.assert_array_equal(found["own"][row, matched[row][there]], own[there])
        for cluster in range(k):
            inside = (consensus == cluster) & there
            assert found["kept"][row, cluster] == pytest.approx((matched[row][inside] == cluster).mean(), abs=1e-6)


def test_stripes_by_agreement_begin_with_those_most_like_the_consensus(api):
    header, found = arrays(api, f"stripes/{root_of(api)}", rows=100, columns=1000, by="agreement")
    assert found["slots"].shape == (60, 300)  # no more cells than there are clusterings and objects
    assert (np.diff(found["agreement"]) <= 1e-6).all()
    assert (found["shares"] == 254).all()
    stripes_in_plain_words(api, header, found)


def test_cells_cover_everything_once():
    for n, most in [(1, 5), (10, 3), (1000, 7), (5, 5)]:
        begins = spread(n, most)
        assert (begins[0], begins[-1]) == (0, n)
        assert np.diff(begins).min() >= 1
        assert np.ptp(np.diff(begins)) <= 1


def test_what_makes_no_sense_is_refused(api):
    root = root_of(api)
    wrong = {"flow/1m": "2 to 8", "flow/" + ",".join(f"{i}m" for i in range(9)): "2 to 8", "flow/1m,1m": "once"}
    wrong |= {"scales/3m": "branch", "stripes/3m": "branch", f"labels/{root}9999": "distinct rows"}
    absent = {"flow/1m,99m": "no clustering 99", f"labels/{root}1": "at least 2", "labels/3c4": "branch alone"}
    for path, words in (wrong | absent).items():
        assert words in ask(api, path, 404 if path in absent else 400)["error"], path
    for path, query in (
        ("flow/1m,2m", {"arrange": 2}),
        (f"scales/{root}", {"most": 2}),
        (f"stripes/{root}", {"by": "color"}),
        (f"stripes/{root}", {"rows": 0}),
    ):
        assert f"{next(iter(query))} must be" in ask(api, path, 400, **query)["error"]
    post(api, "jobs", 400, kind="scales", ref="3m")


def test_what_was_edited_by_hand_flows_but_is_no_branch(api):
    told = post(api, "edit", 200, ref="3m", do="rename", cluster="0", name="a", origin="")
    ref = told["edited"]["ref"]
    header, found = arrays(api, f"flow/3m,{ref}")
    assert header["columns"][1]["names"][0] == "a"
    np.testing.assert_array_equal(*codes(found["labels"]))
    for what in ("scales", "stripes"):
        assert "branch" in ask(api, f"{what}/{ref}", 400)["error"]


def test_two_clusterings_alike_have_one_scale():
    api = Api(Session(cs.Ensemble([[0, 0, 1, 1], [1, 1, 0, 0]])))
    header, _ = arrays(api, "scales/2.2c")
    assert [one["clusters"] for one in header["columns"]] == [2]


def test_the_table_of_a_row_of_stripes_is_not_passed_over_for_every_member() -> None:
    rng = np.random.default_rng(0)
    n, m = 300, 12
    for slots in (3, 40):  # fewer counts than objects, and more
        labels = rng.integers(0, slots, (m, n)).astype(np.uint16)
        aligned = Alignment(np.arange(m), [np.arange(slots)] * m, np.zeros((m, slots)), np.zeros(m))
        rows, columns = spread(m, 3), spread(n, 50)
        found, shares = modes(SimpleNamespace(encoded=labels), aligned, np.arange(n), rows, columns)
        for row, column in np.ndindex(found.shape):
            cell = labels[rows[row] : rows[row + 1], columns[column] : columns[column + 1]]
            counts = np.bincount(cell.ravel(), minlength=slots)
            assert found[row, column] == counts.argmax()
            assert shares[row, column] == np.round(254 * counts.max() / cell.size)
