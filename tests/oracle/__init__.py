"""The definitions: every native kernel once more in plain NumPy, under the same name, readable before fast."""

# ruff: noqa: F401

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
