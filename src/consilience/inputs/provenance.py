"""What a source holds, and where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from consilience._check import InputError, fingerprint
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import ensemble_of
from consilience.inputs.known_labels import labels_by_name
from consilience.tables import Table, match_rows


@dataclass(frozen=True, eq=False)
class Provenance:
    name: str  # what people call it: the name of the folder, or of the file without its ending
    source: str  # name of the file or folder, or of the type of the object
    path: Path | None = None
    run: str = ""  # 16 hexadecimal digits that stay the same as long as it is the same run, however it grows
    code: str = ""  # the Python expression that opens it; empty for an object in memory
    store: Path | None = None  # the stored run, to which clusterings can be added
    manifest: Mapping[str, Any] | None = None
    fingerprint: str | None = None  # of the data that the run was made from
    refused: tuple[str, ...] = ()  # files of the run that were left out, each with the reason
    data_code: str = ""  # the Python expression that reads what `code` calls ``data``; empty where nobody knows


@dataclass(frozen=True, eq=False)
class Opened:
    """What a source holds: clusterings, or what was found of them (None where it is a table of data), and what goes with them."""

    result: Any
    provenance: Provenance
    data: Table | None = None
    known: Mapping[str, Any] = field(default_factory=dict)  # known labels by name, one entry per object
    kind: str = "labels"  # labels, data, counts, distances, run, or the name of a result's class
    notices: tuple[str, ...] = ()  # what was noticed while a table was read
    id_name: str = "id"  # what the column of the ids is called

    @property
    def ensemble(self) -> Ensemble:
        if self.result is None:
            what = f"{self.provenance.source} holds {self.kind}, not clusterings"
            raise InputError(f"{what}: cluster it with generate first")
        return ensemble_of(self.result)

    @property
    def other_data(self) -> bool:
        """Whether the data is not that from which the run was made."""
        made = self.provenance.fingerprint
        return self.data is not None and made is not None and fingerprint(self.data.values) != made

    def with_data(self, table: Table) -> "Opened":
        """The same with the data of its objects, matched by their ids where both have them, and what that knows of them."""
        ensemble = self.ensemble
        table = match_rows(table, ensemble.ids, ensemble.n_objects)
        known = {**labels_by_name(table.labels), **self.known}
        id_name = table.id_heading if self.id_name == "id" else self.id_name
        return replace(self, data=table, known=known, id_name=id_name)

    def with_known(self, known: Mapping[str, Any], source: Any = "") -> "Opened":
        """The same with more labels that are known; no name may be known already."""
        if twice := sorted(set(known) & set(self.known)):
            what = f"{source}: known" if source else "known"
            raise InputError(f"{what} labels {twice[0]!r} are also in {self.provenance.source}: rename one of the two")
        return replace(self, known={**self.known, **known})
