"""The definitions: every native kernel once more in plain NumPy, under the same name, readable before fast."""

from oracle.allocate import allocate
from oracle.color_rows import color_rows
from oracle.contingency import contingency
from oracle.expected_sums import expected_sums, expected_xlogx
from oracle.label_tables import label_tables
from oracle.label_votes import label_votes
from oracle.linkage import linkage, row_distances
from oracle.lloyd import lloyd
from oracle.overlaps import element_scores, object_overlaps, overlap_sums
from oracle.pair_sums import pair_sums
from oracle.random import philox, random_below, random_bits, random_permutation, random_uniform
from oracle.signatures import distinct_rows, find_rows, signatures
from oracle.within_sums import within_sums
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
    "signatures",
    "within_sums",
    "xlogx",
]
