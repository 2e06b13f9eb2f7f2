"""Python that loads a run and makes the labels of chosen clusterings again, edits by hand included."""

from __future__ import annotations

from consilience._check import printable
from consilience.explorer.edits import Edited, Step, distinct_names, seen_in
from consilience.explorer.session import Session
from consilience.explorer.snapshot import REF, Ref, Snapshot

GIVEN = "...  # what you gave to cs.explore"


def snippet(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]]) -> str:
    """The text of the file."""
    writer = _Writer(session, snapshot)
    made = [line for ref, name in chosen for line in writer.labels(ref, name)]
    trees = writer.trees()
    middle = [*trees, *[""] * bool(trees), "labels = pd.DataFrame(index=ensemble.ids)", *made]
    ending = [
        "",
        "for name in labels:",
        "    print(labels[name].value_counts(), end='\\n\\n')  # objects of every cluster",
    ]
    return "\n".join([*_opening(session, snapshot), *middle, *ending, ""])


def _opening(session: Session, snapshot: Snapshot) -> list[str]:
    """The lines that open the run, and make again what was added in memory."""
    grown = session.grown
    lines = [
        '"""Clusterings chosen in the consilience explorer."""',
        "",
        "import pandas as pd",
        "",
        "import consilience as cs",
    ]
    if grown:
        guide = "Guide, " if any("Guide(" in line for line in grown) else ""
        lines += [f"from consilience.generation import {guide}Variations"]
    lines += [""]
    if grown or session.data_code:
        lines += [f"data = {session.data_code or GIVEN}"]
    if session.base is not None:
        lines += [f"base = ...  # {session.base!r}".replace("\n", " ")]
    lines += [f"ensemble = {session.code or GIVEN}"]
    if session.renumbered:
        lines += ["ensemble = cs.Ensemble(ensemble)  # clusters are numbered 0 … k − 1"]
    if grown:
        lines += [f"variations = Variations(data{'' if session.base is None else ', base=base'})", *grown]
    return [*lines, f"ensemble = ensemble[:, :{snapshot.n_clusterings}]", ""]


class _Writer:
    """Lines for one clustering after the other; the trees that they need are asked for at the end."""

    def __init__(self, session: Session, snapshot: Snapshot) -> None:
        self._session, self._snapshot = session, snapshot
        self._needed: dict[str, str] = {}

    def trees(self) -> list[str]:
        """The lines that grow the trees."""
        return [f"{name} = {how}" for name, how in sorted(self._needed.items())]

    def labels(self, ref: Ref, name: str) -> list[str]:
        """The lines that make the labels of one clustering, as they were given."""
        one = self._snapshot.displayed(ref)
        if one.edited is not None:
            return [*self._edited(one.edited), f"labels[{name!r}] = edited.to_numpy()"]
        if one.leaf is None:
            found = self._consensus(ref, self._snapshot.meta.linkage)
        else:
            found = f"ensemble.labels[:, {one.leaf}]" if one.names is None else f"ensemble.named_labels({one.leaf})"
        return [f"labels[{name!r}] = {found}"]

    def _consensus(self, ref: Ref, linkage: str) -> str:
        meta = self._snapshot.meta
        tree = f"tree_of_{ref.m}" + ("" if linkage == meta.linkage else f"_{linkage}")
        how = f"linkage={linkage!r}, measure={meta.measure!r}, sketch={meta.n_pairs}"
        how += f", random_state={meta.seed}" if meta.n_pairs is not None else ""
        # a branch is a node of the tree that it was chosen in
        self._needed[tree] = f"cs.organize(ensemble[:, :{ref.m}], {how})"
        number = f", n_clusters={ref.k}" if ref.k else ""
        return f"{tree}.consensus({tree}.branch({ref.node}){number}).labels"

    def _codes(self, text: str, linkage: str) -> str:
        """The codes of a clustering that was not edited."""
        found = REF.fullmatch(text)
        assert found is not None
        m, node = int(found[1] or 0), int(found[2])
        return self._consensus(Ref(m, node, "c", int(found[4] or 0)), linkage) if m else f"ensemble.labels[:, {node}]"

    def _is_here(self, text: str, linkage: str, seen: str) -> bool:
        """Whether a ref is still of the clustering that it was of: numbers are given anew after some were taken away."""
        codes = self._snapshot.codes_of(text, linkage)
        return codes is not None and seen_in(codes) == seen

    def _edited(self, one: Edited) -> list[str]:
        needed = [(one.base, one.linkage, one.seen)]
        needed += [(step["by"], step["linkage"], step["seen"]) for step in one.steps if step["do"] == "split"]
        if not all(self._is_here(*each) for each in needed):  # the labels themselves
            literal = [None if code < 0 else one.names[code] for code in one.codes]
            return [f"edited = pd.Series({literal!r}, dtype=object)  # {printable(one.title, keep='')}"]
        codes, called = self._codes(one.base, one.linkage), self._names(one.base)
        names = "lambda code: str(code) if code >= 0 else None" if called is None else repr(dict(enumerate(called)))
        lines = ["", f"edited = pd.Series({codes}).map({names}).astype(object)  # {printable(one.title, keep='')}"]
        for step in one.steps:
            lines += self._step(step)
        return lines

    def _names(self, base: str) -> list[str] | None:
        """The names that the clusters of a clustering came with."""
        found = REF.fullmatch(base)
        assert found is not None
        names = None if found[1] else self._snapshot.meta.ensemble.label_names[int(found[2])]
        return None if names is None else distinct_names(names)

    def _step(self, step: Step) -> list[str]:
        do = step["do"]
        if do == "rename":
            return [f"edited[edited == {step['cluster']!r}] = {step['name']!r}"]
        if do == "merge":
            return [f"edited[edited.isin({step['clusters']!r})] = {step['name']!r}"]
        if do == "move":
            return [f"edited.iloc[{step['rows']!r}] = {step['name']!r}"]
        parts = {int(part): name for part, name in step["names"].items()}
        return [
            f"parts = pd.Series({self._codes(step['by'], step['linkage'])}).map({parts!r})",
            f"edited = parts.where((edited == {step['cluster']!r}) & parts.notna(), edited)",
        ]
