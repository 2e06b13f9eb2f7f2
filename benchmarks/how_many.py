"""How many clusters, and how sure: ours, HDBSCAN, PLSCAN and mixtures by BIC; told the number, ours and Genie.

`suite`: 41 sets of a public benchmark suite, each with one to five reference groupings, from CONSILIENCE_DATA or shared/data beside the
repository. `planted`: 52 sets of 2 to 20 Gaussian clusters of unequal size and shape. `clouds`: 58 sets without clusters. `told`: the
suite, with the numbers of its references. All sets whole, columns as they come.

    python -m benchmarks.how_many suite planted clouds told --seeds 0,1,2 --peers FOLDER   # of benchmarks.beside --install
    python -m benchmarks.how_many told --seeds 0 --labels FOLDER   # ours as the suite's authors keep theirs: OURS/FAMILY/SET.resultK.gz
    python -m benchmarks.beside --render   # into RESULTS.md
"""

import argparse
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import consilience as cs
from benchmarks.how_many_sets import numbers_of, sets
from benchmarks.pools import folder, rounded
from benchmarks.timing import cpu
from consilience.measures import adjusted_rand

STUDIES = "suite", "planted", "clouds", "told"
SMALL, GOOD, SURE = 3300, 0.7, 0.9  # objects; ARI; confidence
PEERS = {  # side and function of benchmarks.beside, and what they are told
    "HDBSCAN, n / 50": ("scikit_learn", "hdbscan", STUDIES[:3]),
    "PLSCAN": ("plscan", "layer", STUDIES[:3]),
    "mixture by BIC": ("scikit_learn", "mixture", STUDIES[:3]),
    "Genie, Gini .3": ("genie", "told", STUDIES[3:]),
}
FILE = Path(__file__).parent / "results" / "how_many.json"


def best_ari(refs, labels):
    """With the reference that it is most like, whose noise is left out (found noise is a cluster); 0 where there is none."""
    found = labels - labels.min()
    return max((float(adjusted_rand(ref[ref > 0], found[ref > 0])) for ref in refs.T if ref.max() > 1), default=0.0)


def asked(study, only=None):
    """Every set with every number to be told: "auto", or those of its references."""
    for name, X, refs in sets(study, only):
        yield from ((name, X, refs, k) for k in (numbers_of(refs) if study == "told" else ["auto"]))


def row_of(name, refs, k, labels, **more):
    """One answer and how it is judged: right is a reference's number; where that was told, an ARI of .7."""
    found, ari = int(labels.max()) + 1, best_ari(refs, labels)
    right = found in numbers_of(refs) if k == "auto" else ari >= GOOD
    return {"set": name, "n": len(refs), "refs": numbers_of(refs), "k": found, "ari": ari, "right": right, **more}


def ours(study, seed, only=None, to=None):
    rows = []
    for name, X, refs, k in asked(study, only):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = cs.EnsembleClusterer(k, random_state=seed, n_jobs=1)
            seconds, _ = cpu(lambda model=model, X=X: model.fit(X))
        sure, doubt = float(model.confidence_.mean()), bool(model.doubt_)
        rows.append(row_of(name, refs, k, model.labels_, sure=sure, doubt=doubt, cpu_s=seconds))
        print(seed, *(f"{key}={value}" for key, value in rounded(rows[-1]).items()), flush=True)
        if to and study in ("suite", "told"):
            write_labels(to, name, model.labels_, k)
    return rows


def write_labels(to, name, labels, k):
    """As the suite's clustbench reads it: gzipped CSV, a column named as the method, labels from 1 (0 is noise); none of another number."""
    family, _, rest = name.partition("_")
    if k in ("auto", len(np.unique(labels[labels >= 0]))):
        method = "consilience_auto" if k == "auto" else "consilience"
        file = to / method / family / f"{rest}.result{labels.max() + 1}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({method: labels + 1}).to_csv(file, index=False)


def theirs(peer, study, only, peers):
    """Rows of a peer, in a process and an environment of its own; none where it is not here."""
    from benchmarks.beside.collect import run_side

    side, function, _ = PEERS[peer]
    given = list(asked(study, only))
    inputs = {f"{i}_{k}": X for i, (_, X, _, k) in enumerate(given)}
    with tempfile.TemporaryDirectory() as work:
        row, answers = run_side(side, function, inputs, Path(work), peers, limit=3600)
    if not answers:
        print(f"{peer}: {row}")
        return []
    parts = np.split(answers[0].astype(np.int64), np.cumsum([len(X) for _, X, _, _ in given])[:-1])
    rows = [row_of(name, refs, k, part) for (name, _, refs, k), part in zip(given, parts, strict=True)]
    return [{**one, "doubt": one["k"] < 2, "sure": np.nan, "cpu_s": row["cpu_s"] / len(rows)} for one in rows]


def figures(rows):
    """Counts and means; the odd sets by name are the first, third, …"""
    table = pd.DataFrame(rows)
    best = table.groupby("set").agg(ari=("ari", "max"), right=("right", "max"), n=("n", "first"))
    found, small = {"sets": len(best)}, best[best["n"] <= SMALL]
    for part, some in {"": best, "_odd": best[0::2], "_even": best[1::2], "_small": small}.items():
        found |= {f"right{part}": int(some["right"].sum()), f"ari{part}": float(some["ari"].mean())}
    doubt, right, bad = table["doubt"], table["right"], (table["sure"] > SURE) & (table["ari"] < GOOD)
    found |= {"small": len(small), "answers": len(table), "firm": int((~doubt).sum()), "rights": int(right.sum())}
    found |= {"wrong_doubted": int((doubt & ~right).sum()), "right_doubted": int((doubt & right).sum())}
    found |= {"sure_and_bad": table["set"][bad].tolist(), "cpu_s": float(table["cpu_s"].sum())}
    if table["ari"].std() * table["sure"].std() > 0:
        found["correlation"] = float(table["sure"].corr(table["ari"]))
    return rounded(found)


def judged(found):
    """What the figures of a seed are worth, in words: the value, the least and the most that it should be."""
    suite, planted, clouds, told = (found[study] for study in STUDIES)
    right, wrong = (
        sum(one["rights"] if good else one["answers"] - one["rights"] for one in (suite, planted)) for good in (1, 0)
    )
    doubted = {which: suite[f"{which}_doubted"] + planted[f"{which}_doubted"] for which in ("right", "wrong")}
    sure = sum(len(found[study]["sure_and_bad"]) for study in STUDIES[:3])
    return {
        f"suite: a reference number, of {suite['sets']}": (suite["right"], 30, 41),
        f"of these at most {SMALL:,} objects, of {suite['small']}": (suite["right_small"], 21, 29),
        "mean ARI of these": (suite["ari_small"], 0.76, 1),
        f"planted: the number, of {planted['sets']}": (planted["right"], 32, 52),
        "suite and planted: share of wrong answers doubted": (doubted["wrong"] / wrong, 0.88, 1),
        "share of right answers doubted": (doubted["right"] / right, 0, 0.3),
        "all: confidence above .9 and ARI below .7, of 151": (sure, 0, 4),
        f"clouds without a doubt, of {clouds['sets']}": (clouds["firm"], 0, 2),
        "told: mean ARI": (told["ari"], 0.83, 1),
        "told: confidence above .9 and ARI below .7": (len(told["sure_and_bad"]), 0, 1),
        "told: correlation of confidence and ARI": (told["correlation"], 0.65, 1),
    }


def how_many():
    if not any(sets("suite")):
        return {"skipped": f"no suite in {folder().parent}: set CONSILIENCE_DATA"}
    found = judged({study: figures(ours(study, 0)) for study in STUDIES})
    return {**found, "ok": all(least <= value <= most for value, least, most in found.values())}


CASES = [how_many]


def published(n=3):
    """The methods of the suite's authors with the best mean ARI, of those that they have on all sets."""
    table = pd.read_csv(folder().parent / "suite" / "published.csv.gz").pivot(
        index="set", columns="method", values="ari"
    )
    table = table.dropna(axis=1).sort_index()
    best = table.mean().nlargest(n).index
    return {
        name: {"ari": table[name].mean(), "ari_odd": table[name][0::2].mean(), "ari_even": table[name][1::2].mean()}
        for name in best
    }


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.how_many", description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="+", choices=STUDIES)
    parser.add_argument("--seeds", default="0,1,2", help="with commas between; none of ours where empty")
    parser.add_argument("--sets", help="names, with commas between; nothing is kept of some of them")
    parser.add_argument("--labels", type=Path, help="folder to write our labels of the suite to")
    parser.add_argument("--peers", type=Path, help="folder of the peers' environments; by default none is asked")
    asked_for = parser.parse_args()
    for study in asked_for.studies:
        for seed in filter(None, asked_for.seeds.split(",")):
            found = figures(ours(study, int(seed), asked_for.sets, asked_for.labels))
            keep(("ours", study, seed), found, asked_for.sets)
        for peer in PEERS if asked_for.peers else ():
            if study in PEERS[peer][2] and (rows := theirs(peer, study, asked_for.sets, asked_for.peers)):
                keep(("peers", peer, study), figures(rows), asked_for.sets)


def keep(where, found, some):
    """Print figures, and put them into the file if they are of all sets."""
    from benchmarks.beside.collect import conditions

    print(*where, json.dumps(found), flush=True)
    if not some:
        kept = json.loads(FILE.read_text()) if FILE.exists() else {"published": rounded(published())}
        kept |= {name: value for name, value in conditions().items() if name in ("date", "versions", "load")}
        kept.setdefault(where[0], {}).setdefault(where[1], {})[where[2]] = found
        FILE.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
