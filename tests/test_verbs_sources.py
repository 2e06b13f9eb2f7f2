"""Every verb opens every kind of source that makes sense for it, and says in one sentence why not where it does not."""

import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from command_line import ran, refused, run
from consilience._check import InputError
from consilience.explorer.sources import GenerateOptions, open_clusterings
from consilience.meta import score
from consilience.reports.report import write_report
from consilience.tables import read_table
from samples import first_of

rng = np.random.default_rng(0)
N = 24
SHAPE = np.repeat(["disc", "tube"], N // 2)
DATA = pd.DataFrame(
    np.repeat([[1.0, 9.0, 3.0], [8.0, 2.0, 4.0]], N // 2, axis=0) + rng.random((N, 3)), columns=["a", "b", "c"]
)
COUNTS = pd.DataFrame(rng.poisson(np.repeat([[9, 1, 5, 1], [1, 8, 1, 6]], N // 2, axis=0)) + 1, columns=list("wxyz"))
LABELS = pd.DataFrame({f"run{j}": np.where(rng.random(N) < 0.1, 0, np.repeat([0, 1], N // 2)) for j in range(5)})
IDS = pd.Index([f"o{i:02}" for i in range(N)], name="id")


def files(folder, name, frame):
    """A frame as CSV, Parquet and workbook."""
    frame.to_csv(folder / f"{name}.csv", index=False)
    frame.to_parquet(folder / f"{name}.parquet")
    pytest.importorskip("openpyxl")
    frame.to_excel(folder / f"{name}.xlsx", index=False)
    return {f"{name} {kind}": folder / f"{name}.{kind}" for kind in ("csv", "parquet", "xlsx")}


def in_memory(frame, kind, arrow=None, polars=None):
    found = {"frame": frame, "array": frame.to_numpy(), "table": read_table(frame, kind=kind)}
    if arrow is not None:
        found |= {"polars": polars.from_pandas(frame), "arrow": arrow.from_pandas(frame, preserve_index=False)}
    if kind != "labels":
        found["sparse"] = sparse.csr_matrix(frame.to_numpy())
    return {f"{kind} {form}": made for form, made in found.items()}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """All kinds of sources, by what they hold and their kind."""
    anndata, polars, pa = (pytest.importorskip(name) for name in ("anndata", "polars", "pyarrow"))
    folder, ens = tmp_path_factory.mktemp("sources"), cs.Ensemble(LABELS.set_index(IDS))
    obs = LABELS.set_axis(IDS.astype(str)).assign(shape=SHAPE).rename_axis(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = anndata.AnnData(DATA.to_numpy(), obs=obs, var=pd.DataFrame(index=DATA.columns))
        cells.write_h5ad(folder / "cells.h5ad")
    ens.save(folder / "run")
    meta, consensus = cs.organize(ens, 2), cs.combine(ens, 2, "vote")
    agreement = cs.agree(COUNTS.to_numpy(), 2, n_clusterings=3, max_iter=1)
    agreement.save(folder / "agreement")
    consensus.save(folder / "consensus")
    contrast = cs.contrast(DATA, SHAPE, 2, n_init=2)
    return {
        **files(folder, "labels", LABELS),
        **files(folder, "data", DATA),
        **files(folder, "counts", COUNTS),
        "run folder": folder / "run",
        "agreement folder": folder / "agreement",
        "consensus folder": folder / "consensus",
        **in_memory(LABELS, "labels", pa.Table, polars),
        "labels vectors": list(LABELS.to_numpy().T),
        **in_memory(DATA, "data", pa.Table, polars),
        **in_memory(COUNTS, "counts"),
        "cells anndata": cells,
        "cells h5ad": folder / "cells.h5ad",
        "Ensemble": ens,
        "MetaClustering": meta,
        "Consensus": consensus,
        "Agreement": agreement,
        "Contrast": contrast,
        "Comparison": cs.compare(ens, "rand"),
        "nothing": folder / "nothing.csv",
    }


CELLS = {"columns": "run*"}  # of an AnnData, the labels are some columns of obs


def explored(source, how):
    return open_clusterings(source, reading=how, options=GenerateOptions(4, 2)).session()


VERBS = {
    "Ensemble": lambda source, how: cs.Ensemble(source, **how),
    "pairwise": lambda source, how: cs.pairwise(source, "rand", **how),
    "stability": lambda source, how: cs.stability(source, "rand", **how),
    "compare": lambda source, how: cs.compare(source, "rand", **how),
    "organize": lambda source, how: cs.organize(source, 2, **how),
    "combine": lambda source, how: cs.combine(source, 2, "vote", **how),
    "score": lambda source, how: score(source, known={"shape": SHAPE}, **how),
    "generate": lambda source, how: cs.generate(source, 3, 2),
    "agree": lambda source, how: cs.agree(source, 2, n_clusterings=2, max_iter=1),
    "contrast": lambda source, how: cs.contrast(source, SHAPE, 2, n_init=2),
    "report": lambda source, how: cs.report(cs.Ensemble(source, **how) if how else source, "page.html", n_shuffles=0),
    "explore": explored,
}
LABEL_VERBS = {"Ensemble", "pairwise", "stability", "compare", "organize", "combine", "score"}
CLUSTERINGS = {"run folder", "agreement folder", "Ensemble", "MetaClustering", "Agreement", "Contrast"}
ONE = {"Consensus", "consensus folder"}  # a single clustering
SINGLE_OK = {"Ensemble", "pairwise", "compare", "combine", "score"}


def works(verb, source):
    """Whether a verb shall open a source; None where either is right."""
    holds = source.split()[0]
    if source in ("nothing", "Comparison"):
        return source == "Comparison" and verb == "report"
    if verb in LABEL_VERBS:
        if source in ONE:
            return verb in SINGLE_OK or None
        if holds == "counts":
            return None  # whole numbers may be labels
        return holds in ("labels", "cells") or source in CLUSTERINGS
    if verb == "report":
        if source in ("data csv", "data parquet", "data xlsx", "data table"):
            return True  # it clusters a table first
        return None if holds == "counts" else holds in ("labels", "cells") or source in CLUSTERINGS | ONE
    if source == "counts table" and verb in ("generate", "explore"):
        return False  # they cluster data: read it as that
    if verb == "explore":
        return None if source in ONE else True
    if verb in ("generate", "contrast"):
        return None if holds == "labels" and "table" not in source else holds in ("data", "counts", "cells")
    assert verb == "agree"
    return None if holds in ("labels", "cells", "data") else holds == "counts"


def one_sentence(text):
    return 0 < len(text) < 600 and "\n" not in text and not text.startswith("[Errno")


class Pages:
    """Writes the first page of every kind of report; of the others, whose drawing takes a second, it asks only the answer."""

    def __init__(self):
        self.kinds = set()

    def __call__(self, made, *given, **options):
        kind = type(made), made.data is None
        if kind in self.kinds:
            assert made.answer()
            return []
        self.kinds.add(kind)
        return write_report(made, *given, **options)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_with_every_source(verb, sources, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages, failures = Pages(), []
    monkeypatch.setattr(sys.modules[write_report.__module__], "write_report", pages)
    for name, source in sources.items():
        how = CELLS if name.startswith("cells") and verb in LABEL_VERBS | {"report"} else {}
        expected = works(verb, name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                VERBS[verb](source, how)
        except InputError as error:
            if expected or not one_sentence(str(error)):
                failures.append(f"{verb} of {name} is refused: {error}")
        except Exception as error:
            failures.append(f"{verb} of {name}: {type(error).__name__}: {error}")
        else:
            if expected is False:
                failures.append(f"{verb} of {name} went through")
    assert not failures, "\n".join(failures)
    assert (len({kind for kind, _ in pages.kinds}) == 6) == (verb == "report")


def cli(verb, path, folder, extra):
    """The command with least work."""
    out = folder / f"{verb}-{path.name}"
    more = {
        "compare": ["-m", "rand"],
        "organize": ["-g", "2", "--n-shuffles", "0"],
        "combine": ["-k", "2", "--method", "vote"],
        "generate": ["-k", "2", "-n", "3", "-o", out],
        "agree": ["-k", "2", "-n", "2", "--max-iter", "1"],
        "contrast": ["-k", "2", "--n-init", "2", "--given-from", folder / "shape.csv"],
        "report": [folder / "page.html", "--n-shuffles", "0"],
    }[verb]
    return run(verb, path, *more, *extra)


@pytest.mark.parametrize(
    "verb", first_of(["compare", "organize", "combine", "generate", "agree", "contrast", "report"], 6)
)
def test_every_command_with_every_path(verb, sources):
    folder = sources["run folder"].parent
    pd.DataFrame({"shape": SHAPE}).to_csv(folder / "shape.csv", index=False)
    failures = []
    for name, path in sources.items():
        if not hasattr(path, "suffix"):
            continue
        extra = ["--columns", "run*"] if name == "cells h5ad" and verb in LABEL_VERBS | {"report"} else []
        done, expected = cli(verb, path, folder, extra), works(verb, name)
        if done.returncode not in (0, 2) or "Traceback" in done.stderr:
            failures.append(f"{verb} of {name}: status {done.returncode}: {done.stderr}")
        elif done.returncode == 2 and (expected or done.stderr.count("\n") != 1):
            failures.append(f"{verb} of {name} is refused: {done.stderr}")
        elif done.returncode == 0 and expected is False:
            failures.append(f"{verb} of {name} went through")
    assert not failures, "\n".join(failures)


@pytest.mark.slow
def test_labels_beside_an_h5ad_need_no_common_id_column(sources, tmp_path):
    """A labels file is joined with an h5ad by the names that both have, whatever their columns are called."""
    LABELS.assign(cell=IDS).sample(frac=1, random_state=1).to_csv(tmp_path / "leiden.csv", index=False)
    labels = [tmp_path / "leiden.csv", "--id", "cell"]
    page = ["--data", sources["cells h5ad"], "--known", "shape", "--n-shuffles", "0"]
    ran("report", labels[0], tmp_path / "r.html", *labels[1:], *page)
    known = ("--known-from", sources["cells h5ad"], "-t")
    assert "shape" in ran("compare", *labels, *known, "shape").stdout
    assert re.search(
        "--known 'shap' is not a column of .*did you mean 'shape'", refused("compare", *labels, *known, "shap")
    )
