"""What people read off an agreement (Bekkerman et al. 2009, sections 1 and 6): what became stable."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_count, check_labels, count
from consilience._types import Floats
from consilience.agreement.count_blocks import CountBlocks, load
from consilience.inputs import as_ensemble

ROWS_READ = 4096  # safeguard: rows of a block in memory that are looked at together


def stable_groups(
    before: Any,
    after: Any,
    *,
    names: Any = None,
    weights: Any = None,
    smallest: int = 2,
    new: bool = False,
    top: int | None = None,
) -> pd.DataFrame:
    """List the stable components after the process with their members, and in how many pieces they lay before it.

    Objects that no clustering labels are left out.

    Parameters
    ----------
    before, after : Ensemble, or what one is made from
        Clusterings of the same objects: ``result.before.columns`` and ``result.after.columns``, say.
    names : sequence, optional
        The objects' names (words, users); by default the ids of `after`, or else numbers.
    weights : sequence of numbers, optional
        How much each object matters, such as :func:`column_information`: members stand in falling order of weight, and
        components in that of their heaviest member. Without weights the largest components come first: in text those are the
        rarest words, which nothing tells apart.
    smallest : int, default 2
        Leave out smaller components.
    new : bool, default False
        Only components all of whose members were apart before.
    top : int, optional
        Only so many.

    Returns
    -------
    DataFrame
        One row per component: `size`, `pieces` (stable components before that its members lay in; `size` if all were apart),
        `largest_piece` (members that were together already) and `members` (names).

    Examples
    --------
    >>> from consilience.agreement import stable_groups
    >>> before = [[0, 0, 1, 1, 2], [0, 1, 1, 2, 2]]
    >>> after = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1]]
    >>> stable_groups(before, after, names=["altar", "bible", "gospel", "goal", "team"])
       size  pieces  largest_piece                 members
    0     3       3              1  [altar, bible, gospel]
    1     2       2              1            [goal, team]
    """
    first, last = as_ensemble(before), as_ensemble(after)
    n = last.n_objects
    if first.n_objects != n:
        raise InputError(
            f"{count(first.n_objects, 'object')} before and {n:,} after: give clusterings of the same ones"
        )
    check_count("smallest", smallest)
    if top is not None:
        check_count("top", top)
    called = one_each(names, n, "names") if names is not None else np.arange(n) if last.ids is None else last.ids
    heavy = np.zeros(n) if weights is None else np.asarray(one_each(weights, n, "weights"), float)
    found, old = last.signatures(), first.signatures().inverse
    members = np.lexsort((np.arange(n), -heavy, found.inverse))
    begin = np.cumsum(found.counts) - found.counts
    pairs, sizes = np.unique(found.inverse * (old.max() + 1) + old, return_counts=True)
    component = pairs // (old.max() + 1)
    pieces, largest = np.bincount(component, minlength=len(found)), np.zeros(len(found), np.int64)
    np.maximum.at(largest, component, sizes)
    chosen = (found.counts >= smallest) & (found.labels >= 0).any(axis=1)
    if new:
        chosen &= pieces == found.counts
    order = np.lexsort((found.first, -found.counts, -heavy[members[begin]]))
    order = order[chosen[order]][:top]
    return pd.DataFrame(
        {
            "size": found.counts[order],
            "pieces": pieces[order],
            "largest_piece": largest[order],
            "members": [called[members[begin[i] : begin[i] + found.counts[i]]].tolist() for i in order],
        }
    )


def one_each(values: Any, n: int, what: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise InputError(f"{what} must have {n:,} entries; got shape {array.shape}")
    return array


def memberships(labels: Any, n_clusters: int) -> Any:
    """(n, n_clusters) sparse: 1 where an object lies in a cluster."""
    known = np.flatnonzero(labels >= 0)
    return sparse.csr_matrix((np.ones(len(known)), (known, labels[known])), (len(labels), n_clusters))


def column_information(counts: Any, labels: Any) -> Floats:
    """How much every column tells about clusters of the rows, in nats: p(y) KL(p(c|y) ‖ p(c)); their sum is I(C; Y)."""
    codes = check_labels(labels, "the clusters of the rows")
    blocks = counts if isinstance(counts, CountBlocks) else None
    table: Any = sparse.csr_matrix(counts) if blocks is None else None
    n_rows, n_columns = table.shape if blocks is None else (blocks.n_rows, blocks.n_columns)
    if len(codes) != n_rows:
        raise InputError(f"the table has {count(n_rows, 'row')} and {len(codes):,} labels: give one for each")
    joint = np.zeros((max(codes.max() + 1, 1), n_columns))
    for first, last in [(0, n_rows)] if blocks is None else blocks.spans(ROWS_READ):
        some = table if blocks is None else load(blocks.piece((first, last)))
        joint += (memberships(codes[first:last], len(joint)).T @ some).toarray()
    if not joint.sum() > 0:
        raise InputError("no row with a label has counts, so no column tells anything about the clusters")
    joint /= joint.sum()
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.asarray((joint * np.log(np.divide(joint, outer, out=np.ones_like(joint), where=joint > 0))).sum(axis=0))
