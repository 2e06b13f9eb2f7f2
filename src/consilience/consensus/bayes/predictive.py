"""What a draw from the posterior, or a variational bound, says of one more row of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from consilience._types import Floats, Labels
from consilience.consensus.bayes.model import log_predictive, log_shares
from consilience.consensus.rows.problem import sum_over_labels


@dataclass(frozen=True)
class Components:
    """The components of one draw, and the clusters of the answer that they stand for.

    Attributes
    ----------
    sizes : (K,) array
        Members of all components, whole or expected.
    table : (labels, used) array
        Members with each label, of the first `used` components; the others are empty.
    alpha, beta : float
    prior : {"tsb", "fsd"}
    owner : (used, k) array
        Share of each component's members that each cluster of the answer has; rows sum to 1, or to 0 for an empty one.
    """

    sizes: NDArray[Any]
    table: NDArray[Any]
    alpha: float
    beta: float
    prior: str
    owner: Floats

    def log_joint(self, rows: Labels, offsets: NDArray[np.int64], power: float = 1.0) -> Floats:
        """(n, k + 1) log p(row, cluster): the last is a component that none of the members of the answer is in.

        With a power it is log p(cluster) p(row | cluster)^power, from which the cluster of a row follows.
        """
        used = self.table.shape[1]
        shares = log_shares(self.sizes, self.alpha, self.prior)
        widths = np.diff(offsets)
        inside = sum_over_labels(rows, offsets, power * log_predictive(self.table, offsets, self.beta)) + shares[:used]
        behind = np.full((len(rows), 1), logsumexp(shares[used:]) if used < len(shares) else -np.inf)
        behind -= power * ((rows >= 0) @ np.log(widths)[:, None])
        nobody = np.maximum(1 - self.owner.sum(axis=1, keepdims=True), 0)
        owner = np.vstack([np.hstack([self.owner, nobody]), np.eye(1, self.owner.shape[1] + 1, k=self.owner.shape[1])])
        return _log_mixtures(np.hstack([inside, behind]), owner)


def _log_mixtures(logs: Floats, shares: Floats) -> Floats:
    """log(exp(logs) @ shares), column by column: of many labels, one component may be likelier than another by e¹⁰⁰⁰."""
    found = np.full((len(logs), shares.shape[1]), -np.inf)
    for column, share in enumerate(shares.T):
        some = np.flatnonzero(share)
        if len(some):
            found[:, column] = logsumexp(logs[:, some] + np.log(share[some]), axis=1)
    return found


def mean_log_joint(draws: Sequence[Components], rows: Labels, offsets: NDArray[np.int64], power: float = 1.0) -> Floats:
    """log of the mean over the draws of p(row, cluster), or of p(cluster) p(row | cluster)^power."""
    total = draws[0].log_joint(rows, offsets, power)
    for draw in draws[1:]:
        np.logaddexp(total, draw.log_joint(rows, offsets, power), out=total)
    return np.asarray(total - np.log(len(draws)))
