"""The measures of two clusterings by name: what `pairwise`, `stability`, `compare`, `organize` and the command line choose from.

A measure of your own needs a function of two label vectors and one line::

    from consilience.measures import MEASURES, Measure
    MEASURES["same_size"] = Measure(lambda a, b: float(len(set(a)) == len(set(b))))

The function gets the codes of the objects that both clusterings label. With a formula over sums or tables all pairs are computed in bulk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from consilience.measures import chance, information, matching, pairs
from consilience.measures import element_centric_similarity as elements


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, and how to read it.

    Attributes
    ----------
    function : callable
        Of two label vectors; where it is not symmetric, the first are the known labels.
    symmetric : bool
    is_distance : bool
        Whether small means alike; the value of two equal clusterings is then 0, and 1 otherwise.
    largest : float or None
        The largest value, if there is one.
    term, formula : str, callable, optional
        The batch form: ``formula`` of the :class:`~consilience.measures.counts.Sums` of a term, "square" or "xlogx", of the contingency
        tables; or, without a term, of the cells (rows, columns, counts) of one.
    stacked : callable, optional
        The formula for many dense tables at once.
    all_pairs : callable, optional
        The batch form of a measure with a kernel of its own: of an Ensemble, threads and whether to show progress.

    Examples
    --------
    >>> from consilience.measures import MEASURES
    >>> MEASURES["nmi"].symmetric, MEASURES["nmi"].is_distance, MEASURES["nmi"].largest
    (True, False, 1.0)
    """

    function: Callable[[Any, Any], float]
    symmetric: bool = True
    is_distance: bool = False
    largest: float | None = 1.0
    term: str | None = None
    formula: Callable[..., Any] | None = None
    stacked: Callable[..., Any] | None = None
    all_pairs: Callable[..., Any] | None = None


MEASURES: dict[str, Measure] = {
    "rand": Measure(pairs.rand, term="square", formula=pairs.rand_from),
    "adjusted_rand": Measure(pairs.adjusted_rand, term="square", formula=pairs.adjusted_rand_from),
    "jaccard": Measure(pairs.jaccard, term="square", formula=pairs.jaccard_from),
    "cluster_difference": Measure(
        pairs.cluster_difference, is_distance=True, term="square", formula=pairs.cluster_difference_from
    ),
    "nmi": Measure(information.nmi, term="xlogx", formula=information.nmi_from),
    "adjusted_mutual_information": Measure(chance.adjusted_mutual_information, all_pairs=chance.adjusted_all_pairs),
    "shared_information": Measure(
        chance.shared_information, all_pairs=partial(chance.adjusted_all_pairs, average="min")
    ),
    "variation_of_information": Measure(
        information.variation_of_information,
        is_distance=True,
        largest=None,
        term="xlogx",
        formula=information.variation_of_information_from,
    ),
    "information_ratio": Measure(
        information.information_ratio, symmetric=False, term="xlogx", formula=information.information_ratio_from
    ),
    "element_centric": Measure(elements.element_centric, all_pairs=elements.element_centric_all_pairs),
    "accuracy": Measure(
        matching.accuracy, symmetric=False, formula=matching.accuracy_from, stacked=matching.accuracy_of
    ),
    "matched_accuracy": Measure(
        matching.matched_accuracy, formula=matching.matched_accuracy_from, stacked=matching.matched_accuracy_of
    ),
    "f1": Measure(matching.f1, symmetric=False, formula=matching.f1_from, stacked=matching.f1_of),
}
