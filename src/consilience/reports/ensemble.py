"""The report of many clusterings: what its sections need, found once, and what is stable in all of them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from consilience._check import check_labels, count
from consilience._run.random import stream
from consilience._types import Array
from consilience.consensus import Consensus, combine, floaters, stable_components
from consilience.ensemble import Ensemble
from consilience.generation.plan import defaults
from consilience.measures import Comparison, adjusted_rand, compare, matched_accuracy
from consilience.measures.explained_variance import LISTED, set_apart
from consilience.meta import MetaClustering, Null, organize, score
from consilience.meta.tree import usual_measure
from consilience.reports.clusters import Match, followed_columns, nearest_known, say_clusters
from consilience.reports.finding import Block, Finding, Items, Sheet, Text
from consilience.reports.scales import describe_tree_over_k
from consilience.reports.sections import CLUSTERED, CONFIDENCE, NOT_TRUTH, Report, section
from consilience.reports.words import DEFINITIONS, format_list, format_range
from consilience.tables import Table

# safeguard: objects × pairs of clusterings beyond which one measure is shown, since three take minutes
COSTLY = 3 * 10**10
ROWS, BROADEST = 15, 100  # safeguard: clusterings, and clusters in one, that a tree over k has room for on a page
SHUFFLED = 5000  # objects that shuffled groups are combined on (benchmarks/RULES.md)
APART = "Some of the clusterings share no object: nothing says how far apart they are, so there is no tree of them."
NUMBER = "The number of groups is a choice. The same experiment with another seed often suggests another one."
BEST = (
    "A group, a clustering or a number that was picked because it matches known labels best matches new ones less well; the null "
    "of the groups says how much of the match is picking."
)


def known_scores(ensemble: Ensemble, known: Mapping[str, Any], data: Table | None = None) -> pd.DataFrame | None:
    """Accuracies with known labels, beside the compactness on the data or, without data, as it was measured by generate."""
    found = pd.DataFrame({"name": ensemble.names, "clusters": ensemble.n_clusters})
    if known or data is not None:
        metric = "precomputed" if data is not None and data.kind == "distances" else "euclidean"
        found = score(ensemble, data, known=known or None, metric=metric, progress=False)
    if "compactness" in ensemble.info and "compactness" not in found:
        found["compactness"] = ensemble.info["compactness"].to_numpy(float)
    if found.shape[1] == 2:
        return None
    return found.drop(columns="clusters") if found["clusters"].nunique() == 1 else found


class EnsembleReport(Report, of=Ensemble):
    """From how alike clusterings are to what all of them say together; they are organized first, as the options say."""

    uses: ClassVar[tuple[str, ...]] = ("data", "known", "n_clusters", "method", "n_groups", "linkage")

    @property
    def ensemble(self) -> Ensemble:
        return self.objects

    @cached_property
    def meta(self) -> MetaClustering | None:  # None for a single one, and where some share no object
        options, is_asked = self.options, self.options.n_groups is not None or self.options.linkage is not None
        there = (self.ensemble.labels >= 0).astype(np.float32) if self.ensemble.has_missing and not is_asked else None
        if self.ensemble.n_clusterings < 2 or (there is not None and (there.T @ there == 0).any()):
            return None
        how: dict[str, Any] = {"random_state": options.seed, "n_jobs": options.n_jobs, "progress": False}
        how |= {} if options.linkage is None else {"linkage": options.linkage}
        return organize(self.ensemble, "auto" if options.n_groups is None else options.n_groups, **how)

    @cached_property
    def comparison(self) -> Comparison:
        n, m = self.ensemble.labels.shape
        measures = ("jaccard", "nmi", "adjusted_rand") if n * m * (m - 1) // 2 <= COSTLY else ("jaccard",)
        return compare(self.ensemble, measures, known=self.known or None, n_jobs=self.options.n_jobs, progress=False)

    @cached_property
    def scores(self) -> pd.DataFrame | None:
        return known_scores(self.ensemble, self.known, self.data)

    @cached_property
    def group_consensus(self) -> list[Consensus]:
        assert self.meta is not None
        return [self.meta.consensus(group, progress=False, **self._how_of_groups) for group in self.meta.numbers]

    @cached_property
    def group_columns(self) -> list[list[tuple[str, float]]]:
        """The columns that every group goes by, first those that set it apart from the others."""
        return set_apart([followed_columns(self, one.labels, LISTED) for one in self.group_consensus])

    @cached_property
    def consensus(self) -> Consensus:
        return combine(self.ensemble, progress=False, **self.how)

    @property
    def _how_of_groups(self) -> dict[str, Any]:
        """Groups, and shuffled ones, have the median number of clusters where that of all clusterings is looked for: that takes time."""
        return self.how | ({"n_clusters": None} if self.options.n_clusters == "auto" else {})

    @cached_property
    def marked(self) -> dict[str, pd.DataFrame]:
        """Scores of the consensus of every group and of all, where they can be measured as those of the clusterings."""
        if self.scores is None or ("compactness" in self.scores and self.data is None):
            return {}
        parts = {"consensus of a group": self.group_consensus, "of all": [self.consensus]}
        labels = {name: Ensemble([one.labels for one in some], ids=self.ensemble.ids) for name, some in parts.items()}
        found = {name: known_scores(some, self.known, self.data) for name, some in labels.items()}
        return {name: table for name, table in found.items() if table is not None}

    @cached_property
    def likeness(self) -> float:
        """How alike the answers of the groups are: the mean adjusted Rand index of all pairs, on some of the objects."""
        step = max(1, self.ensemble.n_objects // 5000)
        answers = [one.labels[::step] for one in self.group_consensus[:50]]
        return float(np.mean([adjusted_rand(*pair) for pair in combinations(answers, 2)]))

    @cached_property
    def matches(self) -> list[Match | None]:  # of every group's answer, and in the last place of that of all
        groups = [] if self.meta is None else self.group_consensus
        return [nearest_known(self, one.labels) for one in (*groups, self.consensus)]

    @cached_property
    def reference(self) -> Array:
        return self.consensus.labels if self.meta is None else self.group_consensus[0].labels

    @property
    def sample(self) -> int | None:  # of the objects, which shuffled groups are combined on; None for all
        return SHUFFLED if self.ensemble.n_objects > SHUFFLED else None

    @cached_property
    def null(self) -> Null | None:
        if self.meta is None or not self.known or not self.options.n_shuffles or self.meta.n_groups < 2:
            return None
        meta, known = self.meta, self.known
        if self.sample:
            order = stream(self.options.seed, "reports.objects").permutation(self.ensemble.n_objects)
            objects = np.sort(order[: self.sample])
            meta = replace(meta, ensemble=self.ensemble[objects])
            known = {name: codes[objects] for name, codes in known.items()}
        return meta.null(known, n_shuffles=self.options.n_shuffles, progress=False, **self._how_of_groups)

    @cached_property
    def floaters(self) -> pd.DataFrame:
        return floaters(self.ensemble, self.consensus)

    @property
    def title(self) -> str:
        made, n = count(self.ensemble.n_clusterings, "clustering"), count(self.ensemble.n_objects, "object")
        if self.meta is None or self.meta.n_groups < 2:
            return f"{self.origin.source}: {made} of {n}"
        return f"{self.origin.source}: {self.meta.n_groups} ways to group {n}, from {made}"

    def answer(self) -> list[Text | Items]:
        from consilience.reports.meta import say_groups

        return say_clusters(self.consensus, self) if self.meta is None else say_groups(self)

    def facts(self) -> list[tuple[str, str]]:
        ens, meta = self.ensemble, self.meta
        middle = f" (median {np.median(ens.n_clusters):g})" if np.ptp(ens.n_clusters) else ""
        facts = [*super().facts(), ("clusterings", f"{ens.n_clusterings:,}, of {count(ens.n_objects, 'object')}")]
        facts.append(("clusters in each", f"{format_range(ens.n_clusters)}{middle}"))
        if ens.has_missing:
            facts.append(("missing labels", f"{100 * np.mean(ens.labels < 0):.3g} % of all"))
        facts += generation_facts(ens, self.origin.manifest)
        if meta is not None:
            tree = f"{meta.linkage} linkage of {meta.measure}"
            facts.append(("organized", f"{tree}; {count(meta.n_groups, 'group')}: {meta.note}"))
        return facts

    @property
    def name(self) -> str:  # type: ignore[override]
        return "ens" if self.meta is None else "meta"

    def code(self) -> list[str]:
        made, meta = generate_call(self.ensemble, self.origin.manifest), self.meta
        code = self.origin.code
        lines = [f"# made by {made}"] if made and code else [f"ens = {made}"] if made else []
        lines += [f"ens = {code}"] if code else []
        if meta is None:
            return lines
        how = "" if meta.measure == usual_measure(meta.ensemble) else f", measure={meta.measure!r}"
        call = f"ens, {meta.n_groups}, {meta.linkage!r}{how}, random_state={self.options.seed}"
        return [*lines, f"meta = cs.organize({call})"]

    def notes(self) -> list[str | None]:
        meta, estimated = self.meta, None
        if meta is not None and meta.n_pairs is not None:
            estimated = (
                f"Distances between clusterings are estimated, with a standard error of {meta.standard_error:.4f}: differences "
                "of that size in the tree, its groups and the map mean nothing."
            )
        return [
            NOT_TRUTH,
            NUMBER if meta is not None else APART if self.ensemble.n_clusterings > 1 else None,
            BEST if self.known else None,
            estimated,
            CONFIDENCE,
            CLUSTERED if self.data is not None or "compactness" in self.ensemble.info else None,
        ]


@section(Ensemble, MetaClustering, title="From few clusters to many", order=55)
def over_k(report: EnsembleReport) -> Iterator[Block]:  # of a few that differ in it, such as runs over resolutions
    numbers = np.sort(report.ensemble.n_clusters)
    is_small = 1 < len(numbers) <= ROWS and numbers[0] > 0 and numbers[-1] <= BROADEST
    if is_small and np.diff(numbers).all():
        yield from describe_tree_over_k(report.ensemble, "Every row is a clustering, the coarsest on top")


@section(Ensemble, MetaClustering, title="Stable components", order=70)
def components(report: EnsembleReport) -> Iterator[Block]:
    ensemble = report.ensemble
    sizes = ensemble.signatures().counts
    several = int((sizes > 1).sum())
    text = f"A stable component is {DEFINITIONS['stable component']}."
    if not several:
        yield Text(f"{text} Here, no two objects are together in all of them.")
        return
    share = f"{100 * sizes[sizes > 1].sum() / ensemble.n_objects:.1f} % of the objects"
    more = f"There are {several:,} of two objects or more, with {share}"
    yield Text(f"{text} {more}; the largest has {int(sizes.max()):,}.")
    table = stable_components(ensemble, top=min(several, 1000)).drop(columns="labels")
    table = table.rename(columns={"objects": "first_objects"}).set_index(pd.RangeIndex(len(table), name="component"))
    yield Sheet("components", table, "Stable components, the largest first", most=20)


def generation_summary(ensemble: Ensemble, known: Mapping[str, Any]) -> dict[str, Any]:
    scores = {"compactness": ensemble.info["compactness"].to_numpy(float)}
    if "guide" in ensemble.info and ensemble.info["guide"].notna().any():
        scores["guide"] = ensemble.info["guide"].to_numpy(float)
    for name, labels in known.items():
        codes = check_labels(labels, f"known labels {name!r}")
        scores[f"accuracy with {name}"] = np.array([matched_accuracy(codes, column) for column in ensemble.labels.T])
    return {
        "n_clusterings": ensemble.n_clusterings,
        "n_objects": ensemble.n_objects,
        "n_clusters": [int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())],
        "methods": {str(k): int(v) for k, v in ensemble.info["method"].value_counts(sort=False).items()},
        "seconds": float(ensemble.info["seconds"].sum()),
        "share_missing": float(np.mean(ensemble.labels < 0)),
        "scores": {name: _quantiles(values, ensemble, least=name == "compactness") for name, values in scores.items()},
    }


def _quantiles(values: Any, ensemble: Ensemble, *, least: bool) -> dict[str, Any]:
    """The quantiles of a score, and the number of the best clustering: the one with the least, or the most of it."""
    at = int(np.nanargmin(values) if least else np.nanargmax(values))
    number = int(ensemble.info["number"].iloc[at]) if "number" in ensemble.info else at
    return {"best": number, "quantiles": [float(q) for q in np.nanquantile(values, [0, 0.25, 0.5, 0.75, 1])]}


def generation_finding(ensemble: Ensemble, known: Mapping[str, Any]) -> Finding:
    found = generation_summary(ensemble, known)
    seconds = f"in {found['seconds']:.2g} seconds of clustering"
    title = f"{count(ensemble.n_clusterings, 'clustering')} of {count(ensemble.n_objects, 'object')}"
    said = ["made by " + ", ".join(f"{name} {n:,}" for name, n in found["methods"].items())]
    if found["share_missing"]:
        said.append(f"{100 * found['share_missing']:.3g} % of the labels are missing: objects left out, or noise")
    names = ["least", "¼ below", "median", "¾ below", "most"]
    scores = {name: value["quantiles"] for name, value in found["scores"].items()}
    table = pd.DataFrame.from_dict(scores, orient="index", columns=names)
    table["best clustering"] = [f"number {value['best']}" for value in found["scores"].values()]
    sheet = Sheet("scores", table.rename_axis("score"), "Scores of the clusterings")
    title += f", {format_range(found['n_clusters'], 'cluster')}, {seconds}"
    return Finding(title, tables=[sheet], sentences=said)


def generation_facts(ensemble: Ensemble, manifest: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """What is known of how an ensemble was made, from its `info` and the manifest of its run."""
    info = ensemble.info
    facts = []
    if "method" in info:
        made = info["method"].fillna("unknown").astype(str).value_counts()
        facts.append(("methods", ", ".join(f"{name} ({n:,})" for name, n in made.items())))
    told = [f"{name} {_parameter(value)}" for name, value in settings_of(ensemble).items() if value is not None]
    if told:
        facts.append(("parameters", ", ".join(told)))
    if "around" in info and (some := int(info["around"].notna().sum())):
        facts.append(("variations", f"{some:,} of them were made around others"))
    for name in ("seed", "random_state"):
        if name in info and len(seeds := pd.unique(info[name].dropna().astype(str))):
            facts.append(("seeds" if len(seeds) > 1 else "seed", format_list(list(seeds), 5)))
    if "seconds" in info:
        facts.append(("time of clustering", f"{pd.to_numeric(info['seconds'], errors='coerce').sum():.3g} seconds"))
    if manifest is not None:
        if manifest.get("fingerprint"):
            facts.append(("fingerprint of the data", str(manifest["fingerprint"])))
        facts.append(("stored by", f"consilience {manifest.get('consilience')}"))
    return facts


def _parameter(value: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in value) if isinstance(value, list) else str(value)


def settings_of(ensemble: Ensemble) -> dict[str, Any]:
    """The settings that :func:`consilience.generate` kept, where all clusterings share them; otherwise nothing."""
    texts = pd.unique(ensemble.info["settings"].dropna().astype(str)) if "settings" in ensemble.info else []
    try:
        found = json.loads(texts[0]) if len(texts) == 1 else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def generate_call(ensemble: Ensemble, manifest: Mapping[str, Any] | None = None) -> str:
    """The call of :func:`consilience.generate` that makes these clusterings; empty where it is not known to be just one."""
    info, plan = ensemble.info, _plan(ensemble, manifest)
    if plan is None or plan["base"] is not None or "unit" not in info:
        return ""
    varied = "around" in info and info["around"].notna().any()
    if varied or not np.array_equal(np.sort(info["unit"]), np.arange(len(info))):
        return ""
    shares = dict(plan["methods"])
    methods = "+".join(shares) if len(set(shares.values())) == 1 else shares
    clusters = list(plan["n_clusters"])
    usual = {name: list(value) if isinstance(value, tuple) else value for name, value in defaults(shares).items()}
    own = {name: plan[name] for name, value in usual.items() if plan[name] != value}
    words = [f"n_clusters={clusters[0] if len(clusters) == 1 else clusters!r}", f"methods={methods!r}"]
    words += [f"{name}={'guide' if name == 'guide' else repr(value)}" for name, value in own.items()]
    return f"cs.generate(data, {len(info)}, {', '.join(words)}, random_state={int(plan['seed'])})"


def _plan(ensemble: Ensemble, manifest: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What generate was asked to do: as the run keeps it, or from its clusterings where these leave no doubt."""
    kept = None if manifest is None else manifest.get("plan")
    if isinstance(kept, dict) and kept.get("made_by") == "generate":
        needed = {*defaults(dict(kept.get("methods", ()))), "methods", "n_clusters", "seed"}
        return kept if needed <= set(kept) else None
    info, settings = ensemble.info, settings_of(ensemble)
    if not {"method", "n_clusters", "seed"} <= set(info) or not set(defaults(info["method"].unique())) <= set(settings):
        return None
    made = info["method"].value_counts(sort=False)
    if info["n_clusters"].nunique() != 1 or info["seed"].nunique() != 1 or made.max() - made.min() > 1:
        return None
    seed, k = info["seed"].iloc[0], int(info["n_clusters"].iloc[0])
    return {**settings, "methods": [(name, 1.0) for name in made.index], "n_clusters": [k], "seed": seed}
