"""Typed wrappers of the native kernels: contiguous arrays of the right type in, new arrays out.

Each function has a plain NumPy twin of the same name in `tests/oracle`, which is its definition. Kernels release
the GIL and take an explicit number of threads.
"""

from consilience._kernels.labels import (
    PRIORS,
    color_rows,
    column_scores,
    distinct_rows,
    find_rows,
    gibbs_conditionals,
    gibbs_sweep,
    label_tables,
    label_votes,
    row_scores,
    signatures,
    slots_of,
)
from consilience._kernels.numbers import (
    random_below,
    random_bits,
    random_permutation,
    random_uniform,
    x_log_x,
    xlogx,
)
from consilience._kernels.pairs import (
    LINKAGES,
    contingency,
    encode_codes,
    expected_sums,
    expected_xlogx,
    linkage,
    object_overlaps,
    overlap_sums,
    pair_sums,
    row_distances,
    within_sums,
)
from consilience._kernels.search import INITS, OBJECTIVES, allocate, lloyd, merge_clusters, sum_rows, sweep

__all__ = [
    "INITS",
    "LINKAGES",
    "OBJECTIVES",
    "PRIORS",
    "allocate",
    "color_rows",
    "column_scores",
    "contingency",
    "distinct_rows",
    "encode_codes",
    "expected_sums",
    "expected_xlogx",
    "find_rows",
    "gibbs_conditionals",
    "gibbs_sweep",
    "label_tables",
    "label_votes",
    "linkage",
    "lloyd",
    "merge_clusters",
    "object_overlaps",
    "overlap_sums",
    "pair_sums",
    "random_below",
    "random_bits",
    "random_permutation",
    "random_uniform",
    "row_distances",
    "row_scores",
    "signatures",
    "slots_of",
    "sum_rows",
    "sweep",
    "within_sums",
    "x_log_x",
    "xlogx",
]
