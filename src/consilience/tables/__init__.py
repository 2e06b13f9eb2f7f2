"""What users have (files, DataFrames, arrays, sparse matrices, AnnData) into checked arrays."""

from consilience.tables.reading import KINDS, Table, read_table

__all__ = ["KINDS", "Table", "read_table"]
