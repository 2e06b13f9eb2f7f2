"""What users have (files, data frames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.count_scaling import CountScaling
from consilience.tables.encoding import Encoder
from consilience.tables.matching import match_rows, take_rows
from consilience.tables.matrix import check_matrix
from consilience.tables.new_rows import encode_rows
from consilience.tables.reading import KINDS, Table, find_id_column, read_table
from consilience.tables.scaling import SCALES, Standardizer, scale

__all__ = [
    "KINDS",
    "SCALES",
    "CountScaling",
    "Encoder",
    "Standardizer",
    "Table",
    "check_matrix",
    "encode_rows",
    "find_id_column",
    "match_rows",
    "read_table",
    "scale",
    "take_rows",
]
