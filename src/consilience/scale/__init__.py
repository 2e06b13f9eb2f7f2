"""Beyond the memory of one machine: labels and tables in row blocks, by Dask or one block after the other; owns no algorithm."""
