"""The report of exactly what is in view: the selected clustering by its names first, then the groups of the opened branch."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Ints
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.calls.edit_and_saved_labels import names_of
from consilience.explorer.checks import NAME, numbers, ref_text, text, whole
from consilience.explorer.edits import in_words
from consilience.explorer.jobs import Job
from consilience.explorer.replies import RefusedError, Reply, file_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, Snapshot
from consilience.measures import accuracy
from consilience.meta import MetaClustering
from consilience.meta.tree import compactness_curve
from consilience.reports import clusters
from consilience.reports.finding import Block, Facts, Items, Section, See, Sheet, Text
from consilience.reports.html import render
from consilience.reports.report import FOOTER, make_report
from consilience.reports.sections import Report

GROUPS, SHUFFLES = 500, 20  # safeguard: groups of one report, and shuffles that it takes the time for
PLACE = "view-cluster"  # what links to clusters of the selected clustering begin with
REPORT_KEYS = {
    "m": (whole(1, 10**9), ...),
    "nodes": (numbers(GROUPS), ...),
    "top": (whole(0, 2 * 10**9), ...),
    "ref": (ref_text, ...),
    "name": (text(NAME), ""),
}


def start_report(call: Call, m: int, nodes: Sequence[int], top: int, ref: str, name: str) -> Job:
    session, snapshot = call.session, call.snapshot
    if m != snapshot.n_clusterings:
        raise RefusedError(409, "clusterings were added or taken away meanwhile: ask again")
    if m == 1:
        raise RefusedError(400, "one clustering has no groups to report of: consilience report tells of it")
    one = snapshot.displayed(snapshot.ref(ref), call.step)
    meta = in_view(snapshot, nodes, top)
    known = {name: found.labels for name, found in session.labelings.items()}
    called = name.strip() or title(snapshot, one)
    how: dict[str, Any] = {"n_shuffles": SHUFFLES, "n_jobs": session.n_jobs}
    report = make_report(meta, session.origin, data=session.data, known=known, **how)
    steps = list(report.sections())

    def work(job: Job) -> dict[str, Any]:
        lead, view = shown(session, snapshot, report, one, called)
        found = [view]
        for at, make in enumerate(steps):
            job.step()
            job.message = f"section {at + 1} of {len(steps)}"
            found += [section] if (section := make()) else []
            job.done = at + 1
        job.step()
        page = render(f"{session.origin.name}: this view", [*lead, *report.answer()], found, FOOTER)
        session.report = (job.id, page.encode("utf-8", "replace"))
        job.message = ""
        return {"report": job.id}

    return call.jobs.start("report", len(steps), work)


def written_report(call: Call) -> Reply:
    written = call.session.report
    if written is None or written[0] != call.parts[0]:
        raise RefusedError(404, "there is no such report any more: write it again")
    return file_reply("consilience_report.html", "text/html; charset=utf-8", written[1])


def in_view(snapshot: Snapshot, nodes: Sequence[int], top: int) -> MetaClustering:
    """The meta-clustering whose groups are those under some nodes, of the branch under another; refused where they are not all of it."""
    meta, tree = snapshot.meta, snapshot.newest
    if max([top, *nodes]) >= len(tree.sizes):
        raise RefusedError(404, f"the nodes of this tree are numbered 0 to {len(tree.sizes) - 1}")
    members = np.sort(tree.leaves(top))
    parts = [np.sort(tree.leaves(node)) for node in nodes]
    if not np.array_equal(np.sort(np.concatenate(parts)) if parts else np.empty(0), members) or len(members) < 2:
        raise RefusedError(400, "groups must be all clusterings of a branch of at least two, each once")
    groups = np.empty(len(members), np.int64)
    for number, part in enumerate(parts):
        groups[np.searchsorted(members, part)] = number + 1
    here, renumbered = meta, np.arange(len(tree.sizes))
    if top < len(tree.sizes) - 1:
        here, renumbered = _branch(meta, top)
    return replace(here, nodes=renumbered[list(nodes)], groups=groups, note="")


def _branch(meta: MetaClustering, top: int) -> tuple[MetaClustering, Ints]:
    """The branch under a node, as it is in the tree, and the numbers that its nodes have there; O(nodes + pairs of its clusterings)."""
    m, children = meta.n_clusterings, meta.tree[:, :2].astype(np.int64)
    inside = np.zeros(2 * m - 1, bool)
    inside[top] = True
    for node in range(top, m - 1, -1):  # parents have higher numbers
        inside[children[node - m]] |= inside[node]
    renumbered = np.cumsum(inside) - 1
    members, merges = np.flatnonzero(inside[:m]), np.flatnonzero(inside[m:])
    tree = meta.tree[merges].copy()
    tree[:, :2] = renumbered[children[merges]]
    rows = [m * i - i * (i + 1) // 2 + members[at + 1 :] - i - 1 for at, i in enumerate(members[:-1].tolist())]
    distances = meta.distances[np.concatenate(rows)]
    curve = compactness_curve(tree, distances, meta.linkage)
    return replace(meta, ensemble=meta.ensemble[:, members], distances=distances, tree=tree, curve=curve), renumbered


def shown(
    session: Session, snapshot: Snapshot, report: Report, one: DisplayedClustering, called: str
) -> tuple[list[Text | Items], Section]:
    """What was looked at: the answer of the selected clustering, and the section with its clusters and what tells them apart."""
    names = names_of(one)
    result = SimpleNamespace(labels=one.codes, confidence=one.confidence, support=one.support)
    marks = clusters.find_marks(report, one.codes)
    said, see = f"Shown is “{called}”: ", See(tables=("view_clusters", "view_features"))
    words = clusters.in_words(report, marks)
    lead = clusters.say_clusters(result, report, words, called=said, place=PLACE, see=see, numbers=names)
    blocks: list[Block] = [Facts(_facts(session, snapshot, report.result, one, called))]
    if one.edited is not None:
        blocks += [Text(f"Edited by hand from {one.edited.origin}: {'; '.join(map(in_words, one.edited.steps))}.")]
    if one.clusters:
        blocks += _clusters(report, result, names, called, marks)
    return lead, Section("What is in view", blocks)


def _clusters(
    report: Report, result: Any, names: list[str], called: str, marks: list[list[dict[str, Any]]] | None
) -> list[Block]:
    """The clusters by their names, how far to trust them where that is known, and what tells them apart."""
    caption = f"Clusters of {called}"
    look: dict[str, Any] = {"place": PLACE, "slots": report.slots(result.labels)}
    if result.support is None:
        anchors = [f"{PLACE}-{cluster}" for cluster in range(len(names))]
        table = pd.DataFrame({"cluster": names, "size": np.bincount(result.labels[result.labels >= 0])})
        blocks: list[Block] = [Sheet("view_clusters", table.set_index("cluster"), caption, anchors=anchors)]
    else:
        frame = clusters.brief(clusters.cluster_frame(result, report), report, "recurrence", "nearest", "confused")
        frame.index = pd.Index(names, name="cluster")
        blocks = [clusters.cluster_sheet(result, frame, caption, name="view_clusters", **look)]
    apart = f"What tells the clusters of {called} apart"
    if marks is not None and (sheet := clusters.feature_sheet(marks, apart, name="view_features", **look)):
        sheet.frame.index = pd.Index([names[cluster] for cluster in sheet.frame.index], name="cluster")
        blocks += [sheet, Text(f"{clusters.SPREAD} {clusters.effect_note(report)}", note=True)]
    return blocks


def _facts(
    session: Session, snapshot: Snapshot, meta: MetaClustering, one: DisplayedClustering, called: str
) -> list[tuple[str, str]]:
    facts = [("selected", called if called == title(snapshot, one) else f"{called} ({title(snapshot, one)})")]
    facts += [("groups", f"{meta.n_groups} of {count(meta.n_clusterings, 'clustering')}"), ("linkage", meta.linkage)]
    if meta.n_clusterings < snapshot.n_clusterings:
        facts.append(("opened", f"a branch of {meta.n_clusterings:,} of {snapshot.n_clusterings:,} clusterings"))
    if session.stable is not None:
        facts.append(("numbers of clusters", str(session.stable["words"])))
    for label, known in session.labelings.items():
        if bool(np.any((known.codes >= 0) & (one.codes >= 0))):
            facts.append((f"purity: {label}", f"{accuracy(known.codes, one.codes):.3f}"))
    return facts
