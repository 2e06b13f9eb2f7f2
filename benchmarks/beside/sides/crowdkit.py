"""Answers of workers, which share the names of the classes, to the most probable class of every task."""

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote, OneCoinDawidSkene


def aggregation(make):
    def side(inputs):
        labels = inputs["labels"]
        n, m = labels.shape
        answers = pd.DataFrame(
            {"task": np.repeat(np.arange(n), m), "worker": np.tile(np.arange(m), n), "label": labels.ravel()}
        )
        return lambda seed: make().fit_predict(answers).reindex(np.arange(n)).to_numpy()

    return side


dawid_skene = aggregation(lambda: DawidSkene(n_iter=100))
one_coin = aggregation(lambda: OneCoinDawidSkene(n_iter=100))
majority = aggregation(MajorityVote)
