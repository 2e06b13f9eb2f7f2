"""What a run of generation is asked to do, the same for all its clusterings; and how each clustering is to be made."""

# A clustering is drawn from the run's seed and its own number, and from nothing else: not from what is made beside it, before it, or
# where.

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from consilience import _kernels
from consilience._check import InputError, check_bool, check_choice, check_count, check_positive, show
from consilience._run.random import child_seed
from consilience._types import Array, Floats, Ints
from consilience.generation.guide import BoundGuide
from consilience.generation.kmeans import INITS, base_text

if TYPE_CHECKING:
    from consilience.generation.methods.method import Method

METHODS: dict[str, Method] = {}  # entered by consilience.generation.methods, and by users
METRICS = ("euclidean", "precomputed", "graph")
SETTINGS: Mapping[str, Callable[[str, Any], Any]] = {
    "metric": lambda name, value: check_choice(value, METRICS, name),
    "standardize": check_bool,
    "n_dimensions": partial(check_count, least=2),
    "init": lambda name, value: check_choice(value, INITS, name),
    "max_iter": check_count,
}
NOT_OURS = "the clustering has no '{name}' in its info: only one made by generate can be reproduced"
# Columns of `info` and their types, which they have wherever they come from: memory, a store of now or of an earlier version.
WHOLE = ("number", "n_clusters", "seed", "unit", "steps", "around", "from_seed", "from_unit", "filling")
FRACTIONS = ("jitter", "stress", "inertia", "seconds", "compactness")


@dataclass(frozen=True)
class Plan:
    # The settings of `generate` that decide what clustering number i looks like. `methods` holds (name, share) pairs, `n_clusters` the
    # numbers of clusters to draw from, `base` the text of the clusterer that takes the place of k-means, `guide` what BoundGuide keeps of
    # itself (in a row of `info` only its words), `options` those of the methods.

    methods: tuple[tuple[str, float], ...]
    n_clusters: tuple[int, ...]
    base: str | None = None
    metric: str = "euclidean"
    standardize: bool = True
    n_dimensions: int = 10
    init: str = "random"
    max_iter: int = 300
    guide: Any = None
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def checked(
        cls, *, methods: Any, n_clusters: Any, base: Any = None, guide: BoundGuide | None = None, **given: Any
    ) -> Plan:
        shares, text = check_methods(methods), base_text(base)
        settings = {name: check(name, given.pop(name)) for name, check in SETTINGS.items() if name in given}
        for name, _ in shares:
            if base is not None and not METHODS[name].takes_base:
                raise InputError(f"{name} ends in k-means of its own: leave it out of methods, or leave out base")
            if settings.get("metric") == "graph" and not METHODS[name].takes_graph:
                raise InputError(f"{name} needs columns, and a graph (metric='graph') has none: leave out the method")
        kept = None if guide is None else guide.as_json()
        options = _check_options(given, dict(shares))
        return cls(shares, check_clusters(n_clusters), base=text, guide=kept, options=options, **settings)

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        return {"made_by": "generate", **values.pop("options"), **values}

    def text(self) -> str:
        # As it stands in a row of `info`.
        values = self.as_json() | {"guide": self.guide_words}
        return json.dumps({k: v for k, v in values.items() if k not in ("made_by", "methods", "n_clusters")})

    @property
    def sample_size(self) -> int | None:
        return self.options.get("sample_size")

    @property
    def guide_words(self) -> str | None:
        return BoundGuide.of_json(self.guide).words if isinstance(self.guide, Mapping) else self.guide

    @classmethod
    def of_json(cls, plan: Mapping[str, Any]) -> Plan:
        # What an earlier version did not write is as it is by default.
        names = {field.name for field in fields(cls)} - {"options"}
        # JSON has no tuples, by which plans are compared.
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in plan.items()}
        values = defaults(name for name, _ in values["methods"]) | values
        values["methods"] = tuple((name, share) for name, share in values["methods"])
        options = {name: value for name, value in values.items() if name not in names | {"made_by", "seed", "columns"}}
        return cls(**{name: values[name] for name in names}, options=options)

    def method_of(self, n: int) -> list[str]:
        # Each unit has the method furthest behind its share, so that any first units are a fair mix. Not drawn: shares hold for any
        # number of clusterings, and a longer run begins with a shorter one.
        names, shares = zip(*self.methods, strict=True)
        given, chosen = [0] * len(names), []
        for unit in range(1, n + 1):
            behind = max(range(len(names)), key=lambda i: unit * shares[i] - given[i])
            given[behind] += 1
            chosen.append(names[behind])
        return chosen


def defaults(methods: Iterable[str]) -> dict[str, Any]:
    """What the keywords of `generate` are if nothing is said, for these methods."""
    usual = {f.name: f.default for f in fields(Plan) if f.name not in ("methods", "n_clusters", "options")}
    return usual | {name: default for m in methods if m in METHODS for name, (default, _) in METHODS[m].options.items()}


def _check_options(given: Mapping[str, Any], used: Iterable[str]) -> dict[str, Any]:
    owners = {name: method for method in reversed(METHODS) for name in METHODS[method].options}
    chosen = {name: default for m in used for name, (default, _) in METHODS[m].options.items()}
    for name, value in given.items():
        owner = owners[check_choice(name, owners, "option of generate")]
        checked = METHODS[owner].options[name][1](name, value)
        if name not in chosen:
            raise InputError(f"{name} is an option of {owner}, which is not among the methods: leave it out")
        chosen[name] = checked
    return chosen


def check_methods(methods: Any) -> tuple[tuple[str, float], ...]:
    """(name, share) pairs that sum to one, from "zipf+pca", "zipf:2+minima:1", or a dict of shares."""
    if isinstance(methods, str):
        parts = [part.partition(":") for part in methods.replace(",", "+").split("+")]
        pairs = [(name.strip(), _share(share)) for name, _, share in parts]
    elif isinstance(methods, Mapping):
        pairs = list(methods.items())
    else:
        raise InputError(f"methods must be text such as 'zipf+pca', or a dict of shares; got {show(methods)}")
    shares: dict[str, float] = {}
    for name, share in pairs:
        check_choice(name, METHODS, "method")
        if name in shares:
            raise InputError(f"methods names {name!r} twice: give it once, with a share such as '{name}:2'")
        shares[name] = check_positive(f"the share of {name!r} in methods", share)
    if not shares:
        raise InputError(f"methods is empty: choose from {', '.join(METHODS)}")
    total = sum(shares.values())
    return tuple((name, share / total) for name, share in shares.items())


def _share(text: str) -> Any:
    try:
        return float(text or 1)
    except ValueError:
        return text  # which is refused by its name


def check_clusters(n_clusters: Any) -> tuple[int, ...]:
    """The numbers of clusters to draw from: one, a pair (low, high), or a list or range of choices."""
    several = isinstance(n_clusters, Iterable) and not isinstance(n_clusters, str)
    choices = tuple(check_count("n_clusters", k, 2) for k in (several and list(n_clusters)) or [n_clusters])
    # A tuple of two is a range, a list of two are two choices.
    if not isinstance(n_clusters, tuple) or len(n_clusters) != 2:
        return choices
    low, high = choices
    if low > high:
        raise InputError(f"n_clusters runs from {low} to {high}: give the smaller number first")
    return tuple(range(low, high + 1))


@dataclass(frozen=True)
class Spec:
    # All that is needed to reproduce one clustering: these fields are columns of `info`. `seed` and `unit` name its random stream;
    # `weights` multiply the columns of its space (None: all alike); `drawn` holds what else its method drew. A variation has the starts
    # and objects of the clustering it is near, whose stream `from_seed` and `from_unit` name. `filling` is the number of the way in which
    # missing cells of the data were filled; None where none are.

    method: str
    seed: int
    unit: int
    n_clusters: int
    weights: Array | None = None
    drawn: Mapping[str, float] = field(default_factory=dict)
    around: int | None = None
    jitter: float | None = None
    from_seed: int | None = None
    from_unit: int | None = None
    filling: int | None = None

    @property
    def origin(self) -> tuple[int, int]:
        return (self.seed, self.unit) if self.from_unit is None else (self.from_seed or 0, self.from_unit)

    @property
    def run_stream(self) -> tuple[int, int]:
        return child_seed(self.origin[0], "generation.run"), self.origin[1]

    def times(self, factors: Floats) -> Spec:
        return replace(self, weights=factors if self.weights is None else self.weights * factors)

    @classmethod
    def of_row(cls, row: Any) -> Spec:
        cells = {str(key): value for key, value in dict(row).items() if np.ndim(value) or not pd.isna(value)}
        for name in ("method", "seed", "unit", "n_clusters"):
            if name not in cells:
                raise InputError(NOT_OURS.format(name=name))
        method = cells["method"]
        if method not in METHODS:
            raise InputError(f"the clustering was made by {show(method)}, which generate does not know")
        weights = cells.get("weights")  # a list, as JSON and Parquet have it
        return cls(
            method=str(method),
            seed=check_count("seed", cells["seed"], 0),
            unit=check_count("unit", cells["unit"], 0),
            n_clusters=check_count("n_clusters", cells["n_clusters"], 2),
            weights=None if weights is None else np.asarray(weights),
            drawn={name: float(cells[name]) for name in METHODS[method].drawn if name in cells},
            jitter=float(cells["jitter"]) if "jitter" in cells else None,
            **{name: int(cells[name]) for name in ("around", "from_seed", "from_unit", "filling") if name in cells},
        )

    def as_center(self, number: int, jitter: float, seed: int) -> Spec:
        own = int(_kernels.random_bits(child_seed(seed, "generation.vary"), number, 1)[0]) >> 1
        from_seed, from_unit = self.origin
        return replace(self, seed=own, around=number, jitter=jitter, from_seed=from_seed, from_unit=from_unit)


def draw(
    plan: Plan, method: str, width: int, seed: int, unit: int, *, groups: Ints | None = None, n_fillings: int = 0
) -> Spec:
    u = _kernels.random_uniform(child_seed(seed, "generation.draw"), unit, 3 + width)
    if groups is not None:
        # Columns that stand for one column of the table as it came (the values of a word, say) share what is drawn for it.
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        u = np.concatenate([u[:3], u[3:][first][group]])
    spec = Spec(method, seed, unit, plan.n_clusters[int(u[0] * len(plan.n_clusters))])
    if n_fillings:
        # A stream of its own: the same table without gaps has the same weights and starts.
        share = _kernels.random_uniform(child_seed(seed, "generation.filling"), unit, 1)[0]
        spec = replace(spec, filling=int(share * n_fillings))
    return METHODS[method].draw(spec, u[1:], plan)


def vary(center: Spec, width: int, units: Iterable[int]) -> list[Spec]:
    # Specs near one: weights (and what its method varies) times exp(jitter · N(0, 1)), all else, its starts too, as it was.
    weights = np.ones(width) if center.weights is None else np.asarray(center.weights, float)
    varied = METHODS[center.method].varied
    specs = []
    for unit in units:
        u = _kernels.random_uniform(child_seed(center.seed, "generation.vary"), unit, width + len(varied))
        # Uniform numbers may be 0, whose normal quantile is −∞.
        noise = np.exp((center.jitter or 0.0) * ndtri(np.clip(u, 2.0**-54, None)))
        drawn = {name: center.drawn[name] * by for name, by in zip(varied, noise[width:], strict=True)}
        new = weights * noise[:width] if width else None
        specs.append(replace(center, unit=unit, weights=new, drawn={**center.drawn, **drawn}))
    return specs


def of_row(row: Any, base: Any) -> tuple[Spec, Plan]:
    spec = Spec.of_row(row)
    try:
        kept = dict(json.loads(dict(row)["settings"]))
    except (KeyError, TypeError, ValueError):
        raise InputError(NOT_OURS.format(name="settings")) from None
    plan = Plan.of_json({**kept, "methods": [(spec.method, 1.0)], "n_clusters": [spec.n_clusters]})
    given = base_text(base)
    # By its words: the clusterer itself is not kept, and another one would make another clustering without a word.
    if plan.base != given:
        made = "k-means" if plan.base is None else f"base={plan.base}"
        raise InputError(f"the clustering was made with {made}, and base is {given}: give the one it was made with")
    return spec, plan


def number_columns() -> set[str]:
    return {*WHOLE, *FRACTIONS, *(name for method in METHODS.values() for name in method.drawn)}
