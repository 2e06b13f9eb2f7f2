"""What users have (files, DataFrames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.reading import KINDS, Table, read_table
from consilience.tables.scaling import SCALES, scale

__all__ = ["KINDS", "SCALES", "Table", "read_table", "scale"]
