"""The definitions: every native kernel once more in plain NumPy, under the same name, readable before fast."""

# ruff: noqa: F401, F403

from oracle.allocate import allocate
from oracle.labels import color_rows, distinct_rows, find_rows, label_tables, label_votes, row_scores, signatures
from oracle.lloyd import lloyd
from oracle.pairs import *
from oracle.random import philox, random_below, random_bits, random_permutation, random_uniform
