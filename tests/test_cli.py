"""The command line as a person meets it: real processes, real files, typos; runs that are made, grow and are organized."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import answer, apart, ran, refused, run
from consilience import Ensemble
from consilience.cli import VERBS
from consilience.cli.generate import command, parse_base
from consilience.datasets import sample_path
from consilience.generation import METHODS

LABELS = str(sample_path("beads_labels.csv"))


def test_help_lists_the_verbs_in_the_order_of_the_flow_and_version_is_ours():
    text = run("--help").stdout
    places = [text.index(f"\n  {verb} ") for verb in VERBS]
    assert places == sorted(places)
    assert run("--version").stdout.strip() == f"consilience {cs.__version__}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_that_fits_a_terminal_of_80_columns(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run(verb, "--help").stdout
    assert "Usage: consilience " + verb in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.slow
def test_a_process_of_its_own_gives_the_same():
    for args in (["compare", LABELS, "--id", "bead", "-m", "nmi"], ["compare", "absent.csv"], ["comapre"]):
        here, there = run(*args), apart("-m", "consilience", *args)
        assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


def test_compare_json_holds_the_library_s_own_numbers():
    found = answer("compare", LABELS, "--id", "bead", "-t", "shape,color", "-m", "adjusted_rand,accuracy")
    frame = pd.read_csv(LABELS, index_col="bead")
    ens = cs.Ensemble(frame.drop(columns=["shape", "color"]))
    expected = cs.stability(ens, "adjusted_rand")
    assert found["stability"]["adjusted_rand"]["mean"] == expected.mean
    assert found["stability"]["adjusted_rand"]["sem"] == expected.sem
    row = next(r for r in found["clusterings"] if r["name"] == "form5")
    assert row["labeled"] == 0.9
    assert row["accuracy:shape"] == cs.measures.accuracy(frame["shape"], frame["form5"])


def test_compare_writes_the_matrix_of_every_measure(tmp_path):
    out = tmp_path / "matrix.csv"
    ran("compare", LABELS, "--id", "bead", "-t", "shape,color", "-m", "nmi", "--pairs", out)
    matrix = pd.read_csv(out, index_col="clustering")
    ens = cs.Ensemble(pd.read_csv(LABELS).drop(columns=["bead", "shape", "color"]))
    np.testing.assert_allclose(matrix.to_numpy(), cs.pairwise(ens, "nmi"), atol=1e-12)
    assert list(matrix.columns) == list(matrix.index) == list(ens.info["name"])
    ran("compare", LABELS, "--id", "bead", "-m", "nmi,rand", "--pairs", tmp_path / "m.npy")
    assert {p.name for p in tmp_path.iterdir()} == {"matrix.csv", "m_nmi.npy", "m_rand.npy"}


def test_what_is_read_is_never_written_over(tmp_path):
    texts = {tmp_path / "x.png": "a,b\n0,0\n1,1\n", tmp_path / "y.csv": "class\nu\nv\n"}
    for path, text in texts.items():
        path.write_text(text)
    path, other = texts
    for words in (["--figure", path], ["--known-from", other, "-o", os.path.join(tmp_path, ".", "y.csv")]):
        assert "is also read: give the output another name" in refused("compare", path, "-m", "rand", *words)
    assert {path: path.read_text() for path in texts} == texts


def test_names_add_up_and_may_hold_commas(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('run,"a,b",c,d\n0,u,1,0\n0,v,1,1\n1,v,2,1\n')
    found = answer("compare", path, "-t", '"a,b"', "-t", "c", "-m", "rand", "-m", "nmi,jaccard")
    assert [row["name"] for row in found["clusterings"]] == ["run", "d"]
    assert list(found["stability"]) == ["rand", "nmi", "jaccard"]
    assert {"rand:a,b", "rand:c"} <= set(found["clusterings"][0])


def test_tabs_can_be_typed(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a\tb\n0\t1\n1\t1\n")
    ran("compare", path)
    for sep in ("tab", "\\t", "\t"):
        ran("compare", path, "--sep", sep)


def test_known_labels_from_another_file(tmp_path):
    labels, known = tmp_path / "x.csv", tmp_path / "known.tsv"
    labels.write_text("cell,run\np,0\nq,0\nr,1\n")
    known.write_text("cell\tkind\nr\tb\nq\ta\np\ta\n")
    args = ("-m", "accuracy")
    found = answer("compare", labels, "--id", "cell", "--known-from", known, *args)
    assert found["clusterings"][0]["accuracy:kind"] == 1.0
    known.write_text("kind\na\nb\nb\n")
    found = answer("compare", labels, "--columns", "run", "--known-from", known, *args)
    assert found["clusterings"][0]["accuracy:kind"] == pytest.approx(2 / 3)
    known.write_text("cell\tkind\n7\tb\n8\ta\n")
    assert "known.tsv" in refused("compare", labels, "--id", "cell", "--known-from", known)


def test_known_labels_of_a_stored_run(tmp_path):
    cs.Ensemble([[0, 0, 1], [0, 1, 1]], ids=[10, 20, 30]).save(tmp_path / "run")
    known = tmp_path / "known.csv"
    known.write_text("cell;kind\n30;b\n20;a\n10;a\n")
    found = answer("compare", tmp_path / "run", "--known-from", known, "--id", "cell", "--sep", ";", "-m", "rand")
    assert [row["rand:kind"] for row in found["clusterings"]] == [1, pytest.approx(1 / 3)]
    assert "known labels of its objects come with --known-from" in refused("compare", tmp_path / "run", "-t", "kind")
    cs.Ensemble([[0, 0, 1]]).save(tmp_path / "bare")
    said = refused("compare", tmp_path / "bare", "--known-from", known, "--id", "cell", "--sep", ";")
    assert "since the objects have no ids: leave its id column (--id) out" in said


def test_compare_draws_and_leaves_no_spaces_at_the_ends_of_lines(tmp_path):
    done = ran("compare", LABELS, "--id", "bead", "-t", "shape", "-m", "nmi", "--figure", tmp_path / "x.svg")
    assert f"wrote {tmp_path / 'x.svg'}" in done.stdout
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert not [line for line in done.stdout.split("\n") if line.endswith(" ")]


def test_a_failure_of_the_system_is_one_sentence_without_temporary_names(tmp_path):
    done = run("compare", LABELS, "--id", "bead", "-m", "rand", "-o", tmp_path / f"{'x' * 300}.csv")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "unfinished" not in done.stderr
    assert "Errno" not in done.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error():
    line = f'"{sys.executable}" -m consilience compare "{LABELS}" --id bead --json | head -1'
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "{\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_demo_writes_files_that_the_next_command_reads(tmp_path):
    out = tmp_path / "out"
    done = ran("demo", "-n", 60, "--output", out)
    assert {p.name for p in out.iterdir()} == {"beads.csv", "beads_labels.csv", "report.html", "run"}
    assert "60 clusterings of 300 objects in 6 groups" in done.stdout
    ran("compare", out / "beads_labels.csv", "--id", "bead")
    assert "60 clusterings of 300 glass beads" in (out / "report.html").read_text(encoding="utf-8")
    assert f"consilience explore {out}/run --data {out}/beads.csv --known shape,color -g 6\n" in done.stdout
    told = [line.split("consilience ", 1)[1].split() for line in done.stdout.splitlines() if "  consilience " in line]
    assert [words[0] for words in told] == ["organize", "generate", "compare"]
    for words in told:
        ran(*words)


@pytest.mark.slow
def test_shell_completes_measures_after_a_comma():
    asked = {"COMP_WORDS": "consilience compare x.csv --measure jaccard,clu", "COMP_CWORD": "4"}
    done = apart("-m", "consilience", env={**os.environ, "_CONSILIENCE_COMPLETE": "bash_complete", **asked})
    assert "jaccard,cluster_difference" in done.stdout


@pytest.mark.slow
def test_progress_shows_on_a_terminal_only():
    """A bar on a pseudo-terminal, nothing in a pipe."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system", exc_type=ImportError)
    code = "import time\nfrom consilience._run.progress import track\n"
    code += "for _ in track(range(8), 8, 'counting'): time.sleep(0.15)\n"
    assert apart("-c", code).stderr == ""
    main, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=terminal, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is gone: all has been read
        while block := os.read(main, 65536):
            shown += block
    os.close(main)
    assert b"counting" in shown


BEADS = sample_path("beads.csv")
TABLE = ("--id", "bead", "--known", "shape,color")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "run"
    done = ran("generate", BEADS, *TABLE, "-k", 4, "-n", 80, "-o", folder)
    return folder, done


def test_generate_writes_a_run_that_goes_on_and_grows(made):
    folder, done = made
    ens = Ensemble.load(folder)
    assert (ens.n_clusterings, ens.n_objects) == (80, 300)
    assert ens.ids[0] == "b001"
    assert f"consilience organize {folder} --known-from {BEADS} --known shape,color" in done.stdout
    assert answer("generate", BEADS, *TABLE, "-k", 4, "-n", 90, "-o", folder)["n_clusterings"] == 90
    np.testing.assert_array_equal(Ensemble.load(folder).labels[:, :80], ens.labels)
    ran("generate", BEADS, *TABLE, "-o", folder, "-n", 5, "--around", 3, "--jitter", 0.1, "--json")
    info = Ensemble.load(folder).info
    assert (info["around"] == 3).sum() == 5


def test_bases_are_parsed_and_methods_completed():
    base = parse_base("HDBSCAN(min_cluster_size=12, cluster_selection_method='leaf')")
    assert type(base).__name__ == "HDBSCAN"
    assert base.min_cluster_size == 12
    assert type(parse_base("GaussianMixture")).__name__ == "GaussianMixture"
    mix = next(option for option in command.params if option.name == "methods").type
    completed = {text: [one.value for one in mix.shell_complete(None, None, text)] for text in ("a", "zipf+")}
    assert completed["a"] == ["auto", "average"]
    assert set(completed["zipf+"]) >= {f"zipf+{name}" for name in METHODS}


def test_other_clusterers_and_several_numbers(tmp_path):
    base = ("--base", "AgglomerativeClustering()")
    ran("generate", BEADS, *TABLE, "-o", tmp_path / "run", "-n", 4, "-k", "3,5", *base, "--json")
    assert set(Ensemble.load(tmp_path / "run").n_clusters) <= {3, 5}


@pytest.mark.slow
def test_organize_prints_groups_and_writes_them(made, tmp_path):
    folder, _ = made
    out = tmp_path / "organized"
    ran("organize", folder, "--known-from", BEADS, *TABLE, "-g", 4, "--linkage", "ward", "-o", out, "--n-shuffles", 3)
    groups, clusterings = pd.read_csv(out / "groups.csv"), pd.read_csv(out / "clusterings.csv")
    assert groups["clusterings"].sum() == len(clusterings)
    assert clusterings["medoid"].sum() == 4
    objects = pd.read_csv(out / "consensus.csv")
    assert objects["bead"].tolist()[:2] == ["b001", "b002"]
    assert {"group1", "confidence4"} <= set(objects)
    made_files = {path.name for path in out.iterdir()}
    assert {"curve.png", "map.png", "tree_accuracy_shape.png", "scores_accuracy_color.png", "null.csv"} <= made_files


def test_organize_for_machines(made):
    found = answer("organize", made[0], "--height", 0.2)
    assert len(found["group_of"]) == found["n_clusterings"]
    assert len(found["groups"]) == max(found["group_of"])
    assert found["null"] is None


def test_known_labels_are_matched_by_name_even_unasked(made, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    pd.read_csv(BEADS).sample(frac=1, random_state=0).to_csv(shuffled, index=False)
    how = ("-t", "shape", "-g", 3, "--n-shuffles", 0)
    plain, mixed = (answer("organize", made[0], "--known-from", path, *how) for path in (BEADS, shuffled))
    assert plain["groups"] == mixed["groups"]


def test_interrupted_it_says_how_to_go_on_and_the_next_command_only_that_it_stopped(made, monkeypatch):
    def stop(*args, **how):
        raise KeyboardInterrupt

    for work in ("generation.generate", "measures.compare"):
        monkeypatch.setattr(f"consilience.{work}", stop)
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 500, "-o", made[0])
    assert done.returncode == 130
    assert "the same command goes on" in done.stderr
    done = run("compare", LABELS, "--id", "bead")
    assert (done.returncode, done.stderr.strip()) == (130, "consilience: stopped")
