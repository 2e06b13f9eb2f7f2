"""What a source holds, and where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, fingerprint, kind_of, nearest, show
from consilience.ensemble import Ensemble
from consilience.inputs.known import labels_by_name
from consilience.tables import Table, match_rows


@dataclass(frozen=True, eq=False)
class Provenance:
    """Where something came from.

    Attributes
    ----------
    name : str
        What people call it: the name of the folder, or of the file without its ending.
    source : str
        Name of the file or folder, or of the type of the object.
    path : Path or None
    run : str
        16 hexadecimal digits that stay the same as long as it is the same run, however it grows.
    code : str
        The Python expression that opens it; empty for an object in memory.
    store : Path or None
        The stored run, to which clusterings can be added.
    manifest : mapping or None
        Of the stored run.
    fingerprint : str or None
        Of the data that the run was made from.
    refused : tuple of str
        Files of the run that were left out, each with the reason.
    data_code : str
        The Python expression that reads the data of its objects, which `code` calls ``data``; empty where nobody knows.
    """

    name: str
    source: str
    path: Path | None = None
    run: str = ""
    code: str = ""
    store: Path | None = None
    manifest: Mapping[str, Any] | None = None
    fingerprint: str | None = None
    refused: tuple[str, ...] = ()
    data_code: str = ""


@dataclass(frozen=True, eq=False)
class Opened:
    """What a source holds.

    Attributes
    ----------
    result : Ensemble, Result or None
        Clusterings, or what was found of them; None where the source is a table of data.
    provenance : Provenance
    data : Table or None
        Measurements, counts or distances of the objects.
    known : dict of name to label vector
        What is known of the objects: columns set aside, one entry per object.
    kind : str
        What it was taken for: "labels", "data", "counts", "distances", "run", or the name of a result's class.
    notices : tuple of str
        What was noticed while a table was read.
    id_name : str
        What the column of the ids is called.
    """

    result: Any
    provenance: Provenance
    data: Table | None = None
    known: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "labels"
    notices: tuple[str, ...] = ()
    id_name: str = "id"

    @property
    def ensemble(self) -> Ensemble:
        """The clusterings; InputError where there are none."""
        if self.result is None:
            raise InputError(
                f"{self.provenance.source} holds {self.kind}, not clusterings: cluster it with generate first"
            )
        return ensemble_of(self.result)

    @property
    def other_data(self) -> bool:
        """Whether the data is not that from which the run was made."""
        made = self.provenance.fingerprint
        return self.data is not None and made is not None and fingerprint(self.data.values) != made

    def with_data(self, table: Table) -> Opened:
        """The same with the data of its objects, matched by their ids where both have them, and what that knows of them."""
        ensemble = self.ensemble
        table = match_rows(table, ensemble.ids, ensemble.n_objects)
        known = {**labels_by_name(table.labels), **self.known}
        return replace(
            self, data=table, known=known, id_name=table.id_heading if self.id_name == "id" else self.id_name
        )

    def with_known(self, known: Mapping[str, Any], source: Any = "") -> Opened:
        """The same with more labels that are known; no name may be known already."""
        if twice := sorted(set(known) & set(self.known)):
            where = f"{source}: " if source else ""
            raise InputError(
                f"{where}known labels {twice[0]!r} are also in {self.provenance.source}: rename one of the two"
            )
        return replace(self, known={**self.known, **known})


def ensemble_of(result: Any) -> Ensemble:
    """The clusterings that a verb takes from a result."""
    if isinstance(result, Ensemble):
        return result
    found = getattr(result, "ensemble", None)
    if isinstance(found, Ensemble):
        return found
    if hasattr(result, "labels"):
        labels = pd.DataFrame(result.labels).rename(columns=str)
        one = [type(result).__name__.lower()]
        return Ensemble(
            labels if labels.shape[1] > 1 else labels.set_axis(one, axis=1), ids=getattr(result, "ids", None)
        )
    raise InputError(f"{kind_of(result)} holds no clusterings: give those that it is about")


def choose(ensemble: Ensemble, columns: str | int | Sequence[str | int]) -> Ensemble:
    """Some clusterings of an ensemble, by name, number or pattern.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> choose(load_beads_labels(), ["form2", "c*1"]).names
    ['form2', 'color1']
    """
    chosen: list[int] = []
    for name in [columns] if isinstance(columns, (str, int, np.integer)) else columns:
        places = (
            [int(name)]
            if isinstance(name, (int, np.integer))
            else [i for i, own in enumerate(ensemble.names) if own == name]
        )
        if isinstance(name, str) and not places:
            places = [i for i, own in enumerate(ensemble.names) if fnmatchcase(own, name)]
        if not places:
            near = nearest(name, ensemble.names)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ensemble.names[:5])} …"
            raise InputError(f"no clustering is called {show(name)}: {hint}")
        chosen += [place for place in places if place not in chosen]
    return ensemble[:, chosen]
