"""The local minima of k-means (Caruana et al. 2006, section 2.1.1): the columns as they are, from random starts."""

from consilience.generation.methods.method import Method


class Minima(Method):
    """k-means from a random start."""
