"""What users have (files, data frames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.encoder import Encoder
from consilience.tables.matching import encode_rows, match_rows, take_rows
from consilience.tables.matrix import check_matrix
from consilience.tables.reading import Table, read_table
from consilience.tables.scaling import Standardizer, scale

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
