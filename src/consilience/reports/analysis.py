"""What a report says about many clusterings, found when it is asked for and once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from consilience._random import stream
from consilience.consensus import Consensus, combine, floaters
from consilience.ensemble import Ensemble
from consilience.measures import Comparison, accuracy, compare
from consilience.meta import MetaClustering, Null, score
from consilience.reports.html_report import Options
from consilience.reports.organize_folder import group_table, known_scores
from consilience.tables import scale

COSTLY = 3 * 10**10  # objects × pairs of clusterings beyond which they are compared by one measure, not three
SCORED = 5000  # objects up to which compactness, which looks at all their pairs, is measured on the data
SHUFFLED = 5000  # objects that shuffled groups are combined on


@dataclass(eq=False)
class Findings:
    """An ensemble, its tree (None for a single clustering), and what was given and asked for."""

    ensemble: Ensemble
    meta: MetaClustering | None
    options: Options

    @property
    def known(self) -> dict[str, Any]:
        """Known labels of the objects, as codes by name."""
        return self.options.known

    @property
    def method(self) -> str:
        """How clusterings are combined."""
        return self.options.method or "vote"

    @property
    def how(self) -> dict[str, Any]:
        """The same, with its parameters."""
        return {"method": self.method, "n_clusters": self.options.n_clusters, "random_state": self.options.seed}

    @cached_property
    def comparison(self) -> Comparison:
        """All pairs of clusterings, and each with the known labels."""
        n, m = self.ensemble.labels.shape
        measures = ("jaccard", "nmi", "adjusted_rand") if n * m * (m - 1) // 2 <= COSTLY else ("jaccard",)
        return compare(self.ensemble, measures, known=self.known or None, n_jobs=self.options.n_jobs, progress=False)

    @cached_property
    def scaled(self) -> Any:
        """The data with all columns on one scale, where there is not too much of it to be scored."""
        data = self.options.data
        return None if data is None or self.ensemble.n_objects > SCORED else scale(data.values, "columns")

    @cached_property
    def scores(self) -> pd.DataFrame | None:
        """Compactness and accuracies of every clustering, as far as they can be had."""
        return known_scores(self.ensemble, self.known, self.scaled)

    @cached_property
    def of_groups(self) -> list[Consensus]:
        """What every group says together."""
        assert self.meta is not None
        return [self._consensus(group) for group in self.meta.numbers]

    @cached_property
    def whole(self) -> Consensus:
        """What all clusterings say together."""
        return self._consensus(None)

    def _consensus(self, which: int | None) -> Consensus:
        if self.meta is None:
            return combine(self.ensemble, progress=False, **self.how)
        return self.meta.consensus(which, progress=False, **self.how)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """One row per group: its size, medoid and consensus, how well that matches known labels, and means of scores."""
        assert self.meta is not None
        table = group_table(self.meta, self.scores, self.of_groups)
        for place, (name, codes) in enumerate(self.known.items()):
            values = [accuracy(codes, one.labels) for one in self.of_groups]
            table.insert(6 + place, f"accuracy:{name}", values)
        return table

    @cached_property
    def marked(self) -> dict[str, pd.DataFrame]:
        """Scores of the consensus of every group and of all, where they can be measured as those of the clusterings."""
        if self.scores is None or ("compactness" in self.scores and self.scaled is None):
            return {}
        parts = {"consensus of a group": self.of_groups, "of all": [self.whole]}
        return {
            name: score([one.labels for one in some], self.scaled, known=self.known or None, progress=False)
            for name, some in parts.items()
        }

    @property
    def sample(self) -> int | None:
        """How many objects shuffled groups are combined on; None for all."""
        return SHUFFLED if self.ensemble.n_objects > SHUFFLED else None

    @cached_property
    def null(self) -> Null | None:
        """The best group's accuracy against that of the best of shuffled groups."""
        if self.meta is None or not self.known or not self.options.n_shuffles or self.meta.n_groups < 2:
            return None
        meta, known = self.meta, self.known
        if self.sample:
            order = stream(self.options.seed, "reports.objects").permutation(meta.ensemble.n_objects)
            objects = np.sort(order[: self.sample])
            meta = replace(meta, ensemble=meta.ensemble[objects])
            known = {name: codes[objects] for name, codes in known.items()}
        return meta.null(known, n_shuffles=self.options.n_shuffles, progress=False, **self.how)

    @cached_property
    def weak(self) -> pd.DataFrame:
        """Objects with weak support in the consensus of all."""
        return floaters(self.ensemble, self.whole)
