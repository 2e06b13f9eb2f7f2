"""Scores of a pair of clusterings, in a loop over all pairs."""

import numpy as np
from clusim import sim
from clusim.clustering import Clustering


def pairs(score):
    def side(inputs):
        every = [Clustering().from_membership_list(column.tolist()) for column in inputs["labels"].T]

        def run(seed):
            matrix = np.eye(len(every))
            for i, one in enumerate(every):
                for j in range(i):
                    matrix[i, j] = matrix[j, i] = score(one, every[j])
            return matrix

        return run

    return side


element_centric = pairs(lambda a, b: sim.element_sim(a, b, alpha=0.9))
adjusted_rand = pairs(sim.adjrand_index)
nmi = pairs(lambda a, b: sim.nmi(a, b, norm_type="sqrt"))
