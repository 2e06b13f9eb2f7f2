"""What a run of generation is asked to do: checked once, kept with the run, the same for every clustering of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, check_count, check_positive, is_number, show

METHODS = ("zipf", "pca", "minima", "features", "objects", "spectral")
WEIGHTED = ("zipf", "pca", "spectral")  # those that need two columns to weigh against each other
SIGMA_DIVISORS = tuple(2 ** (i / 4) for i in (0, 2, 4, 8, 16, 32))  # "0, 2, 4, …, 32", six values, says the paper
NUMBERS: dict[str, Any] = {"max_alpha": float, "pca_share": float, "feature_share": float, "object_share": float}
NUMBERS |= {"zipf_max": int, "n_dimensions": int, "max_iter": int, "standardize": bool}
INITS = ("random", "k-means++")


@dataclass(frozen=True)
class Settings:
    """The settings of :func:`consilience.generate` that decide what clustering number i looks like.

    `methods` holds (name, share) pairs, `n_clusters` the numbers of clusters to draw from, `base` the text of the
    clusterer that takes the place of k-means, or None.
    """

    methods: tuple[tuple[str, float], ...]
    n_clusters: tuple[int, ...]
    base: str | None = None
    metric: str = "euclidean"
    standardize: bool = True
    max_alpha: float = 1.5
    zipf_max: int = 100
    pca_share: float = 0.95
    pca_rule: str = "variance"
    feature_share: float = 0.5
    object_share: float = 0.8
    sigma_divisors: tuple[float, ...] = SIGMA_DIVISORS
    n_dimensions: int = 10
    init: str = "random"
    max_iter: int = 300

    @classmethod
    def checked(
        cls, *, methods: Any, n_clusters: Any, base: Any = None, sigma_divisors: Any = SIGMA_DIVISORS, **others: Any
    ) -> Settings:
        """Settings from what a user gave, or one sentence."""
        self = cls(
            methods=check_methods(methods),
            n_clusters=check_clusters(n_clusters),
            base=base,
            sigma_divisors=_check_divisors(sigma_divisors),
            **others,
        )
        check_choice(self.metric, ("euclidean", "precomputed"), "metric")
        check_choice(self.pca_rule, ("variance", "deviation"), "pca_rule")
        check_choice(self.init, INITS, "init")
        check_positive("max_alpha", self.max_alpha, or_equal=True)
        for name, least in (("zipf_max", 1), ("n_dimensions", 2), ("max_iter", 1)):
            check_count(name, getattr(self, name), least)
        for name in ("pca_share", "feature_share", "object_share"):
            _check_share(name, getattr(self, name))
        if not isinstance(self.standardize, (bool, np.bool_)):
            raise InputError(f"standardize must be True or False; got {show(self.standardize)}")
        if base is not None and "spectral" in dict(self.methods):
            raise InputError("spectral ends in k-means of its own: leave it out of methods, or leave out base")
        plain: dict[str, Any] = {name: kind(getattr(self, name)) for name, kind in NUMBERS.items()}
        return replace(self, **plain)

    def plan(self) -> dict[str, Any]:
        """The settings as a JSON value."""
        return {"made_by": "generate", **asdict(self)}

    def text(self) -> str:
        """The settings as they stand in a clustering's row of `info`: all but its method and number of clusters."""
        return json.dumps({k: v for k, v in asdict(self).items() if k not in ("methods", "n_clusters")})

    @classmethod
    def of_text(cls, text: Any, method: str, n_clusters: int) -> Settings:
        """The settings that made one clustering."""
        try:
            plan = {"made_by": "generate", **json.loads(text)}
        except (TypeError, ValueError):
            raise InputError(
                "the clustering has no 'settings' in its info: only one made by generate can be made again"
            ) from None
        return cls.of_plan({**plan, "methods": [(method, 1.0)], "n_clusters": [n_clusters]})

    @classmethod
    def of_plan(cls, plan: Any) -> Settings:
        """The settings that made a stored run."""
        names = {field.name for field in fields(cls)}
        if not isinstance(plan, Mapping) or plan.get("made_by") != "generate" or not names <= set(plan):
            raise InputError(
                "the run was not made by generate, or by another version of it: there is no way to add to it"
            )
        values: dict[str, Any] = {name: plan[name] for name in names}
        values["methods"] = tuple((name, share) for name, share in values["methods"])
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**values)

    def method_of(self, n: int) -> list[str]:
        """The methods of units 0 … n − 1: each the one furthest behind its share, so that any first units are a fair mix."""
        names, shares = zip(*self.methods, strict=True)
        given, chosen = [0] * len(names), []
        for unit in range(1, n + 1):
            behind = max(range(len(names)), key=lambda i: unit * shares[i] - given[i])
            given[behind] += 1
            chosen.append(names[behind])
        return chosen


def check_methods(methods: Any) -> tuple[tuple[str, float], ...]:
    """(name, share) pairs that sum to one, from "zipf+pca", "zipf:2+minima:1", or a dict of shares."""
    if isinstance(methods, str):
        pairs = [
            (name.strip(), share)
            for name, _, share in (part.partition(":") for part in methods.replace(",", "+").split("+"))
        ]
    elif isinstance(methods, Mapping):
        pairs = list(methods.items())
    else:
        raise InputError(f"methods must be text such as 'zipf+pca', or a dict of shares; got {show(methods)}")
    shares: dict[str, float] = {}
    for name, share in pairs:
        check_choice(name, METHODS, "method")
        if name in shares:
            raise InputError(f"methods names {name!r} twice: give it once, with a share such as '{name}:2'")
        shares[name] = check_positive(f"the share of {name!r} in methods", _number(share))
    if not shares:
        raise InputError(f"methods is empty: choose from {', '.join(METHODS)}")
    total = sum(shares.values())
    return tuple((name, share / total) for name, share in shares.items())


def _number(share: Any) -> Any:
    if not isinstance(share, str):
        return share
    try:
        return float(share) if share else 1.0
    except ValueError:
        return share


def check_clusters(n_clusters: Any) -> tuple[int, ...]:
    """The numbers of clusters to draw from: one, a pair (low, high), or a list or range of choices."""
    if isinstance(n_clusters, tuple) and len(n_clusters) == 2:
        low, high = (check_count("n_clusters", k, 2) for k in n_clusters)
        if low > high:
            raise InputError(f"n_clusters runs from {low} to {high}: give the smaller number first")
        return tuple(range(low, high + 1))
    if isinstance(n_clusters, Iterable) and not isinstance(n_clusters, str):
        choices = tuple(check_count("n_clusters", k, 2) for k in n_clusters)
        if choices:
            return choices
    return (check_count("n_clusters", n_clusters, 2),)


def _check_divisors(divisors: Any) -> tuple[float, ...]:
    values = divisors if isinstance(divisors, Iterable) and not isinstance(divisors, str) else [divisors]
    checked = tuple(check_positive("sigma_divisors", value) for value in values)
    if not checked:
        raise InputError("sigma_divisors is empty: give the numbers that the largest distance is divided by")
    return checked


def _check_share(name: str, value: Any) -> None:
    if not is_number(value) or not 0 < value <= 1:
        raise InputError(f"{name} must be a share above 0 and at most 1; got {show(value)}")
