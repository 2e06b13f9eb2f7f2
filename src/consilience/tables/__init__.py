"""What users have (files, DataFrames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.matching import match_rows
from consilience.tables.reading import KINDS, Table, find_id_column, read_table
from consilience.tables.scaling import SCALES, scale

__all__ = ["KINDS", "SCALES", "Table", "find_id_column", "match_rows", "read_table", "scale"]
