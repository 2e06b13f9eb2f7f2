"""Checks of what users pass: it becomes what the rest can rely on, or one clear sentence."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unicodedata import bidirectional, category

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._run.random import fresh_seed

CHUNK = 4096  # safeguard: stored fingerprints depend on it; rows that enter one together, also of row blocks
ALIKE = 0.75  # safeguard: display; share of letters that a name has in common with what was written, to be suggested
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}  # Unicode's marks of direction


class InputError(ValueError):
    """What was given cannot be used; the message says what, where, and what to do."""


def show(value: Any, most: int = 60) -> str:
    """A value in a message: quoted, on one line, and short; NumPy's numbers as plain ones."""
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= most else f"{text[: most - 4]}…{text[0]}"


def printable(text: Any, keep: str = "\n\t") -> str:
    """Text for a terminal or a page: � for control characters, half characters and those that turn the direction."""
    refused = {x for x in str(text) if (category(x) in ("Cc", "Cs") and x not in keep) or bidirectional(x) in _TURNS}
    return "".join("\ufffd" if letter in refused else letter for letter in str(text))


def count(number: int, what: str) -> str:
    """A number of things in words: 1 clustering, 2,000 clusterings."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], most: int = 6) -> str:
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def kind_of(value: Any) -> str:
    """What was given, in words: None, a set, an Ensemble."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def nearest(value: Any, choices: Iterable[str], n: int = 1, *, short_for: bool = True) -> list[str]:
    """The choices most like `value`, whatever their case; those that it is `short_for` first, unless these are names that users gave."""
    import difflib

    word, folded = str(value).casefold(), {choice.casefold(): choice for choice in choices}
    if not short_for:
        return [folded[name] for name in difflib.get_close_matches(word, folded, n=n, cutoff=ALIKE)]
    initials = {name: "".join(part[0] for part in name.split("_") if part and part != "of") for name in folded}
    short = [name for name, letters in initials.items() if word == letters]
    short += [name for name, letters in initials.items() if word[:-1] == letters]  # … index, … score, … similarity
    found = [name for name in short if len(initials[name]) > 1] + difflib.get_close_matches(word, folded, n=n)
    return [folded[name] for name in dict.fromkeys(found)][:n]


def check_choice(value: str, choices: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `choices`; otherwise say which there are, and the nearest."""
    choices = list(choices)
    if isinstance(value, str) and value in choices:
        return value
    hint = "".join(f"did you mean {near!r}? " for near in nearest(value, choices))
    raise InputError(f"unknown {what} {show(value)}: {hint}choose from {', '.join(choices)}")


def is_number(value: Any) -> bool:
    """Whether it is a plain real number; True and False are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int = 1) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {show(value)}")
    return int(value)


def check_word(name: str, value: str, word: str = "auto", what: str = "a whole number") -> str:
    """Return a text that stands for a choice of ours, where a number may be given too."""
    if value != word:
        raise InputError(f"{name} must be {what} or {word!r}; got {show(value)}")
    return value


def check_positive(name: str, value: Any, *, above: float = 0.0, or_equal: bool = False) -> float:
    if not is_number(value) or not np.isfinite(value) or value < above or (value == above and not or_equal):
        bound = f"of at least {above:g}" if or_equal else f"above {above:g}"
        raise InputError(f"{name} must be a finite number {bound}; got {show(value)}")
    return float(value)


def check_share(name: str, value: Any) -> float:
    if not is_number(value) or not 0 < value <= 1:
        raise InputError(f"{name} must be a share above 0 and at most 1; got {show(value)}")
    return float(value)


def check_bool(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False; got {show(value)}")
    return bool(value)


def check_path(path: Any, what: str) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise InputError(f"{what} must be the path of a folder; got {show(path)}")
    return Path(path)


def check_seed(random_state: Any) -> int:
    """A 63-bit seed for `random_state`: None draws fresh entropy, an int is itself, generators give their next."""
    if random_state is None:
        return fresh_seed()
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(f"random_state must not be negative; got {random_state}")
        if random_state >= 2**63:
            raise InputError(f"random_state must be below 2**63; got {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**63 - 1, dtype=np.int64))
    raise InputError(f"random_state must be None, a whole number or a NumPy generator; got {show(random_state)}")


def fingerprint(*arrays: Any) -> str:
    """SHA-256 of shapes, types and values of dense or sparse arrays: equal data, equal fingerprint."""
    digest = hashlib.sha256()
    for array in arrays:
        for part in [np.asarray(array)] if not sparse.issparse(array) else _sparse_parts(array):
            if part.ndim == 2:
                chunks = (part[first : first + CHUNK] for first in range(0, len(part), CHUNK))
                _enter(digest, part.shape, part.dtype, map(chunk_digest, chunks))
            else:
                _enter(digest, part.shape, part.dtype, [_bytes_of(part)])
    return digest.hexdigest()


def fingerprint_of_chunks(shape: tuple[int, ...], dtype: Any, digests: Iterable[bytes]) -> str:
    """The :func:`fingerprint` of a dense array from the digests of its chunks of `CHUNK` rows, wherever these are."""
    digest = hashlib.sha256()
    _enter(digest, shape, np.dtype(dtype), digests)
    return digest.hexdigest()


def chunk_digest(rows: NDArray[Any]) -> bytes:
    """What of a chunk of rows enters the fingerprint of its array."""
    return hashlib.sha256(_bytes_of(rows)).digest()


def _enter(digest: Any, shape: tuple[int, ...], dtype: np.dtype[Any], digests: Iterable[bytes]) -> None:
    digest.update(repr((shape, dtype.str)).encode())
    for one in digests:
        digest.update(one)


def _sparse_parts(array: Any) -> list[NDArray[Any]]:
    """The CSR form without duplicates and stored zeros, in order; the caller's own stays as it was."""
    csr = sparse.csr_matrix(array, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return [np.array(csr.shape), csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)]


def _bytes_of(array: NDArray[Any]) -> bytes:
    if array.dtype != object:
        return np.ascontiguousarray(array).tobytes()
    # Objects have no bytes of their own worth hashing: their text does, each with its length, and apart from equal-looking numbers.
    texts = [f"{'text' if isinstance(value, str) else 'other'} {value}" for value in array.ravel()]
    return "".join(f"{len(text)} {text}" for text in texts).encode()


def check_labels(labels: Any, what: str = "the labels") -> NDArray[np.int32]:
    """One label vector as int32 codes 0 … k − 1, −1 where it is missing: the codes of :func:`encode_labels`."""
    return encode_labels(labels, what)[0]


def encode_labels(labels: Any, what: str = "the labels") -> tuple[NDArray[np.int32], NDArray[Any] | None]:
    """Codes 0 … k − 1 of one label vector, −1 where it is missing (−1, NaN, None, pandas NA, masked), and the labels by code.

    Codes follow the sorted order of the labels where they can be sorted, and of first appearance otherwise, so
    whole numbers 0 … k − 1 keep their numbers: instead of their names comes None.
    """
    words = getattr(getattr(labels, "dtype", None), "categories", None)
    if str(getattr(words, "dtype", "")) == "object" or getattr(words, "inferred_type", "") == "string":
        return _number_names(*_met(labels), what)
    values = _plain_values(labels, what)
    if values.ndim != 1:
        raise InputError(f"{what} must be one label per object; got an array of shape {values.shape}")
    if values.dtype.kind == "f":
        codes, names = _encode_integers(_whole_floats(values, what))
        known = np.arange(codes.max(initial=-1) + 1) if names is None else names
        return codes, known.astype(np.float64).astype(object)
    if values.dtype.kind in "iu":
        codes, names = _encode_integers(values)
        return codes, None if names is None else names.astype(object)
    return _number_names(*_factorize(values, what), what)


def check_same_index(*given: Any) -> Any:
    """The index that the pandas objects among `given` share, None without one; InputError if theirs differ."""
    indexes = [x.index for x in given if type(x).__module__.startswith("pandas") and hasattr(x, "iloc")]
    for index in indexes[1:]:
        if not index.equals(indexes[0]):
            pairs = enumerate(zip(indexes[0], index, strict=False))
            told = (f" (row {i} is {show(x)} in one and {show(y)} in another)" for i, (x, y) in pairs if x != y)
            differ = f"the indexes of these pandas objects differ{next(told, '')}"
            raise InputError(f"{differ}: align them first, or give .to_numpy() of each if they are in the same order")
    return indexes[0] if indexes else None


def names_objects(index: Any) -> bool:
    """Whether a pandas index says more than the numbers 0 … n − 1."""
    import pandas as pd

    return index is not None and not (index.name is None and index.equals(pd.RangeIndex(len(index))))


def _plain_values(labels: Any, what: str) -> NDArray[Any]:
    """A NumPy array of the labels; objects where that is the only way to keep what is missing."""
    if isinstance(labels, np.ma.MaskedArray):
        values = np.asarray(labels).astype(object)
        values[np.ma.getmaskarray(labels)] = None
        return values
    if type(labels).__module__.startswith("pandas") and not isinstance(getattr(labels, "dtype", None), np.dtype):
        return np.asarray(labels.to_numpy(dtype=object))  # nullable and categorical columns keep their NA this way
    for as_list in ("to_pylist", "to_list"):  # pyarrow and polars, whose arrays would lose what is missing
        if not isinstance(getattr(labels, "dtype", None), np.dtype) and hasattr(labels, as_list):
            labels = getattr(labels, as_list)()
    if isinstance(labels, Sequence) and not isinstance(labels, (str, bytes)):
        if labels and all(type(x) is int or isinstance(x, np.integer) for x in labels):
            numbers = [int(x) for x in labels]
            if max(numbers) < 2**63 and min(numbers) >= -(2**63):
                return np.array(numbers, np.int64)
        objects = np.empty(len(labels), object)
        for i, value in enumerate(labels):
            objects[i] = value
        return objects
    if sparse.issparse(labels) or not hasattr(labels, "__array__"):
        hint = ": choose one of its clusterings, such as ens.labels[:, 0]" if hasattr(labels, "n_clusterings") else ""
        raise InputError(f"{what} must be a vector, one label per object; got {kind_of(labels)}{hint}")
    return np.asarray(labels)


def _whole_floats(values: NDArray[Any], what: str, places: Any = None) -> NDArray[np.int64]:
    """Whole numbers from floats, NaN as −1; `places` are the objects they belong to, for the message."""
    values = values.astype(np.promote_types(values.dtype, np.float64), copy=False)  # half precision ends at 65,504
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        odd = known & ~(np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) <= 2**53))
    if odd.any():
        at = int(np.argmax(odd))
        which = f"{float(values[at])!r} (object {at if places is None else places[at]})"
        said = "labels are whole numbers or names, and this looks like measured data"
        raise InputError(f"{what}: {which} is not a label; {said}")
    return np.where(known, values, -1).astype(np.int64)


def _encode_integers(values: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
    """Codes, and the numbers that have them unless they are the codes themselves."""
    if not values.size:
        return np.empty(0, np.int32), None
    low, high = int(values.min()), int(values.max())
    if low < -1 or high > 4 * len(values) + 1000:  # too wide for a table of what occurs
        names, codes = np.unique(values, return_inverse=True)
        if low <= -1 and (missing := int(np.searchsorted(names, -1))) < len(names) and names[missing] == -1:
            codes, names = np.where(codes == missing, -1, codes - (codes > missing)), np.delete(names, missing)
        return codes.astype(np.int32), names
    present = np.zeros(high + 2, bool)  # the last place is that of -1
    present[values.astype(np.intp, copy=False)] = True
    present[-1] = False
    if present[:-1].all():
        return values.astype(np.int32), None
    new = np.cumsum(present, dtype=np.int32) - np.int32(1)
    new[-1] = -1
    return new[values.astype(np.intp, copy=False)], np.flatnonzero(present)


def _number_names(codes: NDArray[Any], names: NDArray[Any], what: str) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
    floats = [i for i, name in enumerate(names) if isinstance(name, (float, np.floating))]
    if floats:
        first = [int(np.argmax(codes == i)) for i in floats]
        _whole_floats(np.array([names[i] for i in floats], float), what, first)
    is_missing = np.array([_equals_minus_one(name) for name in names], bool)
    try:
        order = sorted(np.flatnonzero(~is_missing), key=lambda i: names[i])
    except TypeError:
        order = list(np.flatnonzero(~is_missing))
    new = np.full(len(names) + 1, -1, np.int32)  # the last place is that of -1
    new[order] = np.arange(len(order))
    kept = np.empty(len(order), object)
    for code, i in enumerate(order):
        kept[code] = names[i].item() if isinstance(names[i], np.generic) else names[i]
    return new[codes], None if all(type(name) is int and name == code for code, name in enumerate(kept)) else kept


def _met(labels: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """As :func:`_factorize`, of what pandas has coded already, as the text of a file is: it is not decoded and coded again."""
    import pandas as pd

    held = pd.Categorical(labels)
    met = pd.unique(held.codes)
    met = met[met >= 0]
    new = np.full(len(held.categories) + 1, -1)
    new[met] = np.arange(len(met))
    return new[held.codes], np.asarray(held.categories, object)[met]


def _factorize(values: NDArray[Any], what: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes in order of appearance and the distinct values; NaN, None, NaT and NA become −1."""
    import pandas as pd

    values = np.asarray(pd.Series(values).astype(object)) if values.dtype.kind in "mM" else values.astype(object)
    try:
        if "\0" in "".join(values):  # pandas' table of text ends every word at its first NUL
            seen: dict[str, int] = {}
            codes = np.array([seen.setdefault(value, len(seen)) for value in values])
            return codes, np.array(list(seen), object)
    except TypeError:
        pass  # not all are text
    try:
        return pd.factorize(values)
    except TypeError:
        at = next(i for i, value in enumerate(values) if not _hashable(value))
        bad = f"{show(values[at])} (object {at})"
        raise InputError(f"{what}: {bad} cannot be a label, since it is not hashable") from None


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _equals_minus_one(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and value == -1
