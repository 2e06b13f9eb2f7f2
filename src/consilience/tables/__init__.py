"""What users have (files, data frames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.check_matrix import check_matrix
from consilience.tables.encoder import Encoder
from consilience.tables.read_table import Table, read_table
from consilience.tables.rows_by_id import encode_rows, match_rows, take_rows
from consilience.tables.scaling_and_counts import Standardizer, scale

__all__ = [
    "Encoder",
    "Standardizer",
    "Table",
    "check_matrix",
    "encode_rows",
    "match_rows",
    "read_table",
    "scale",
    "take_rows",
]
