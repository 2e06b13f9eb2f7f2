"""The definitions: every native kernel once more in plain NumPy, under the same name, readable before fast."""

from oracle.allocate import allocate
from oracle.labels import color_rows, distinct_rows, find_rows, label_tables, label_votes, row_scores, signatures
from oracle.lloyd import lloyd
from oracle.pairs import (
    contingency,
    element_scores,
    expected_sums,
    expected_xlogx,
    linkage,
    object_overlaps,
    overlap_sums,
    pair_sums,
    row_distances,
    within_sums,
)
from oracle.random import philox, random_below, random_bits, random_permutation, random_uniform
from oracle.xlogx import xlogx

__all__ = [
    "allocate",
    "color_rows",
    "contingency",
    "distinct_rows",
    "element_scores",
    "expected_sums",
    "expected_xlogx",
    "find_rows",
    "label_tables",
    "label_votes",
    "linkage",
    "lloyd",
    "object_overlaps",
    "overlap_sums",
    "pair_sums",
    "philox",
    "random_below",
    "random_bits",
    "random_permutation",
    "random_uniform",
    "row_distances",
    "row_scores",
    "signatures",
    "within_sums",
    "xlogx",
]
