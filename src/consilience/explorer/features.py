"""What marks a cluster: the columns in which it differs most from the rest, by Cohen's d."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.explorer.session import Session
from consilience.explorer.snapshot import Shown
from consilience.measures.effect_sizes import Z, effect_sizes

TOP = 8  # columns for each cluster
CLUSTERS = 60  # clusters that are described


def marks(session: Session, one: Shown) -> list[dict[str, Any]]:
    """For every cluster its columns of the largest |d|, with the means inside and outside and a 95 % interval of d."""
    assert session.data is not None
    codes = np.minimum(one.codes, CLUSTERS)  # the clusters beyond are only part of the rest
    inside, outside, d, error = effect_sizes(session.data.values, codes)
    answer = []
    for cluster in range(min(one.clusters, CLUSTERS)):
        effect = np.abs(np.nan_to_num(d[cluster], posinf=0, neginf=0))  # what varies in no cluster has no size
        order = [i for i in np.argsort(-effect, kind="stable")[:TOP] if effect[i] > 0]
        top = [
            {
                "feature": session.features[i],
                "mean": inside[cluster, i],
                "rest": outside[cluster, i],
                "d": d[cluster, i],
                "low": d[cluster, i] - Z * error[cluster, i],
                "high": d[cluster, i] + Z * error[cluster, i],
            }
            for i in order
        ]
        answer.append({"cluster": cluster, "top": top})
    return answer
