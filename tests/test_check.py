"""Checks that are not about labels: choices, threads, seeds, fingerprints, text to show."""

import os

import numpy as np
import pytest
from scipy import sparse

from consilience._check import InputError, check_choice, check_seed, count, fingerprint, nearest, printable, show
from consilience._run.parallel import n_threads
from samples import refuses


@pytest.mark.parametrize("choices", [["nmi", "rand"], {"nmi": 1, "rand": 2}, iter(["nmi", "rand"])])
def test_a_choice_is_given_back(choices):
    assert check_choice("rand", choices, "measure") == "rand"


@pytest.mark.parametrize(("value", "near"), [("ran", "rand"), ("NMI", "nmi"), ("zzz", ""), (None, ""), (3, "")])
def test_an_unknown_choice_is_answered_with_the_nearest(value, near):
    with pytest.raises(InputError, match=r"choose from nmi, rand$") as refused:
        check_choice(value, ["nmi", "rand"], "measure")
    assert ("did you mean" in str(refused.value)) == bool(near)
    assert near in str(refused.value)


@pytest.mark.parametrize(("short", "name"), [("AMI", 2), ("ari", 1), ("vi", 3), ("adjusted rand", 1)])
def test_a_short_name_is_near_to_what_it_is_short_for(short, name):
    names = ["nmi", "adjusted_rand", "adjusted_mutual_information", "variation_of_information"]
    assert nearest(short, names) == [names[name]]
    assert nearest("Alter", ["salary", "a_l_t_e"], short_for=False) == []


def test_values_in_messages_are_plain_and_short():
    assert show(np.float64(0.5)) == "0.5"
    assert show(np.str_("a\nb")) == r"'a\nb'"
    assert len(show("x" * 999)) < 70
    assert [count(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
    assert printable("a\x1b]0;x\x07b\u202ec\ud800") == "a\ufffd]0;x\ufffdb\ufffdc\ufffd"
    assert printable("two\nlines\tkept") == "two\nlines\tkept"
    assert printable("two\nlines", keep="") == "two\ufffdlines"


def test_threads():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = [n_threads(n) for n in (None, 1, np.int64(5), -1, -2, -10_000)]
    assert found == [1, 1, 5, cores, max(1, cores - 1), 1]
    for refused in (0, True, False, 1.0, np.float64(1.5), "2", [1]):
        refuses("n_jobs", n_threads, refused)


@pytest.mark.parametrize("number", [0, 7, 2**63 - 1])
def test_a_whole_number_is_its_own_seed(number):
    assert check_seed(number) == check_seed(np.uint64(number)) == number
    assert type(check_seed(np.uint64(number))) is int


@pytest.mark.parametrize("make", [lambda _: None, np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_its_next_number_and_none_a_fresh_one(make):
    generator, twin = make(0), make(0)
    seeds = [check_seed(generator) for _ in range(5)]
    assert len(set(seeds)) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert ([check_seed(twin) for _ in range(5)] == seeds) == (generator is not None)


@pytest.mark.parametrize("seed", [-1, np.int64(-5), 2**63, True, 1.0, "0", [0], np.random.SeedSequence(0)])
def test_refused_seeds(seed):
    refuses("random_state must", check_seed, seed)


ARRAYS = {
    "floats": np.arange(6.0).reshape(2, 3),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "floats with NaN": np.array([0.0, np.nan]),
    "integers": np.arange(6).reshape(2, 3),
    "bytes": np.arange(6, dtype=np.uint8),
    "flags": np.array([True, False]),
    "texts": np.array(["a", "bc"]),
    "objects": np.array(["a", None, 3], object),
    "dates": np.array(["2020-01-01", "2021-01-01"], "M8[ns]"),
    "empty": np.empty((0, 3)),
    "csr": sparse.csr_matrix([[0, 1.0], [2.0, 0]]),
    "csc": sparse.csc_matrix([[0, 1.0, 3.0], [2.0, 0, 0]]),
}
every_array = pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)


@every_array
def test_equal_data_equal_fingerprint(array):
    print_ = fingerprint(array)
    assert len(print_) == 64
    assert int(print_, 16) >= 0
    assert fingerprint(array.copy()) == print_
    if not sparse.issparse(array):
        assert fingerprint(np.asfortranarray(array)) == print_
        assert fingerprint(np.repeat(array, 2, axis=0)[::2]) == print_


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


SIX, SPARSE = np.arange(6.0), sparse.csr_matrix([[0, 1.0, 0], [2.0, 0, 3.0]])
DIFFERENT = {
    "values": [SIX, np.nextafter(SIX, 9), SIX[::-1]],
    "shapes": [SIX, SIX[:5], SIX.reshape(2, 3), SIX.reshape(3, 2), SIX.reshape(1, 6), np.empty(0), np.empty((0, 6))],
    "types": [SIX, SIX.astype(np.float32), SIX.astype(np.int64), SIX.astype(object), SIX.astype(str)],
    "sparse": [SPARSE, SPARSE * 2, SPARSE[:, ::-1], SPARSE[::-1], SPARSE[:, :2], SPARSE.astype(np.float32),
               sparse.csr_matrix((2, 3)), SPARSE.toarray()],
    "objects": [objects(*some) for some in ("ab", "ba", ["ab", ""], ["", "ab"], ["a", None], "a", [1], ["1"])],
    "borders of text": [objects("a\0", "b"), objects("a", "\0b")],
    "a number and a vector": [np.array(3.0), np.array([3.0])],
}  # fmt: skip


@pytest.mark.parametrize("arrays", DIFFERENT.values(), ids=DIFFERENT)
def test_different_data_different_fingerprint(arrays):
    assert len({fingerprint(array) for array in arrays}) == len(arrays)


def test_fingerprints_of_several_arrays_keep_their_borders():
    a, b = np.arange(3), np.arange(4)
    prints = {fingerprint(a, b), fingerprint(b, a), fingerprint(a), fingerprint(np.r_[a, b]), fingerprint(a, b, a)}
    assert len(prints) == 5


def unsorted_with_duplicates():
    """[[3, 0, 5]], with its entries out of order and one of them in two parts."""
    data, indices = np.array([5.0, 1.0, 2.0]), np.array([2, 0, 0], np.int32)
    return sparse.csr_matrix((data, indices, np.array([0, 3], np.int32)), shape=(1, 3))


def test_fingerprint_of_sparse_data_does_not_depend_on_how_it_is_held():
    plain, mixed = sparse.csr_matrix([[3.0, 0, 5.0]]), unsorted_with_duplicates()
    wide = plain.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    zeros = sparse.csr_matrix((np.array([3.0, 0.0, 5.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    forms = [plain, mixed, plain.tocsc(), plain.tocoo(), sparse.csr_array(plain), wide, zeros]
    assert len({fingerprint(form) for form in forms}) == 1
    for part in (mixed.data, mixed.indices, mixed.indptr):
        part.flags.writeable = False
    assert fingerprint(mixed) == fingerprint(plain)
    assert (mixed.data.tolist(), mixed.indices.tolist()) == ([5, 1, 2], [2, 0, 0])
