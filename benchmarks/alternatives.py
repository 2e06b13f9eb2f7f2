"""Alternatives: the bars on synthetic data and WebKB, and tables too large for anything n × n (CPU-seconds of one thread)."""

import os
import resource
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer

import consilience as cs
from benchmarks.timing import cpu
from consilience.alternatives import CCIB, CondEns
from consilience.datasets import orthogonal_multinomials
from consilience.measures import information_ratio, matched_accuracy, nmi
from consilience.tables import read_table

DATA = Path(os.environ.get("CONSILIENCE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SETS, RUNS = 20, 5
LOGARITHMS = make_pipeline(FunctionTransformer(np.log1p, accept_sparse=True), Normalizer())


def _synthetic(name, make, bars, alpha=1.0, reading="shear"):
    """Mean matched accuracy over sets, for each k that has a bar."""

    def case():
        found = {}
        for k, bar in bars.items():
            scores, spent = [], 0.0
            for seed in range(SETS):
                X, given, hidden = orthogonal_multinomials(k, alpha, reading=reading, random_state=seed)
                seconds, model = cpu(lambda k=k, seed=seed, X=X, given=given: make(k, seed).fit(X, given))
                scores.append(matched_accuracy(hidden, model.labels_))
                spent += seconds / SETS
            found[f"k{k}"] = {"mean": np.mean(scores), "sd": np.std(scores, ddof=1), "bar": bar, "cpu_s": spent}
        return _rounded(found) | {"ok": all(f["mean"] >= f["bar"] for f in found.values())}

    case.__name__ = name
    return case


def _rounded(found):
    return {k: {name: round(float(value), 3) for name, value in row.items()} for k, row in found.items()}


def webkb():
    """Term counts of 1,085 pages, and their topic and university."""
    with np.load(DATA / "webkb.npz", allow_pickle=False) as file:
        labels = {"topic": file["y"], "university": file["y2"]}
    X = read_table(DATA / "webkb.npz", kind="counts").values.astype(float)
    some = np.asarray(X.sum(axis=1)).ravel() > 0
    return X[some], {name: codes[some] for name, codes in labels.items()}


def _pages(name, make, bars, most_given, most_seconds, transform=None):
    """WebKB in both directions: I(C; L) / H(L) with the hidden labeling, NMI with the given one, mean over runs."""

    def case():
        X, labels = webkb()
        X = X if transform is None else transform.fit_transform(X)
        found, ok = {}, True
        for hidden, bar in bars.items():
            given = labels["topic" if hidden == "university" else "university"]
            rows = []
            for seed in range(RUNS):
                k = len(np.unique(labels[hidden]))
                seconds, model = cpu(lambda k=k, seed=seed, given=given: make(k, seed).fit(X, given))
                rows.append((information_ratio(labels[hidden], model.labels_), nmi(given, model.labels_), seconds))
            told, redundant, seconds = np.array(rows).T
            ok &= told.mean() >= bar and redundant.mean() <= most_given and seconds.max() <= most_seconds
            found[hidden] = {
                "told": told.mean(),
                "sd": told.std(ddof=1),
                "bar": bar,
                "given_nmi": redundant.mean(),
                "cpu_s": seconds.max(),
            }
        return _rounded(found) | {"ok": bool(ok)}

    case.__name__ = name
    return case


def _large(name, data, k, limit_gb=4, **options):
    """One contrast of a large table; the process's peak memory must stay below the limit."""

    def case():
        X, given, hidden = data()
        seconds, found = cpu(lambda: cs.contrast(X, given, k, standardize=False, progress=False, **options))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        told = {} if hidden is None else {"accuracy": round(matched_accuracy(hidden, found.labels), 3)}
        return told | {
            "cpu_s": round(seconds, 1),
            "peak_gb": round(peak, 2),
            "bar_gb": limit_gb,
            "redundancy": round(found.redundancy, 4),
            "run_agreement": round(found.run_agreement, 3),
            "ok": peak <= limit_gb,
        }

    case.__name__ = name
    return case


def _table():
    """100,000 objects of 50 features: a known grouping of 5 and a hidden one of 4, each in its own 20 features."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 5, 100_000), rng.integers(0, 4, 100_000)
    X = rng.normal(size=(100_000, 50))
    X[:, :20] += 1.5 * rng.normal(size=(5, 20))[given]
    X[:, 20:40] += rng.normal(size=(4, 20))[hidden]
    return X, given, hidden


def _news():
    with np.load(DATA / "newsgroups20.npz", allow_pickle=False) as file:
        group = file["y"]
    X = read_table(DATA / "newsgroups20.npz", kind="counts").values
    some = np.asarray(X.sum(axis=1)).ravel() > 0
    return sparse.csr_matrix(X[some]).astype(float), group[some], None


def _coordinated(name, limit_gb=4):
    def case():
        X, given, _ = _news()
        seconds, found = cpu(lambda: CCIB(4, trade_off=0.1, n_init=1, random_state=0).fit(X, given))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return {"cpu_s": round(seconds, 1), "peak_gb": round(peak, 2), "bar_gb": limit_gb, "ok": peak <= limit_gb} | {
            "redundancy": round(found.redundancy_, 4)
        }

    case.__name__ = name
    return case


def _em(k, seed):
    return CondEns(k, base="multinomial", random_state=seed)


def _centered(k, seed):
    return CondEns(k, center="group", random_state=seed)


def _ccib(k, seed):
    return CCIB(k, random_state=seed)


CASES = [
    _synthetic("contrast_em_orthogonal", _em, {2: 0.97, 3: 0.94, 4: 0.76, 5: 0.62}),
    _synthetic("contrast_em_member", _em, {3: 0.95}, 0.4, "member"),
    _synthetic("contrast_centered_orthogonal", _centered, dict.fromkeys(range(2, 6), 0.97)),
    _synthetic("contrast_centered_shear", _centered, dict.fromkeys(range(2, 6), 0.85), 0.4),
    _synthetic("ccib_orthogonal", _ccib, dict.fromkeys(range(2, 6), 0.97)),
    _synthetic("ccib_shear", _ccib, dict.fromkeys(range(2, 6), 0.85), 0.4),
    _synthetic("ccib_member", _ccib, dict.fromkeys(range(2, 6), 0.95), 0.4, "member"),
    _pages("contrast_webkb_em", _em, {"university": 0.28, "topic": 0.32}, 0.12, 20),
    _pages("contrast_webkb_centered", _centered, {"university": 0.45, "topic": 0.36}, 0.06, 20, LOGARITHMS),
    _pages("ccib_webkb", _ccib, {"university": 0.15, "topic": 0.34}, 0.1, 15),
    _large("contrast_table_100k", _table, 4, center="group"),
    _large("contrast_table_100k_gaussian", _table, 4, base="gaussian", n_init=2),
    _large("contrast_news_em", _news, 4, base="multinomial", n_init=2),
    _large("contrast_news_kmeans", _news, 4, center="group", n_init=2),
    _coordinated("ccib_news"),
]
