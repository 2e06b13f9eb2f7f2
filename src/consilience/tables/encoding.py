"""The columns of a table as numbers: learned from one table, and done the same way to new rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count, listed, show
from consilience._types import Floats, Ints
from consilience.tables.encoded_column import EncodedColumn, learn_column
from consilience.tables.filling import Gaps, choose_donors, find_gaps
from consilience.tables.shapes import shape_features, shape_names
from consilience.tables.typed_column import Found

VERSION = 1
MOST_NAMED = 30  # columns that are set aside, named with the reason


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """What was learned from the columns of a table, so that new rows become numbers in the same way.

    Attributes
    ----------
    columns : tuple of EncodedColumn
        Those in use, in the order of the table.
    aside : dict of str to str
        Columns that are not used, and why.
    donors : (m, width) array
        Encoded rows of the table that missing cells are filled from; NaN where they lack a cell.
    n_objects, n_missing : int
        Rows of the table, and its missing cells in the columns in use.
    types : dict of str to str
        What each of the columns in use was taken for.
    shapes : bool
        Whether the columns are the points of one series in each row, and its shape is encoded (:mod:`consilience.tables.shapes`).
    id_name : str or None
        The column that named the objects, and names those of new rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.tables import read_table
    >>> people = pd.DataFrame({"age": [31.0, None, 54.0, 47.0], "plan": ["free", "pro", "pro", None], "country": ["NL"] * 4})
    >>> table = read_table(people, kind="data")
    >>> table.encoder.describe()
    '1 number: age; 1 category of two: plan; set aside country (constant); 2 missing cells (25 %) filled from similar rows'
    >>> table.columns
    ['age', 'plan=free']
    >>> new = read_table(pd.DataFrame({"plan": ["free", "gold"], "age": [20, 80]}), kind="data", encoder=table.encoder)
    >>> new.values.round(2).tolist(), new.notices[-1]
    ([[20.0, 1.0], [80.0, 0.33]], "DataFrame: 1 cell of 'plan' is a category not seen before, such as 'gold', and counts as missing")
    """

    columns: tuple[EncodedColumn, ...]
    aside: dict[str, str]
    donors: Floats
    n_objects: int = 0
    n_missing: int = 0
    types: dict[str, str] = field(default_factory=dict)
    shapes: bool = False
    id_name: str | None = None

    @classmethod
    def of_numbers(
        cls, values: Floats, names: Sequence[str], *, decimal: str = ".", id_name: str | None = None
    ) -> Encoder:
        """Of a table of nothing but numbers, which stay as they are: it reads new rows, and fills their gaps from similar ones.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from consilience.tables import Encoder, read_table
        >>> encoder = Encoder.of_numbers(np.array([[1.0, 10.0], [2.0, 20.0]]), ["a", "b"])
        >>> read_table(pd.DataFrame({"b": [20.0], "a": [None]}), kind="data", encoder=encoder).values.tolist()
        [[1.5, 20.0]]
        """
        mean, spread = values.mean(axis=0), values.std(axis=0)
        sign = "," if decimal == "," else None
        columns = tuple(
            EncodedColumn(name, "number", usual=(float(mean[j]),), spread=float(spread[j]) or 1.0, decimal=sign)
            for j, name in enumerate(names)
        )
        donors = values[choose_donors(*values.shape)].copy()
        return cls(columns, {}, donors, len(values), 0, dict.fromkeys(names, "number"), id_name=id_name)

    @classmethod
    def of_series(cls, found: Sequence[Found]) -> tuple[Encoder, Floats]:
        """From the points of one series in each row: the encoder, and the features of their shapes."""
        columns = tuple(
            EncodedColumn(one.name, "number", usual=(0.0,), decimal=one.decimal, unit=one.unit) for one in found
        )
        shape_names(len(columns))
        lost = sum(int(one.cells.isna().sum()) for one in found if one.cells is not None)
        n = len(found[0].cells) if found[0].cells is not None else 0
        made = cls(columns, {}, np.empty((0, len(columns))), n, lost, {one.name: "number" for one in found}, True)
        return made, made.encode([one.cells for one in found if one.cells is not None])[0]

    @classmethod
    def learn(cls, found: Sequence[Found], source: str = "the table") -> tuple[Encoder, Floats, Gaps | None]:
        """From typed columns: the encoder, the encoded and filled values, and their gaps (None without any).

        In a table of nothing but numbers these stay as they are, unless a logarithm is asked for.
        Time O(n width), and for missing cells O(rows with gaps · donors · width).
        """
        used = [one for one in found if one.kind != "ignore"]
        aside = {one.name: one.why for one in found if one.kind == "ignore"}
        if not used:
            alike = {"constant", "empty"}.issuperset(aside.values())
            what = (
                "there is nothing to cluster" if alike else "say what they are with types= (--type), such as 'category'"
            )
            raise InputError(f"{source}: no column is left to cluster by: {_named(aside)}: {what}")
        plain = all(one.kind == "number" for one in used)
        columns = tuple(learn_column(one, may_log=not plain) for one in used)
        parts = [column.encode(one.cells)[0] for column, one in zip(columns, used, strict=True)]
        values = np.concatenate(parts, axis=1)
        n_missing = sum(int(np.isnan(part[:, 0]).sum()) for part in parts)
        donors = values[choose_donors(*values.shape)]
        usual = np.concatenate([column.usual for column in columns])
        nobody = np.isnan(donors).all(axis=0)
        donors[:, nobody] = usual[nobody]
        types = {one.name: one.kind for one in used}
        made = cls(columns, aside, donors, len(values), n_missing, types)
        return made, values, made.fill(values)

    @property
    def names(self) -> list[str]:
        """Of the encoded columns."""
        if self.shapes:
            return shape_names(len(self.columns))[0]
        return [name for column in self.columns for name in column.names]

    @property
    def groups(self) -> Ints:
        """For each encoded column the number of the original one; of shapes, of their family."""
        if self.shapes:
            return shape_names(len(self.columns))[1]
        return np.repeat(np.arange(len(self.columns)), [len(column.names) for column in self.columns])

    @property
    def units(self) -> Floats:
        """For each encoded column of a category what it is divided by; NaN of numbers."""
        if self.shapes:
            return np.full(len(self.names), np.nan)
        return np.concatenate([np.full(len(c.names), c.spread if c.is_category else np.nan) for c in self.columns])

    def fill(self, values: Floats) -> Gaps | None:
        """Fill NaN in encoded values in the default way, in place; what was missing, or None."""
        if not np.isnan(values).any():
            return None
        scale = np.repeat([column.spread for column in self.columns], [len(column.names) for column in self.columns])
        gaps = find_gaps(values, self.donors, self.groups, scale)
        gaps.fill(values)
        return gaps

    def encode(self, cells: Iterable[pd.Series]) -> tuple[Floats, Gaps | None, list[str]]:
        """Typed columns, in the encoder's order, as filled numbers; what was missing; and what was not seen before."""
        parts, notices = [], []
        for column, one in zip(self.columns, cells, strict=True):
            part, unseen = column.encode(one)
            if unseen:
                n, first = sum(unseen.values()), next(iter(unseen))
                treated = f"{'counts' if n == 1 else 'count'} as {repr(column.all_levels[-1]) if column.pooled else 'missing'}"
                what = ("is a level", "are levels") if column.kind == "ordered" else ("is a category", "are categories")
                if column.kind == "choices":
                    what = ("has a choice", "have choices")
                    treated = treated if column.pooled else f"{'is' if n == 1 else 'are'} left out"
                notices.append(
                    f"{count(n, 'cell')} of {column.name!r} {what[n > 1]} not seen before, "
                    f"such as {show(first, 30)}, and {treated}"
                )
            parts.append(part)
        values = np.concatenate(parts, axis=1)
        if self.shapes:
            return shape_features(values), None, notices
        return values, self.fill(values), notices

    def describe(self) -> str:
        """What was done, in one line."""
        if self.shapes:
            lost = f"; {count(self.n_missing, 'missing point')} on the line between neighbors" if self.n_missing else ""
            families = "high and low parts, frequencies, levels and steps"
            return f"series of {len(self.columns):,} points, each row to mean 0 and standard deviation 1, by its shape: {families}{lost}"
        kinds = (
            "number",
            "ordered category",
            "category",
            "category of two",
            "column of several choices",
            "yes-or-no",
            "date",
        )
        held: dict[str, list[str]] = {kind: [] for kind in kinds}
        told: set[tuple[str, ...]] = set()
        for column in self.columns:
            if column.kind == "category":
                pooled = " (rare ones pooled)" if column.pooled else ""
                held["category" if column.zero is None else "category of two"].append(f"{column.name}{pooled}")
            elif column.kind in ("log", "log1p"):
                held["number"].append(f"{column.name} (logged)")
            elif column.kind == "choices":
                held["column of several choices"].append(
                    f"{column.name}{' (rare ones pooled)' if column.pooled else ''}"
                )
            elif column.kind == "ordered":
                ends = "" if column.levels in told else f" ({column.levels[0]} to {column.levels[-1]})"
                held["ordered category"].append(f"{column.name}{ends}")
                told.add(column.levels)
            else:
                held["yes-or-no" if column.kind == "boolean" else column.kind].append(column.name)
        said = [named_kind(kind, names) for kind, names in held.items() if names]
        if self.aside:
            said.append(describe_aside(self.aside))
        if self.n_missing:
            share = 100 * self.n_missing / (self.n_objects * len(self.columns))
            percent = f"{share:.0f}" if share >= 1.5 else f"{share:.2g}"
            said.append(f"{count(self.n_missing, 'missing cell')} ({percent} %) filled from similar rows")
        said += [f"{column.name}: {note}" for column in self.columns for note in column.notes]
        return "; ".join(said)

    def __repr__(self) -> str:
        return f"Encoder: {self.describe()}"

    def to_json(self) -> dict[str, Any]:
        """A JSON value that :meth:`from_json` reads; NaN is null."""
        donors = [[None if np.isnan(x) else x for x in row] for row in self.donors.tolist()]
        columns = [asdict(column) for column in self.columns]
        return {
            "version": VERSION,
            "columns": json.loads(json.dumps(columns)),
            "aside": self.aside,
            "donors": donors,
            "n_objects": self.n_objects,
            "n_missing": self.n_missing,
            "types": self.types,
            "shapes": self.shapes,
            "id_name": self.id_name,
        }

    @classmethod
    def from_json(cls, content: Any) -> Encoder:
        """The encoder that :meth:`to_json` wrote.

        Examples
        --------
        >>> import json, pandas as pd
        >>> from consilience.tables import Encoder, read_table
        >>> encoder = read_table(pd.DataFrame({"a": ["x", "y", "x"], "b": [1.5, None, 2.0]}), kind="data").encoder
        >>> Encoder.from_json(json.loads(json.dumps(encoder.to_json()))).describe() == encoder.describe()
        True
        """
        if not isinstance(content, Mapping) or content.get("version") != VERSION:
            raise InputError(f"this is not an encoder of version {VERSION}, as to_json writes it: make it again")
        try:
            columns = tuple(
                EncodedColumn(**{key: tuple(cell) if isinstance(cell, list) else cell for key, cell in one.items()})  # type: ignore[arg-type]
                for one in content["columns"]
            )
            width = sum(len(column.names) for column in columns)
            donors = np.array(content["donors"], float).reshape(-1, width)
            sizes = int(content["n_objects"]), int(content["n_missing"])
            types, shapes = dict(content["types"]), bool(content["shapes"])
            return cls(columns, dict(content["aside"]), donors, *sizes, types, shapes, content["id_name"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"this is not an encoder as to_json wrote it ({show(str(error))}): make it again"
            ) from None


def named_kind(kind: str, names: Sequence[str]) -> str:
    """How many columns are of a kind, and which.

    Examples
    --------
    >>> named_kind("number", ["age", "visits"]), named_kind("category of two", ["plan"])
    ('2 numbers: age, visits', '1 category of two: plan')
    """
    many = {"category of two": "categories of two", "yes-or-no": "yes-or-no"}
    many["column of several choices"] = "columns of several choices"
    many |= {one: f"{one[:-1]}ies" for one in ("category", "ordered category")}
    word = kind if len(names) == 1 else many.get(kind, f"{kind}s")
    return f"{len(names):,} {word}: {listed(names)}"


def describe_aside(aside: Mapping[str, str]) -> str:
    """Which columns are not used, and why."""
    return f"set aside {_named(aside)}"


def _named(aside: Mapping[str, str]) -> str:
    return listed([f"{name} ({why})" for name, why in aside.items()], MOST_NAMED)
