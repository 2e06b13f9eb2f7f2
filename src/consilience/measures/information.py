"""Measures of the information two clusterings share, in nats.

With φ(x) = x log x, Φ its sum over the cells of the contingency table and Φ_a, Φ_b over its margins:
n·I = Φ − Φ_a − Φ_b + φ(n), n·H(a) = φ(n) − Φ_a. Only objects labeled in both clusterings count; if there are none
the value is NaN.
"""

from typing import Any

import numpy as np

from consilience._check import InputError, check_labels
from consilience._kernels import x_log_x
from consilience._types import Floats
from consilience.ensemble import check_same_objects
from consilience.inputs import as_ensemble
from consilience.measures.counts import KNOWN, Sums, of_pair, ratio, sums_with_each, unknown


def nmi(a: Any, b: Any) -> float:
    """Mutual information over the geometric mean of the entropies: I / √(H(a) H(b)) (Strehl and Ghosh 2002).

    0 … 1. Two clusterings of one cluster each are equal: 1; if only one has a single cluster, 0. Equal to
    ``sklearn.metrics.normalized_mutual_info_score(..., average_method="geometric")``. It grows with the number of
    clusters even for random labels: read it beside :func:`adjusted_rand`.

    Examples
    --------
    >>> from consilience.measures import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.816
    """
    return of_pair(nmi_from, a, b, "xlogx")


def variation_of_information(a: Any, b: Any) -> float:
    """H(a | b) + H(b | a), in nats: a metric on clusterings of the same objects; 0 … log n, 0 if equal.

    Examples
    --------
    >>> from consilience.measures import variation_of_information
    >>> round(variation_of_information([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.347
    """
    return of_pair(variation_of_information_from, a, b, "xlogx")


def information_ratio(known: Any, labels: Any) -> float:
    """The share of the information in `known` that `labels` keeps, I(known; labels) / H(known). 0 … 1.

    1 if `known` is a single class. Equal to ``sklearn.metrics.homogeneity_score(known, labels)``. It can only grow
    when clusters are split.

    Examples
    --------
    >>> from consilience.measures import information_ratio
    >>> round(information_ratio([0, 0, 1, 1], [0, 0, 1, 2]), 3), round(information_ratio([0, 0, 1, 2], [0, 0, 1, 1]), 3)
    (1.0, 0.667)
    """
    return of_pair(information_ratio_from, known, labels, "xlogx", KNOWN)


def anmi(ensemble: Any, labels: Any) -> float:
    """Average NMI of `labels` with the clusterings of an ensemble, each weighted by the share of objects it labels.

    Σ_q c_q NMI(labels, λ_q) / Σ_q c_q. Without missing labels this is the plain average of Strehl and Ghosh 2002.
    With them the weights c_q (the share of objects labeled both in `labels` and in λ_q) are what makes the worked
    example of their lecture come out: by the plain average over known objects its answer is only fifth best.
    Clusterings that share no object with `labels` are left out. It cannot choose the number of clusters, because it grows with it.

    Examples
    --------
    >>> from consilience.measures import anmi
    >>> ensemble = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]
    >>> round(anmi(ensemble, [1, 1, 1, 2, 2, 3, 3]), 4)
    0.7178
    """
    ens, codes = as_ensemble(ensemble), check_labels(labels)
    if len(codes) != ens.n_objects:
        raise InputError(f"{len(codes)} labels for an ensemble of {ens.n_objects} objects; they must be the same")
    check_same_objects(ens, labels)
    sums = sums_with_each(codes, ens.labels, "xlogx")
    shared = sums.n > 0
    if not shared.any():
        raise InputError("no object is labeled both in the labels and in the ensemble")
    return float(np.average(nmi_from(sums)[shared], weights=sums.n[shared]))


def shared_and_entropies(s: Sums) -> tuple[Floats, Floats, Floats]:
    """n·I, n·H(own), n·H(other); an entropy below 10⁻³/n is rounding (the least that is not is about 1.4/n)."""
    whole = x_log_x(s.n)
    own, other = whole - s.own, whole - s.other
    own, other = np.where(own < 1e-3, 0.0, own), np.where(other < 1e-3, 0.0, other)
    shared = np.clip(s.joint - s.own - s.other + whole, 0.0, np.minimum(own, other))
    return shared, own, other


def nmi_from(s: Sums) -> Floats:
    """I / √(H H'), 1 where both entropies are 0, 0 where one is."""
    shared, own, other = shared_and_entropies(s)
    both_single = (own == 0) & (other == 0)
    return unknown(s.n, np.minimum(ratio(shared, np.sqrt(own * other), both_single.astype(float)), 1.0))


def variation_of_information_from(s: Sums) -> Floats:
    """H + H' − 2 I."""
    shared, own, other = shared_and_entropies(s)
    return unknown(s.n, ratio(np.maximum(own + other - 2 * shared, 0.0), s.n, 0.0))


def information_ratio_from(s: Sums) -> Floats:
    """I / H(own), 1 where that entropy is 0."""
    shared, own, _ = shared_and_entropies(s)
    return unknown(s.n, ratio(shared, own, 1.0))


# Perplexity: how surprised a model of labels is by labels.


def perplexity(log_probabilities: Any) -> float:
    """exp of minus the mean log probability of the known labels (Wang, Domeniconi and Laskey 2010, Eq. 12, per label).

    Parameters
    ----------
    log_probabilities : array of any shape
        Natural log of the probability a model gave to each observed label; NaN where the label is missing.

    Returns
    -------
    float
        At least 1, which is certainty; a uniform guess among J labels scores J. A value below 1 is impossible for
        labels, and log probabilities above 0 are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.measures import perplexity
    >>> perplexity(np.log([[0.25, 0.25], [0.25, np.nan]]))
    4.0
    """
    try:
        logs = np.asarray(log_probabilities, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"log probabilities must be numbers: {error}") from None
    known = logs[~np.isnan(logs)]
    if not known.size:
        raise InputError("perplexity needs at least one known label")
    if known.max() > 1e-12:
        raise InputError(f"a log probability of {known.max():.6g} is above 0, so its probability would be above 1")
    with np.errstate(over="ignore"):  # beyond the doubles it is infinite
        return float(np.exp(max(0.0, -known.mean())))
