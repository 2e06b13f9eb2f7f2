"""Recommendation from co-clusterings (Bekkerman et al. 2009, section 5.1): popularity, lifted by the clusters.

For a row u (a user) in cluster ũ and a column m (a movie) in cluster m̃ of a count table,

    r(u, m) = p(u) p(m) · p(ũ, m̃) / (p(ũ) p(m̃)),

with all probabilities estimated from the table. One co-clustering gives one ranking, as there; the ranking of an ensemble is
the mean over its co-clusterings, row clustering i with column clustering i. A row or column without a label is lifted by 1.
"""

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from consilience._check import InputError, check_count, count, show
from consilience._types import EnsembleLike, Floats, Ints
from consilience.agreement.components import memberships, one_each
from consilience.agreement.count_table import ensemble_of
from consilience.inputs import as_table


class Recommender(BaseEstimator):
    """Rank the columns for every row by r(u, m).

    Attributes
    ----------
    row_labels_, column_labels_ : (n_rows, m) and (n_columns, m) int arrays
        The co-clusterings.
    lifts_ : list of (row clusters, column clusters) arrays
        p(ũ, m̃) / (p(ũ) p(m̃)) of every co-clustering.
    row_names_, column_names_ : array

    Notes
    -----
    Memory O(m · clusters of rows · clusters of columns) beside the table; scoring a pair costs O(m).

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.agreement import Recommender
    >>> counts = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    >>> films = ["Alien", "Brazil", "Contact", "Dune"]
    >>> who = Recommender().fit(counts, [[0, 0, 0, 1]], [[0, 0, 0, 1]], column_names=films)
    >>> who.recommend(0, 2)[["column", "score"]].round(3)
        column  score
    0  Contact  0.095
    1     Dune  0.000
    >>> float(who.auc([0, 1, 2, 0], [2, 1, 0, 3], [1, 1, 1, 0])[0])
    1.0
    """

    def fit(
        self, X: Any, rows: EnsembleLike, columns: EnsembleLike, *, row_names: Any = None, column_names: Any = None
    ) -> Self:
        """Learn the shares of rows and columns, and the lifts of their clusters.

        Parameters
        ----------
        X : (n_rows, n_columns) array, sparse matrix, DataFrame or Table of counts
            What the rows (users) had to do with the columns (movies).
        rows, columns : Ensemble, or what one is made from
            As many clusterings of the columns as of the rows: ``result.after.rows`` and ``result.after.columns``, say.
        row_names, column_names : sequence, optional
            By default the ids of a table, the columns of a DataFrame, or else numbers.
        """
        table = as_table(X, "counts")
        self.counts_ = sparse.csr_matrix(table.values)
        n, d = self.counts_.shape
        self.row_labels_ = ensemble_of(rows, "row", n).labels
        self.column_labels_ = ensemble_of(columns, "column", d).labels
        if self.row_labels_.shape[1] != self.column_labels_.shape[1]:
            raise InputError(
                f"{count(self.row_labels_.shape[1], 'clustering')} of the rows and {self.column_labels_.shape[1]:,} of the "
                "columns: clusterings go in pairs, so give as many of one as of the other"
            )
        rows_called = table.ids if row_names is None else row_names
        columns_called = table.columns if column_names is None else column_names
        self.row_names_ = one_each(np.arange(n) if rows_called is None else rows_called, n, "row_names")
        self.column_names_ = one_each(np.arange(d) if columns_called is None else columns_called, d, "column_names")
        total = self.counts_.sum()
        if not total > 0:
            raise InputError("the table holds no counts, so it says nothing of who likes what")
        self.row_share_ = np.asarray(self.counts_.sum(axis=1), float).ravel() / total
        self.column_share_ = np.asarray(self.counts_.sum(axis=0), float).ravel() / total
        pairs = zip(self.row_labels_.T, self.column_labels_.T, strict=True)
        self.lifts_ = [lift_table(self.counts_, row, column) for row, column in pairs]
        self.n_features_in_ = d
        return self

    def scores(self, rows: Any, columns: Any) -> Floats:
        """r(u, m) of pairs by their numbers, (n_pairs, n_models): one column per co-clustering.

        Examples
        --------
        >>> import numpy as np
        >>> from consilience.agreement import Recommender
        >>> Recommender().fit(np.diag([2, 2]), [[0, 1]], [[0, 1]]).scores([0, 0], [0, 1]).tolist()
        [[0.5], [0.0]]
        """
        check_is_fitted(self)
        u, m = _pairs(rows, columns, self.counts_.shape)
        lifts = [
            np.where((row[u] >= 0) & (column[m] >= 0), table[row[u], column[m]], 1.0)
            for table, row, column in zip(self.lifts_, self.row_labels_.T, self.column_labels_.T, strict=True)
        ]
        return np.asarray(self.popularity(u, m)[:, None] * np.column_stack(lifts))

    def popularity(self, rows: Any, columns: Any) -> Floats:
        """p(u) p(m) of pairs: the score without clusters."""
        check_is_fitted(self)
        u, m = _pairs(rows, columns, self.counts_.shape)
        return np.asarray(self.row_share_[u] * self.column_share_[m])

    def auc(self, rows: Any, columns: Any, positive: Any) -> Floats:
        """Area under the ROC curve of the ranking of pairs, for every co-clustering.

        Parameters
        ----------
        rows, columns : (n_pairs,) whole numbers
        positive : (n_pairs,) of 0 and 1
            Which pairs came true, as far as `counts` did not tell: hold them out.
        """
        from sklearn.metrics import roc_auc_score  # it loads much that nothing else here needs

        came_true, n = np.asarray(positive), np.size(rows)
        if came_true.shape != (n,) or not np.isin(came_true, (0, 1)).all() or came_true.min() == came_true.max():
            raise InputError(
                f"positive must say of each of the {n:,} pairs whether it came true, 0 or 1, with some of both"
            )
        return np.array([roc_auc_score(came_true.astype(np.int64), scores) for scores in self.scores(rows, columns).T])

    def recommend(self, row: Any, n: int = 10, *, include_seen: bool = False) -> pd.DataFrame:
        """The columns that rank highest for a row.

        Parameters
        ----------
        row : name or number of a row
            A name where rows have names.
        n : int, default 10
        include_seen : bool, default False
            Whether to list columns that the row has counts in already.

        Returns
        -------
        DataFrame
            `column` (name), `score` (mean of r over the co-clusterings), `lift` (how much likelier than by popularity alone),
            `popularity` (p(m)) and `sem` (standard error of the score over the co-clusterings); best first.
        """
        check_is_fitted(self)
        check_count("n", n)
        at = np.flatnonzero(self.row_names_ == row)
        if len(at) != 1:
            last = f"{show(self.row_names_[0])} … {show(self.row_names_[-1])}"
            raise InputError(f"there is no single row {show(row)}: rows are named {last}")
        u = int(at[0])
        columns = np.arange(self.counts_.shape[1])
        if not include_seen:
            columns = np.setdiff1d(columns, self.counts_[u].indices[self.counts_[u].data > 0])
        scores = self.scores(np.full(len(columns), u), columns)
        mean = scores.mean(axis=1)
        best = np.lexsort((columns, -mean))[:n]
        base = self.popularity(np.full(len(best), u), columns[best])
        several = scores.shape[1] > 1
        return pd.DataFrame(
            {
                "column": self.column_names_[columns[best]],
                "score": mean[best],
                "lift": np.divide(mean[best], base, out=np.ones(len(best)), where=base > 0),
                "popularity": self.column_share_[columns[best]],
                "sem": scores[best].std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if several else np.nan,
            }
        )


def lift_table(counts: Any, rows: Any, columns: Any) -> Floats:
    """p(ũ, m̃) / (p(ũ) p(m̃)) of every cluster of rows and cluster of columns; 1 where either is empty, −1 counts nowhere."""
    k, c = (max(int(np.max(codes, initial=-1)) + 1, 1) for codes in (rows, columns))
    joint = (memberships(rows, k).T @ sparse.csr_matrix(counts) @ memberships(columns, c)).toarray()
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.divide(joint * joint.sum(), outer, out=np.ones_like(joint), where=outer > 0)


def _pairs(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[Ints, Ints]:
    found = []
    for numbers, n, what in zip((rows, columns), shape, ("row", "column"), strict=True):
        array = np.atleast_1d(np.asarray(numbers))
        if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and not 0 <= array.min() <= array.max() < n):
            raise InputError(f"pairs go by the numbers of their {what}s, 0 to {n - 1:,}; got {show(numbers)}")
        found.append(array.astype(np.int64))
    if len(found[0]) != len(found[1]):
        raise InputError(f"pairs need as many rows as columns; got {len(found[0])} and {len(found[1])}")
    return found[0], found[1]
