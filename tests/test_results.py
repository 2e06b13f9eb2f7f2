"""Result records: saved whole, opened again, equal only to themselves."""

import json
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience._check import InputError
from consilience._json import plain
from consilience.alternatives import alternatives
from consilience.datasets import load_beads, load_beads_labels
from consilience.ensemble import results
from consilience.ensemble.results import HEADER, Result, register, saved_kind
from samples import refuses


@register
@dataclass(frozen=True, eq=False)
class Inner:
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Everything(Result):
    _unsaved = ("estimator",)
    labels: np.ndarray
    frame: pd.DataFrame
    ensemble: cs.Ensemble
    inner: list[Inner]
    by_name: dict[Any, Any]
    ids: np.ndarray | None = None
    matrix: Any = None
    pair: tuple[Any, ...] = ()
    mean: float = 0.0
    estimator: Any = field(default=None)


def everything():
    frame = pd.DataFrame({"a": [1, 2], 3: ["x", None], "mixed": [1, "two"]}, index=pd.Index(["p", "q"], name="row"))
    return Everything(
        np.array([0, 1, -1], np.int32),
        frame,
        cs.Ensemble([["a", "b", "b"], [0, 1, None]], ids=["u", "v", "w"]),
        [Inner(np.arange(3.0)), Inner(np.eye(2))],
        {"jaccard": Inner(np.zeros(1)), 2: [1.5, None]},
        np.array(["u", "v", "w"], object),
        sparse.csr_matrix(np.eye(3)),
        (np.float64(0.5), "é"),
        float("nan"),
        object(),
    )


def test_every_kind_of_field_comes_back(tmp_path):
    made = everything()
    made.save(tmp_path / "found")
    found = Result.load(tmp_path / "found")
    assert type(found) is Everything
    assert found.labels.dtype == np.int32
    np.testing.assert_array_equal(found.labels, made.labels)
    pd.testing.assert_frame_equal(found.frame, made.frame, check_dtype=False)
    np.testing.assert_array_equal(found.ensemble.labels, made.ensemble.labels)
    assert found.ensemble.ids.tolist() == ["u", "v", "w"]
    np.testing.assert_array_equal(found.inner[1].values, np.eye(2))
    assert found.by_name[2] == [1.5, None]
    assert found.ids.tolist() == ["u", "v", "w"]
    np.testing.assert_array_equal(found.matrix.toarray(), np.eye(3))
    assert found.pair == (0.5, "é")
    assert np.isnan(found.mean)
    assert found.estimator is None
    assert saved_kind(tmp_path / "found") == "Everything"


def test_save_never_takes_the_place_of_anything_else(tmp_path):
    made = everything()
    made.save(tmp_path / "found")
    refuses("exists already", made.save, tmp_path / "found")
    made.save(tmp_path / "found", overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("precious")
    refuses("not a saved result", made.save, tmp_path / "mine", overwrite=True)


def test_what_cannot_be_saved_leaves_nothing(tmp_path):
    made = Everything(np.zeros(1), pd.DataFrame(), cs.Ensemble([[0, 1]]), [], {"f": print})
    refuses("cannot hold", made.save, tmp_path / "found")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / HEADER).unlink(), "holds no saved result"),
        (lambda folder: (folder / HEADER).write_text("{"), "not JSON"),
        (lambda folder: (folder / HEADER).write_text("[" * 100_000), "not JSON"),
        (lambda folder: (folder / HEADER).write_text("{}"), "not that of a saved result"),
        (lambda folder: (folder / results.ARRAYS).unlink(), "damaged"),
        (lambda folder: _edit(folder, version=99), "upgrade"),
        (lambda folder: _edit(folder, kind="Unheard"), "not known here"),
        (lambda folder: _edit(folder, fields={"frame": {"$": "ensemble", "file": "../x"}}), "damaged"),
        (lambda folder: _edit(folder, fields={}), "damaged"),
    ],
)
def test_damage_is_said_in_one_sentence(tmp_path, damage, message):
    everything().save(tmp_path / "found")
    damage(tmp_path / "found")
    with pytest.raises(InputError, match=message) as error:
        Result.load(tmp_path / "found")
    assert "\n" not in str(error.value)


def _edit(folder, **changes):
    header = json.loads((folder / HEADER).read_text())
    (folder / HEADER).write_text(json.dumps(header | changes))


def test_records_inside_others_are_brought_up_to_date_too(tmp_path):
    @dataclass(frozen=True, eq=False)
    class Renamed(Result):
        now: int

        @classmethod
        def _upgrade(cls, fields, version):
            return {"now": fields.pop("then"), **fields} if version == 1 else fields

    @dataclass(frozen=True, eq=False)
    class Holder(Result):
        inner: list[Renamed]

    Holder([Renamed(3)]).save(tmp_path / "found")
    assert Result.load(tmp_path / "found").inner[0].now == 3
    _edit(tmp_path / "found", version=1, fields={"inner": [{"$": "record", "kind": "Renamed", "fields": {"then": 4}}]})
    assert Result.load(tmp_path / "found").inner[0].now == 4


def test_load_of_another_kind_is_refused(tmp_path):
    @dataclass(frozen=True, eq=False)
    class Other(Result):
        pass

    everything().save(tmp_path / "found")
    refuses("holds a saved Everything, not a Other", Other.load, tmp_path / "found")
    refuses("not one table", Other().to_frame)


def test_a_name_belongs_to_one_class():
    def again():
        @dataclass(frozen=True, eq=False)
        class Defined(Result):
            pass

        return Defined

    assert again() is not again()  # the same one, defined anew, as by a cell of a notebook
    assert results.KINDS["Defined"].__qualname__.endswith("again.<locals>.Defined")
    kept = dict(results.KINDS)
    with pytest.raises(InputError, match=r"Inner is the name of .*test_results\.Inner: give .* another name"):
        register(dataclass(type("Inner", (), {"__qualname__": "elsewhere.Inner"})))
    refuses(r"Drift is the name of a record of consilience\.clusterer", register, dataclass(type("Drift", (), {})))
    assert kept == results.KINDS


def test_plain_is_json():
    pairs = {
        "1": (np.int64(3), 3),
        "nan": ([np.nan, np.inf, 1.5], [None, None, 1.5]),
        "frame": (pd.DataFrame({"a": [1, None]}), [{"a": 1.0}, {"a": None}]),
        "set": ({"b", "a"}, ["a", "b"]),
        "record": (Inner(np.array([True, False])), {"values": [True, False]}),
        "missing": (pd.NA, None),
        "big": (2**60, 2**60),
    }
    value = {int(key) if key == "1" else key: given for key, (given, _) in pairs.items()}
    assert plain(value) == {key: expected for key, (_, expected) in pairs.items()}
    assert plain(value, big_as_text=True)["big"] == str(2**60)
    json.dumps(plain(value), allow_nan=False)


def results_of_the_package():
    """One of every kind that is saved."""
    ens, beads = load_beads_labels(), load_beads()
    meta = cs.organize(ens, 3)
    yield from (meta, meta.map(), meta.null(beads.labels, n_shuffles=2), cs.combine(ens, 3, "vote"), cs.stability(ens))
    yield cs.compare(ens, "rand", known=beads.labels)
    yield cs.contrast(beads, beads.labels["shape"], 3, n_init=2)
    yield alternatives(beads, 1, n_clusters=3, n_init=2)
    yield cs.agree(np.kron([[3, 0], [0, 3]], np.ones((4, 6), int)), 2, n_clusterings=2, max_iter=1)


def test_every_result_of_the_package_is_saved_and_equal_only_to_itself(tmp_path):
    for number, made in enumerate(results_of_the_package()):
        kind = type(made)
        assert issubclass(kind, Result), kind
        assert kind.__eq__ is object.__eq__, kind
        made.save(tmp_path / str(number))
        found = Result.load(tmp_path / str(number))
        assert type(found) is kind
        assert repr(found) == repr(made)


def test_every_kind_names_its_owner():
    for kind, owner in results.OWNERS.items():
        found = getattr(import_module(owner), kind)  # some packages import their names when they are asked for
        assert results.KINDS.get(kind) is found
