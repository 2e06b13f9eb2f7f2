"""Why a branch is different: its clusterings against all others, by method, weights, number of clusters, columns and known labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from consilience._types import Floats, Ints
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.calls.detail import space_of, weight_names, weights_of
from consilience.explorer.replies import Reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Snapshot
from consilience.measures import accuracy

TOP, BINS = 12, 12  # safeguard: length of lists that are displayed
FIRST = 20  # safeguard: components that are looked at; the later ones hold little
LOOKED_AT = 40  # safeguard: clusterings of each side that means are taken of, for an answer within a second
CLEAR = 0.8  # safeguard: display; standard deviations between mean weights that are told in words (large for Cohen)
MEANING = {  # what the methods that are not named for what they do vary
    "zipf": ", random weights of columns",
    "pca": ", random weights of principal components",
    "minima": ", other random starts",
}
MUCH, SOME = 0.1, 0.05  # safeguard: display; differences of shares, and of accuracies, that are told in words


@kept
def why(call: Call) -> Reply:
    session, snapshot, ref = call.session, call.snapshot, call.snapshot.branch(call.parts[0])
    inside = snapshot.members(ref)
    outside = np.setdiff1d(np.arange(snapshot.n_clusterings), inside)
    told = {
        "methods": _methods(snapshot, inside, outside),
        "clusters": _clusters(snapshot, inside, outside),
        "scores": _scores(snapshot, inside, outside),
        "known": _known(call, inside, outside),
        "followed": _followed(call, inside, outside),
        "weights": _weights(session, snapshot, inside, outside),
    }
    words = list(sentences(told)) if len(outside) else []
    return call.reply(ref=str(ref), n_inside=len(inside), n_outside=len(outside), words=words, **told)


def _methods(snapshot: Snapshot, inside: Ints, outside: Ints) -> list[dict[str, Any]]:
    info = snapshot.meta.ensemble.info
    if "method" not in info or info["method"].isna().all():
        return []
    methods = info["method"].astype(str).to_numpy()
    sides = [pd.Series(methods[side]).value_counts(normalize=True) for side in (inside, outside)]
    names = sorted(set(methods), key=lambda name: -abs(sides[0].get(name, 0) - sides[1].get(name, 0)))
    return [{"name": name, "inside": sides[0].get(name, 0), "outside": sides[1].get(name, 0)} for name in names[:TOP]]


def _clusters(snapshot: Snapshot, inside: Ints, outside: Ints) -> dict[str, Any]:
    k = snapshot.meta.ensemble.n_clusters.astype(float)
    low, high = float(k.min()), float(k.max())
    bins = min(BINS, int(high - low) + 1)
    edges = np.linspace(low - 0.5, high + 0.5, bins + 1)
    return {"low": low, "high": high, **_sides(k, inside, outside, edges)}


def _scores(snapshot: Snapshot, inside: Ints, outside: Ints) -> list[dict[str, Any]]:
    return [
        {"name": name, **_numbers(snapshot.scores[name].to_numpy(float), inside, outside)}
        for name in snapshot.scores.columns
        if name != "clusters" and not name.startswith("accuracy:")
    ]


def _known(call: Call, inside: Ints, outside: Ints) -> list[dict[str, Any]]:
    """How near clusterings come to each known labeling; of labels that were saved here some clusterings are looked at."""
    snapshot, found = call.snapshot, []
    for name, known in call.session.labelings.items():
        column = f"accuracy:{name}"
        values = np.full(snapshot.n_clusterings, np.nan)
        if column in snapshot.scores:
            values = snapshot.scores[column].to_numpy(float)
        else:
            for leaf in (*_spaced(inside), *_spaced(outside)):
                call.step()
                values[leaf] = accuracy(known.codes, snapshot.meta.ensemble.labels[:, leaf])
        found.append({"name": name, **_numbers(values, inside, outside)})
    return sorted(found, key=lambda one: -abs(_gap(one)))


def _numbers(values: Floats, inside: Ints, outside: Ints) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    if not known.size:
        return {"low": None, "high": None, **_sides(values, inside[:0], outside[:0], np.array([0.0, 1.0]))}
    low, high = float(known.min()), float(known.max())
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    return {"low": low, "high": high, **_sides(values, inside, outside, edges)}


def _sides(values: Floats, inside: Ints, outside: Ints, edges: Floats) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, side in (("inside", inside), ("outside", outside)):
        known = values[side][np.isfinite(values[side])]
        told[f"mean_{name}"] = float(known.mean()) if known.size else None
        told[name] = np.round(np.histogram(known, edges)[0] / max(1, known.size), 4)
    return told


def _followed(call: Call, inside: Ints, outside: Ints) -> list[dict[str, Any]] | None:
    """The share of every column's variance that lies between clusters, on average over clusterings of each side."""
    if not call.session.features or not len(outside):
        return None
    columns = call.session.following

    def shares(side: Ints) -> Iterator[Floats]:
        for leaf in _spaced(side):
            call.step()
            yield columns.of(call.snapshot.meta.ensemble.labels[:, leaf])

    means = [np.mean(list(shares(side)), axis=0) for side in (inside, outside)]
    order = np.argsort(-np.abs(means[0] - means[1]), kind="stable")[:TOP]
    return [{"feature": columns.names[i], "inside": means[0][i], "outside": means[1][i]} for i in order]


def _weights(session: Session, snapshot: Snapshot, inside: Ints, outside: Ints) -> list[dict[str, Any]]:
    """Mean weights of each side, each clustering's weights with mean 1, where they differ most; columns and components apart."""
    info = snapshot.meta.ensemble.info
    if "weights" not in info:
        return []
    found = []
    spaces = [space_of(method) for method in info.get("method", [None] * len(info))]
    weights = [weights_of(one) for one in info["weights"]]
    for space in dict.fromkeys(spaces):
        sides = []
        for side in (inside, outside):
            some = [weights[i] for i in side if spaces[i] == space]
            sides.append([w / w.mean() for w in some if w is not None and len(w) and w.mean() > 0])
        widths = {len(w) for side in sides for w in side}
        if len(widths) != 1 or not all(sides):
            continue
        tables = [np.array(side)[:, :FIRST] if space == "components" else np.array(side) for side in sides]
        means, n = [table.mean(axis=0) for table in tables], [len(table) for table in tables]
        spread = np.sqrt(sum(len(table) * table.var(axis=0) for table in tables) / max(1, sum(n) - 2))
        d = (means[0] - means[1]) / np.where(spread > 0, spread, 1)
        first = next(i for i in inside if spaces[i] == space and weights[i] is not None)
        names = weight_names(session, info.iloc[first], widths.pop())
        order = np.argsort(-np.abs(d), kind="stable")[:TOP]
        listed = [{"feature": names[i], "inside": means[0][i], "outside": means[1][i], "d": d[i]} for i in order]
        found.append({"space": space, "n": n, "rows": listed})
    return found


def sentences(told: dict[str, Any]) -> Iterator[str]:
    """The largest differences in words, the most telling kinds first."""
    for one in sorted(told["known"][:2], key=lambda one: -_gap(one)):
        if abs(_gap(one)) >= SOME:
            nearer = "nearer to" if _gap(one) > 0 else "less near to"
            means = one["mean_inside"], one["mean_outside"]
            yield f"Its clusterings come {nearer} {one['name']}: purity {means[0]:.2f} on average, elsewhere {means[1]:.2f}."
    for sign, said in ((1, "Its"), (-1, "Less than elsewhere its")):
        some = [one for one in told["followed"] or [] if sign * (one["inside"] - one["outside"]) >= MUCH][:3]
        if some:
            between = [" of its variance lies between clusters, elsewhere", *[","] * (len(some) - 1)]  # said once
            shares = [(one["feature"], 100 * one["inside"], 100 * one["outside"]) for one in some]
            both = zip(shares, between, strict=True)
            listed = ", ".join(f"{name} ({here:.0f} %{words} {there:.0f} %)" for (name, here, there), words in both)
            yield f"{said} clusters follow {listed}."
    means = told["clusters"]["mean_inside"], told["clusters"]["mean_outside"]
    if means[1] is not None and abs(means[0] - means[1]) >= max(1.0, MUCH * means[1]):
        more = "more" if means[0] > means[1] else "fewer"
        yield f"It has {more} clusters: {means[0]:.1f} on average, elsewhere {means[1]:.1f}."
    for one in told["methods"][:1]:
        if abs(one["inside"] - one["outside"]) >= 2 * MUCH:
            made = f"made by {one['name']}{MEANING.get(one['name'], '')}, elsewhere {100 * one['outside']:.0f} %"
            yield f"{100 * one['inside']:.0f} % of its clusterings were {made}."
    for space in told["weights"]:
        some = [one for one in space["rows"] if one["d"] >= CLEAR][:2]
        if some:
            times = [(one["feature"], one["inside"] / max(one["outside"], 1e-9)) for one in some]
            yield f"Weights were larger on {' and '.join(f'{name} ({n:.1f} times as much)' for name, n in times)}."


def _gap(one: dict[str, Any]) -> float:
    both = one["mean_inside"], one["mean_outside"]
    return 0.0 if None in both else float(both[0] - both[1])


def _spaced(members: Ints) -> Ints:
    return members[np.unique(np.linspace(0, len(members) - 1, min(len(members), LOOKED_AT)).astype(int))]
