"""Linkage and majority vote of the co-occurrence matrix. It has no way in for labels, so its dictionaries are filled."""

import numpy as np
import openensembles
import pandas as pd


def cluster(labels):
    found = openensembles.cluster(openensembles.data(pd.DataFrame(np.zeros((len(labels), 1))), [0]))
    for name, column in enumerate(labels.T):
        found.labels[str(name)] = column
        found.clusterNumbers[str(name)] = np.unique(column)
        found.data_source[str(name)] = "parent"
        found.params[str(name)] = {}
        found.random_state[str(name)] = None
    return found


def linkage(inputs):
    return lambda seed: cluster(inputs["labels"]).finish_co_occ_linkage(threshold=0.5).labels["co_occ_linkage"]


def majority_vote(inputs):
    return lambda seed: cluster(inputs["labels"]).finish_majority_vote(threshold=0.5).labels["majority_vote"]
