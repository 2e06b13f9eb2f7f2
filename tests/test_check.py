"""Checks that are not about labels: choices, threads, seeds, fingerprints, text to show."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience._check import InputError, check_choice, check_seed, count, fingerprint, printable, show
from consilience._run.parallel import n_threads

# --- choices --------------------------------------------------------------------------------------------------------


def test_a_choice_is_given_back():
    assert check_choice("rand", ["nmi", "rand"], "measure") == "rand"
    assert check_choice("rand", {"nmi": 1, "rand": 2}, "measure") == "rand"
    assert check_choice("rand", (name for name in ["nmi", "rand"]), "measure") == "rand"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("ran", r"^unknown measure 'ran': did you mean 'rand'\? choose from nmi, rand$"),
        ("zzz", r"^unknown measure 'zzz': choose from nmi, rand$"),
        (None, r"^unknown measure None: choose from nmi, rand$"),
        (3, r"^unknown measure 3: choose from nmi, rand$"),
    ],
)
def test_an_unknown_choice_is_answered_with_the_nearest(value, sentence):
    with pytest.raises(InputError, match=sentence):
        check_choice(value, ["nmi", "rand"], "measure")


def test_the_nearest_choice_is_found_in_any_case():
    with pytest.raises(InputError, match="did you mean 'nmi'"):
        check_choice("NMI", ["nmi", "rand"], "measure")


def test_numbers_in_messages_are_plain():
    assert show(np.float64(0.5)) == "0.5"
    assert show(np.int64(3)) == "3"
    assert show(np.str_("a\nb")) == r"'a\nb'"
    assert len(show("x" * 999)) < 70
    with pytest.raises(InputError, match=r"got 1\.5$"):
        n_threads(np.float64(1.5))
    with pytest.raises(InputError, match=r"got 1\.5$"):
        check_seed(np.float64(1.5))


@pytest.mark.parametrize(("number", "words"), [(0, "0 rows"), (1, "1 row"), (2000, "2,000 rows")])
def test_counts_in_words(number, words):
    assert count(number, "row") == words


def test_input_errors_are_value_errors():
    assert issubclass(InputError, ValueError)


# --- threads --------------------------------------------------------------------------------------------------------


def test_threads():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert n_threads(None) == 1
    assert n_threads(1) == 1
    assert n_threads(np.int64(5)) == 5
    assert n_threads(-1) == cores
    assert n_threads(-2) == max(1, cores - 1)
    assert n_threads(-10_000) == 1


@pytest.mark.parametrize("n_jobs", [0, True, False, 1.0, "2", [1]])
def test_refused_threads(n_jobs):
    with pytest.raises(InputError, match="n_jobs must be a whole number other than 0, or None; got"):
        n_threads(n_jobs)


@pytest.mark.parametrize("n_jobs", [2**31, 2**40])
def test_more_threads_than_a_kernel_can_count_are_refused_or_reduced(n_jobs):
    try:
        assert n_threads(n_jobs) < 2**31
    except InputError:
        return


# --- seeds ----------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_a_whole_number_is_its_own_seed(number):
    assert check_seed(number) == number
    assert check_seed(np.uint64(number)) == number
    assert type(check_seed(np.uint64(number))) is int


def test_whole_numbers_beyond_63_bits_are_refused_or_seeds_of_their_own():
    try:
        assert check_seed(2**63 + 5) != check_seed(5)
    except InputError:
        return


def test_none_is_fresh_each_time():
    seeds = {check_seed(None) for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_gives_its_next_number(make):
    generator, twin = make(0), make(0)
    seeds = [check_seed(generator) for _ in range(5)]
    assert len(set(seeds)) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert [check_seed(twin) for _ in range(5)] == seeds


@pytest.mark.parametrize("random_state", [-1, np.int64(-5)])
def test_negative_seeds_are_refused(random_state):
    with pytest.raises(InputError, match=f"random_state must not be negative; got {random_state}"):
        check_seed(random_state)


@pytest.mark.parametrize("random_state", [True, False, 1.0, "0", [0], np.random.SeedSequence(0)])
def test_refused_seeds(random_state):
    with pytest.raises(InputError, match="random_state must be None, a whole number or a NumPy generator"):
        check_seed(random_state)


# --- fingerprints ---------------------------------------------------------------------------------------------------

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


def test_fingerprints_tell_values_shapes_and_types_apart():
    base = np.arange(6.0)
    others = [
        np.nextafter(base, 9),
        base[::-1],
        base[:5],
        base.reshape(2, 3),
        base.reshape(3, 2),
        base.reshape(1, 6),
        base.astype(np.float32),
        base.astype(np.int64),
        base.astype(object),
        base.astype(str),
        sparse.csr_matrix(base),
        np.empty(0),
        np.empty((0, 6)),
    ]
    assert len({fingerprint(x) for x in [base, *others]}) == len(others) + 1


def test_fingerprints_tell_sparse_matrices_apart():
    base = sparse.csr_matrix([[0, 1.0, 0], [2.0, 0, 3.0]])
    others = [base * 2, base[:, ::-1], base[::-1], base[:, :2], base.astype(np.float32), sparse.csr_matrix((2, 3))]
    assert len({fingerprint(x) for x in [base, *others]}) == len(others) + 1


def test_fingerprints_of_several_arrays_keep_their_borders():
    a, b = np.arange(3), np.arange(4)
    prints = {fingerprint(a, b), fingerprint(b, a), fingerprint(a), fingerprint(np.r_[a, b]), fingerprint(a, b, a)}
    assert len(prints) == 5


def test_fingerprints_of_objects():
    def of(*values):
        array = np.empty(len(values), object)
        array[:] = values
        return fingerprint(array)

    assert of("a", "b") == of("a", "b")
    assert len({of("a", "b"), of("b", "a"), of("ab", ""), of("", "ab"), of("a", None), of("a")}) == 6


def test_fingerprints_of_texts_with_a_nul_keep_their_borders():
    assert fingerprint(np.array(["a\0", "b"], object)) != fingerprint(np.array(["a", "\0b"], object))


def test_fingerprint_of_a_number_differs_from_that_of_its_text():
    assert fingerprint(np.array([1], object)) != fingerprint(np.array(["1"], object))


def test_fingerprint_of_a_number_differs_from_that_of_a_vector_of_one():
    assert fingerprint(np.array(3.0)) != fingerprint(np.array([3.0]))


def unsorted_with_duplicates():
    """[[3, 0, 5]], with its entries out of order and one of them in two parts."""
    data, indices = np.array([5.0, 1.0, 2.0]), np.array([2, 0, 0], np.int32)
    return sparse.csr_matrix((data, indices, np.array([0, 3], np.int32)), shape=(1, 3))


def test_fingerprint_of_sparse_data_does_not_depend_on_how_it_is_held():
    plain = sparse.csr_matrix([[3.0, 0, 5.0]])
    expected = fingerprint(plain)
    assert fingerprint(unsorted_with_duplicates()) == expected
    assert fingerprint(plain.tocsc()) == fingerprint(plain.tocoo()) == expected
    assert fingerprint(sparse.csr_array(plain)) == expected
    wide = plain.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert fingerprint(wide) == expected


def test_fingerprint_of_sparse_data_does_not_depend_on_stored_zeros():
    stored = sparse.csr_matrix((np.array([3.0, 0.0, 5.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3))
    assert fingerprint(stored) == fingerprint(sparse.csr_matrix([[3.0, 0, 5.0]]))


def test_fingerprint_leaves_the_data_as_it_was():
    matrix = unsorted_with_duplicates()
    fingerprint(matrix)
    assert matrix.data.tolist() == [5, 1, 2]
    assert matrix.indices.tolist() == [2, 0, 0]
    assert matrix.indptr.tolist() == [0, 3]


def test_fingerprint_of_sparse_data_that_is_read_only():
    matrix = unsorted_with_duplicates()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    assert fingerprint(matrix) == fingerprint(unsorted_with_duplicates())


def test_what_a_terminal_would_obey_is_shown_as_a_replacement_character():
    assert printable("a\x1b]0;x\x07b\u202ec\ud800") == "a\ufffd]0;x\ufffdb\ufffdc\ufffd"
    assert printable("two\nlines\tkept") == "two\nlines\tkept"
    assert printable("two\nlines", keep="") == "two\ufffdlines"
