"""Valid files of sixteen kinds with a few bytes changed: every command works or refuses in a sentence, none fails or hangs."""

import gzip
import multiprocessing
import random

import anndata as ad
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

from command_line import run
from faults.counts import Count

LONGEST = 120.0  # seconds for the smallest of tables, beside others that have the cores
COMMANDS = {"cluster": ("-n", 5), "generate": ("-n", 3, "--n-clusters", 3, "--output"), "combine": (), "compare": ()}


def valid(folder):
    """A file of every kind, of 40 objects with their ids, numbers, words, dates and gaps."""
    draw = np.random.default_rng(0)
    y = np.repeat(range(4), 10)
    numbers = pd.DataFrame(draw.normal(size=(40, 3)) + 5 * y[:, None], columns=["length", "width", "größe"])
    table = numbers.round(3).assign(
        id=[f"o{i}" for i in range(40)],
        colour=np.array(["red", "blue", "grün", "white"])[y],
        day=pd.date_range("2024-01-01", periods=40).astype(str),
        label=y,
    )
    table.loc[3, "width"] = np.nan
    texts = {name: {} for name in ("a.csv", "a.csv.gz", "a.csv.bz2", "a.csv.xz")}
    texts |= {"a.tsv": {"sep": "\t"}, "a.txt": {"sep": "|"}, "b.csv": {"encoding": "utf-16"}}
    texts |= {"c.csv": {"sep": ";", "decimal": ",", "encoding": "latin-1"}}
    for name, how in texts.items():
        table.to_csv(folder / name, index=False, **how)
    table.to_parquet(folder / "a.parquet")
    table.to_excel(folder / "a.xlsx", index=False)
    np.save(folder / "a.npy", numbers)
    np.savez(folder / "a.npz", data=numbers)
    sparse = sp.csr_matrix(numbers.where(numbers > 4, 0).to_numpy())
    sp.save_npz(folder / "b.npz", sparse)
    scipy.io.mmwrite(folder / "a.mtx", sparse)
    (folder / "a.mtx.gz").write_bytes(gzip.compress((folder / "a.mtx").read_bytes()))
    ad.AnnData(numbers.to_numpy(), obs=table[["id", "colour", "label"]].astype(str).set_index("id")).write_h5ad(
        folder / "a.h5ad"
    )
    return sorted(path for path in folder.iterdir() if path.is_file())


def mutate(content, draw):
    """One to four edits: bytes flipped, cut out, doubled, taken from elsewhere in the file, or signs that mean something."""
    made = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 4])):
        at, other, wide = draw.randrange(len(made)), draw.randrange(len(made)), draw.choice([1, 1, 2, 8, 64])
        piece = bytes(made[at : at + wide])
        flipped = bytes(byte ^ (1 << draw.randrange(8)) for byte in piece)
        sign = draw.choice([b'"', b",", b"\n", b"\0", b"\xff", b"-", b"e", b"9" * 30])
        made[at : at + wide] = draw.choice(
            [flipped, flipped, bytes(made[other : other + len(piece)]), piece * 2, sign, b""]
        )
    return bytes(made) or b"\n"


def _command(args, said):
    done = run(*args)
    said.write_text(done.stderr)
    raise SystemExit(done.returncode)


def mutated(folder, times, seed=0):
    """Files changed at random, each read by a command in a process of its own."""
    count = Count("file damaged")
    draw = random.Random(seed)
    (folder / "valid").mkdir()
    kinds = valid(folder / "valid")
    assert len(kinds) == 16
    for i in range(times):
        kind, (verb, more) = kinds[i % 16], draw.choice(list(COMMANDS.items()))
        place = folder / f"{i}"
        place.mkdir()
        path = place / kind.name
        path.write_bytes(mutate(kind.read_bytes(), draw))
        args = (verb, path, *more, *([place / "run"] if "--output" in more else []))
        child = multiprocessing.get_context("fork").Process(target=_command, args=(args, place / "said"), daemon=True)
        child.start()
        child.join(LONGEST)
        count.tried += 1
        if child.exitcode == 0:
            count.finished += 1
        elif child.exitcode != 2 or not (place / "said").read_text().strip():
            child.kill()
            count.lose(1, f"{verb} {path}: exit status {child.exitcode}")
    return count
