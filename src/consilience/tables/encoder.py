"""The columns of a table as numbers: learned from one table, and done the same way to new rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.stats import skew

from consilience._check import InputError, count, listed, show
from consilience._types import Array, Floats, Ints
from consilience.tables.column_types import MANY, UNKNOWN, YES, TypedColumn, levels_of, sizes_of
from consilience.tables.filling import Gaps, choose_donors, find_gaps
from consilience.tables.numbers_and_dates import days, given_steps

MOST_NAMED = 30  # safeguard: for reading, columns that are set aside, named with the reason
SKEWED = 2.0  # skewness of a column beyond which its logarithm is taken, if that halves it
VALUES = 10  # different numbers that such a column has at least
OTHER = "other"


@dataclass(frozen=True)
class EncodedColumn:
    name: str
    kind: str  # number, log (log x), log1p (log (1 + x)), date (days), ordered (0 for the lowest level), boolean, category
    levels: tuple[str, ...] = ()  # categories with a column each; where there are two, the one that is 1
    zero: str | None = None  # and the one that is 0
    pooled: bool = False  # all other categories share a column
    usual: tuple[float, ...] = ()  # means of its encoded columns
    # What their differences are divided by: of numbers their standard deviation, of words what makes the squared distance of two
    # different ones 2, that of two numbers on average.
    spread: float = 1.0
    notes: tuple[str, ...] = ()
    decimal: str | None = None  # how its numbers and dates were written: those of new rows are read in the same way
    unit: str = ""
    month_first: bool | None = None
    rare: tuple[str, ...] = ()  # pooled categories that the table had

    @property
    def is_category(self) -> bool:
        return self.kind in ("category", "boolean")

    @property
    def has_words(self) -> bool:
        return self.is_category or self.kind == "ordered"

    def steps(self, cells: pd.Series) -> Ints:
        """(n,) which of the levels each cell of words in an order is, as it is written or by what it says; −1 where it is none."""
        codes, words = _codes_of(cells)
        steps = given_steps(self.levels, words)
        return np.append(np.where(np.isnan(steps), -1, steps), -1).astype(np.int64)[codes]

    @classmethod
    def _upgrade(cls, fields: dict[str, Any], version: int) -> dict[str, Any]:
        """What an older version saved, without what is no longer used."""
        return {name: value for name, value in fields.items() if name not in ("absent", "sep")}

    @property
    def all_levels(self) -> tuple[str, ...]:
        """What the encoded columns of a category stand for; the last, where `pooled`, for all others, by a name that no level has."""
        if not self.pooled:
            return self.levels
        name, taken = OTHER, {level.casefold() for level in self.levels}
        while name in taken:
            name += " (pooled)"
        return (*self.levels, name)

    @property
    def names(self) -> list[str]:
        if self.is_category:
            return [f"{self.name}={level}" for level in self.all_levels]
        return [f"{self.name} (log)" if self.kind in ("log", "log1p") else self.name]

    def encode(self, cells: pd.Series) -> tuple[Floats, dict[str, int]]:
        """(n, width) numbers, NaN where missing, and how often each category was met that is not known."""
        if self.kind == "ordered":
            steps = self.steps(cells)
            return np.where(steps < 0, np.nan, steps)[:, None], self._unseen(cells, steps < 0)
        if not self.is_category:
            return self._numbers(cells)[:, None], {}
        codes, words = _codes_of(cells)
        known = [*self.levels, *([] if self.zero is None else [self.zero])]
        at = np.append(pd.Index(known, dtype=object).get_indexer(pd.Index(words, dtype=object)), -1)[codes]
        strange = (at < 0) & (codes >= 0)
        values = np.zeros((len(cells), len(self.names)))
        is_level = (at >= 0) & (at < len(self.levels))
        values[np.flatnonzero(is_level), at[is_level]] = 1.0
        if self.pooled:
            values[strange, -1] = 1.0
        values[codes < 0 if self.pooled else at < 0] = np.nan
        return values, self._unseen(cells, strange)

    def _unseen(self, cells: pd.Series, strange: Array) -> dict[str, int]:
        """How often each word was met that the first table did not have."""
        there = cells[strange & cells.notna().to_numpy()].astype(object)
        unknown = UNKNOWN if self.kind == "ordered" else set()
        met = {str(word): int(n) for word, n in there.value_counts().items() if word not in self.rare}
        return {word: n for word, n in met.items() if word.casefold() not in unknown}

    def _numbers(self, cells: pd.Series) -> Floats:
        if self.kind == "date":
            return days(cells)
        values = cells.to_numpy(float)
        if self.kind not in ("log", "log1p"):
            return values
        least = 0 if self.kind == "log1p" else np.exp(self.usual[0] - 10 * self.spread)
        values = np.maximum(values, least)  # of new rows: below all that was seen
        return np.log1p(values) if self.kind == "log1p" else np.log(values)


def learn_column(found: TypedColumn, *, may_log: bool = True) -> EncodedColumn:
    assert found.cells is not None
    cells, kind = found.cells, found.kind
    if kind in ("category", "boolean"):
        codes, words = _codes_of(cells)
        sizes = dict(zip(words, sizes_of(codes, words).tolist(), strict=True))
        words = sorted((word for word in words if sizes[word]), key=lambda word: (-sizes[word], word))
        if len(words) == 2:
            true = [word for word in words if kind == "boolean" and YES.get(word.casefold())]
            one = true[0] if true else words[1]
            made = EncodedColumn(found.name, kind, (one,), words[1 - words.index(one)], notes=found.notes)
        else:
            kept = levels_of({word: sizes[word] for word in words}, sum(sizes.values()))
            rare = tuple(word for word in words if word not in set(kept))
            made = EncodedColumn(found.name, "category", tuple(kept), None, bool(rare), notes=found.notes, rare=rare)
    elif kind == "ordered":
        made = EncodedColumn(found.name, kind, found.levels, notes=found.notes)
    else:
        if kind == "number" and may_log and not found.asked:
            kind = _logged(cells.to_numpy(float))
        elif kind == "log":
            kind = "log" if np.nanmin(cells) > 0 else "log1p"
        written = {"decimal": found.decimal, "unit": found.unit, "month_first": found.month_first}
        made = EncodedColumn(found.name, kind, notes=found.notes, usual=(0.0,), spread=np.inf, **written)  # type: ignore[arg-type]
    values, _ = made.encode(cells)
    spread = float(np.nanstd(values)) if not made.is_category else 1.0 if made.zero is None else np.sqrt(0.5)
    usual = tuple(float(mean) for mean in np.nanmean(values, axis=0))
    return replace(made, usual=usual, spread=spread if spread > 0 else 1.0)


def _codes_of(cells: pd.Series) -> tuple[Array, list[str]]:
    """Code of each cell, −1 where missing, and the words; what is categorical has both."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return np.asarray(cells.cat.codes), [str(word) for word in cells.cat.categories]
    codes, words = pd.factorize(cells.astype(object), use_na_sentinel=True)
    return codes, [str(word) for word in words]


def _logged(values: Floats) -> str:
    """Whether the logarithm of a number is taken: positive numbers, far more of them small than large."""
    known = values[~np.isnan(values)]
    if len(known) < MANY or known.min() < 0 or len(np.unique(known)) < VALUES:
        return "number"
    kind = "log" if known.min() > 0 else "log1p"
    before, after = skew(known), skew(np.log(known) if kind == "log" else np.log1p(known))
    return kind if before > SKEWED and abs(after) < before / 2 else "number"


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
    id_name: str | None = None

    @classmethod
    def of_numbers(
        cls, values: Floats, names: Sequence[str], *, decimal: str = ".", id_name: str | None = None
    ) -> Self:
        """Of a table of nothing but numbers, which stay as they are: it reads new rows, and fills their gaps from similar ones."""
        # In units of a power of 2, which is exact: the squares of very large numbers overflow.
        unit = np.exp2(np.minimum(np.frexp(np.abs(values).max(axis=0, initial=0))[1], 1023).astype(float))
        mean, spread = (values / unit).mean(axis=0) * unit, (values / unit).std(axis=0) * unit
        sign = "," if decimal == "," else None
        told = zip(names, mean.tolist(), spread.tolist(), strict=True)
        columns = tuple(EncodedColumn(name, "number", usual=(m,), spread=s or 1.0, decimal=sign) for name, m, s in told)
        donors = values[choose_donors(*values.shape)].copy()
        return cls(columns, {}, donors, len(values), 0, dict.fromkeys(names, "number"), id_name=id_name)

    @classmethod
    def learn(cls, found: Sequence[TypedColumn], source: str = "the table") -> tuple[Self, Floats, Gaps | None]:
        """From typed columns: the encoder, the encoded and filled values, and their gaps (None without any)."""
        # Time O(n width), and for missing cells O(rows with gaps · donors · width).
        used = [one for one in found if one.kind != "ignore"]
        aside = {one.name: one.why for one in found if one.kind == "ignore"}
        if not used:
            alike = {"constant", "empty"}.issuperset(aside.values())
            what = "there is nothing to cluster" if alike else "say what they are with types= (--type)"
            raise InputError(f"{source}: no column is left to cluster by: {_named(aside)}: {what}")
        plain = all(one.kind == "number" for one in used)  # they stay as they are, unless a logarithm is asked for
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

    @classmethod
    def _upgrade(cls, fields: dict[str, Any], version: int) -> dict[str, Any]:
        """What an older version saved, without what is no longer used; what is no longer read is refused."""
        if fields.get("shapes") or any(one.kind == "choices" or one.zero == "(empty)" for one in fields["columns"]):
            what = "this model was fitted on series, or on several choices or ticks in a cell, which are no longer read"
            raise InputError(f"{what}: make numbers of them, and fit it again")
        return {name: value for name, value in fields.items() if name != "shapes"}

    @property
    def names(self) -> list[str]:
        return [name for column in self.columns for name in column.names]

    def _repeated(self, values: Any) -> Array:
        """A value of every column for each of its encoded columns."""
        return np.repeat(np.array(list(values)), [len(column.names) for column in self.columns])

    @property
    def groups(self) -> Ints:
        """For each encoded column the number of the original one."""
        return self._repeated(range(len(self.columns)))

    @property
    def units(self) -> Floats:
        """For each encoded column of a category what it is divided by; NaN of numbers."""
        return self._repeated(column.spread if column.is_category else np.nan for column in self.columns)

    def fill(self, values: Floats) -> Gaps | None:
        """Fill NaN in encoded values in the default way, in place; what was missing, or None."""
        if not np.isnan(values).any():
            return None
        gaps = find_gaps(values, self.donors, self.groups, self._repeated(column.spread for column in self.columns))
        gaps.fill(values)
        return gaps

    def encode(self, cells: Iterable[pd.Series]) -> tuple[Floats, Gaps | None, list[str]]:
        """Typed columns, in the encoder's order, as filled numbers; what was missing; and what was not seen before."""
        parts, notices = [], []
        for column, one in zip(self.columns, cells, strict=True):
            part, unseen = column.encode(one)
            if unseen:
                n, first = sum(unseen.values()), show(next(iter(unseen)), 30)
                treated = f"{'counts' if n == 1 else 'count'} as {repr(column.all_levels[-1]) if column.pooled else 'missing'}"
                what = ("is a level", "are levels") if column.kind == "ordered" else ("is a category", "are categories")
                said = f"{count(n, 'cell')} of {column.name!r} {what[n > 1]} not seen before, such as {first}, and {treated}"
                notices.append(said)
            parts.append(part)
        values = np.concatenate(parts, axis=1)
        return values, self.fill(values), notices

    def describe(self) -> str:
        held: dict[str, list[str]] = {kind: [] for kind in SAID}
        for column in self.columns:
            if column.kind == "category":
                pooled = " (rare ones pooled)" if column.pooled else ""
                held["category" if column.zero is None else "category of two"].append(f"{column.name}{pooled}")
            elif column.kind in ("log", "log1p"):
                held["number"].append(f"{column.name} (logged)")
            elif column.kind == "ordered":
                held["ordered category"].append(f"{column.name} ({column.levels[0]} to {column.levels[-1]})")
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


SAID = ("number", "ordered category", "category", "category of two", "yes-or-no", "date")  # in this order


def named_kind(kind: str, names: Sequence[str]) -> str:
    many = kind.replace("category", "categories") if "category" in kind or kind == "yes-or-no" else f"{kind}s"
    return f"{len(names):,} {kind if len(names) == 1 else many}: {listed(names)}"


def describe_aside(aside: Mapping[str, str]) -> str:
    return f"set aside {_named(aside)}"


def _named(aside: Mapping[str, str]) -> str:
    return listed([f"{name} ({why})" for name, why in aside.items()], MOST_NAMED)
