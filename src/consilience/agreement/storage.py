"""An agreement on disk: a folder of two stores, `rows` and `columns`, and a header that is written last.

Each store holds the clusterings of every iteration, one after the other; its info says which `iteration` (0 is before) and which
`run` a clustering is of, so that anything that reads a store can read them.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, check_path
from consilience._files import write_folder, write_whole
from consilience.ensemble import Ensemble
from consilience.store import StoreWarning, check_info

FORMAT, VERSION = "consilience-agreement", 1
HEADER = "agreement.json"
PLACES = ("iteration", "run")
TAKEN = (*PLACES, "id")  # columns of info that a saved agreement fills itself: the clusterings' own get a prefix
GIVEN = "given_"


def check_new_folder(path: str | os.PathLike[str]) -> Path:
    """A folder that is not there yet, or is empty."""
    folder = check_path(path, "where to save")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{folder} exists already: choose a new folder")
    return folder


def write_agreement(
    path: str | os.PathLike[str], header: dict[str, Any], sides: Mapping[str, Sequence[Ensemble]]
) -> None:
    """Write the clusterings of every side and iteration, and the header; the folder appears whole or not at all."""
    folder = check_new_folder(path)
    stores = {side: _joined(ensembles) for side, ensembles in sides.items()}
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, indent=2).encode()

    def write(unfinished: Path) -> None:
        for side, ensemble in stores.items():
            ensemble.save(unfinished / side)
        write_whole(unfinished / HEADER, lambda file: file.write(text))

    write_folder(folder, write)


def _joined(ensembles: Sequence[Ensemble]) -> Ensemble:
    """All clusterings of a side, with their places in the info."""
    parts = []
    for t, ensemble in enumerate(ensembles):
        own = ensemble.info.rename(columns={name: GIVEN + name for name in TAKEN})
        own.insert(0, "iteration", t)
        own.insert(1, "run", np.arange(len(own)))
        check_info(own, len(own))
        parts.append(Ensemble.from_codes(ensemble.labels, label_names=ensemble.label_names, info=own, ids=ensemble.ids))
    return Ensemble.concat(parts)


def read_agreement(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Ensemble]]]:
    """The header of a saved agreement, and for every side the clusterings of every iteration."""
    folder = check_path(path, "the saved agreement")
    header = _header(folder)
    try:
        n_iter, m = (
            int(header["n_iter"]),
            {"rows": int(header["n_clusterings"]), "columns": int(header["n_column_clusterings"])},
        )
        arrays = {
            "objective": np.array(header["objective"], np.float64),
            "empty_rows": np.array(header["empty_rows"], np.int64),
            "empty_columns": np.array(header["empty_columns"], np.int64),
        }
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / HEADER} is damaged: it lacks what a saved agreement has; save it again") from None
    return {**header, **arrays}, {side: _split(folder / side, runs, n_iter + 1) for side, runs in m.items()}


def _header(folder: Path) -> dict[str, Any]:
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} holds no saved agreement: {HEADER} is not in it; check the path") from None
    except ValueError:
        raise InputError(f"{folder / HEADER} is damaged: it is not JSON; save the agreement again") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{folder / HEADER} is not that of a saved agreement; check the path")
    if header.get("version") != VERSION:
        raise InputError(
            f"{folder} was saved in agreement format {header.get('version')}, and this consilience knows format {VERSION}: "
            "upgrade consilience"
        )
    return header


def _split(folder: Path, m: int, steps: int) -> list[Ensemble]:
    """The store of a side, one ensemble for every step; a store that lacks anything is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoreWarning)
        try:
            whole = Ensemble.load(folder)
        except StoreWarning as damage:
            raise InputError(f"the saved agreement is damaged: {damage}") from None
    places = np.array([np.repeat(np.arange(steps), m), np.tile(np.arange(m), steps)]).T
    if not set(PLACES) <= set(whole.info) or not np.array_equal(whole.info[list(PLACES)].to_numpy(), places):
        raise InputError(f"{folder} does not hold {m} clusterings of each of {steps} steps: save the agreement again")
    info = whole.info.drop(columns=list(PLACES)).rename(columns={GIVEN + name: name for name in TAKEN})
    found = Ensemble.from_codes(whole.labels, label_names=whole.label_names, info=info, ids=whole.ids)
    return [found[:, t * m : (t + 1) * m] for t in range(steps)]
