"""Labels as they were given, beside the codes that stand for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from consilience._check import InputError, count, show
from consilience._types import Array, Labels


def check_label_names(label_names: Sequence[Any] | None, codes: Array) -> list[Array | None]:
    """Names for every clustering, enough for its codes; None where the codes are the labels."""
    n_clusterings = codes.shape[1]
    if label_names is None:
        return [None] * n_clusterings
    if len(label_names) != n_clusterings:
        raise InputError(f"label_names has {len(label_names)} entries for {count(n_clusterings, 'clustering')}")
    checked = [None if names is None else object_vector(names) for names in label_names]
    for j, names in enumerate(checked):
        if names is not None and (highest := int(codes[:, j].max())) >= len(names):
            raise InputError(f"clustering {j} has the code {highest} and only {count(len(names), 'label name')}")
    return checked


def object_vector(values: Iterable[Any]) -> Array:
    """A vector of Python objects, whatever they are."""
    if isinstance(values, np.ndarray):
        return values.astype(object, copy=False)
    return np.fromiter(values, object)


def read_only(array: Any) -> Any:
    """A view of an array that cannot be written to; what is so already, or None, as it is."""
    if array is not None and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def typed_labels(names: Array | None, codes: Labels) -> Array:
    """Labels by their codes, none of which is missing: numbers and booleans as arrays of their type."""
    if names is None:
        return codes
    is_plain = set(map(type, names)) in ({bool}, {int}, {float})
    labels: Array = (np.array(names.tolist()) if is_plain else names)[codes]
    return labels


def known_codes(known: Mapping[Any, int], labels: Iterable[Any], clustering: str) -> tuple[dict[Any, int], list[int]]:
    """All labels with their codes, those not `known` after them, and the codes of `labels`."""
    is_text, codes = {isinstance(name, str) for name in known}, dict(known)
    for label in labels if is_text else ():
        if isinstance(label, str) not in is_text:
            here, there = ("text", "numbers") if isinstance(label, str) else ("a number", "text")
            raise InputError(
                f"clustering {clustering!r}: the label {show(label)} is {here}, and those it is matched with are {there}: "
                "give both in the same form"
            )
    return codes, [codes.setdefault(label, len(codes)) for label in labels]
