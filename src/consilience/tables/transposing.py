"""Tables whose columns are the objects, as genes × samples: turned, and known by the names of their rows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import InputError, count, listed
from consilience._types import Array
from consilience.tables.columns import is_id_name
from consilience.tables.parse_text import is_number
from consilience.tables.read_cells import ColumnError, numbers_of
from consilience.tables.sheet import Sheet
from consilience.tables.typed_column import coded

LOOK = 50  # names that say what they are
_OF_GENES = re.compile(
    r"(gene|probe|probeset|transcript|protein|peptide|otu|asv|ensembl|entrez|hgnc)s?([ _.-]?(gene|id|ids|name|symbol))*",
    re.IGNORECASE,
)
_ABOUT_ROWS = re.compile(r"chr|chrom|chromosome|start|end|strand|length|width|(gene[ _.-]?)?(bio)?type", re.IGNORECASE)
_GENE = re.compile(r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|\d+_([sxa]_)?at|ILMN_\d+|[NX][MR]_\d+(\.\d+)?")


def transposed(sheet: Sheet, id_column: str | int | None) -> Sheet:
    """A sheet whose objects are the columns of another: its names become ids, and a column of it that names the rows their names.

    That column is `id_column`, an index of names, the first one if it is named like ids or genes, or the first without a number. Others
    without a number, and those that tell where genes lie, are left out, which is said.
    """
    if sheet.beside is not None:
        raise InputError(
            f"{sheet.source}: has vectors beside its matrix that belong to its rows, so these are the objects: leave transpose= "
            "(--transpose) out"
        )
    if not isinstance(sheet.body, (pa.Table, pd.DataFrame)):
        return replace(sheet, body=_plain_transposed(sheet.body), line=None, index=None, index_is_ids=False)
    words = [position for position in range(sheet.width) if not _has_numbers(sheet, position)]
    own: int | None = None
    if id_column is not None and not (sheet.index is not None and id_column in ("index", sheet.index_name)):
        own = sheet.find(id_column, "id_column")
    elif id_column is None and not sheet.index_is_ids:
        first = sheet.column_names()[0]
        names_rows = not first or is_id_name(first) or _OF_GENES.fullmatch(first) is not None
        own = 0 if names_rows else words[0] if words else None
    if own is not None:
        names = [str(cell or "").strip() for cell in _cells(sheet, own)]
    elif sheet.index_is_ids or id_column is not None:
        assert sheet.index is not None
        names = [str(name) for name in sheet.index]
    else:
        names = [""] * sheet.n_rows
    names = [name or f"row {row + 1}" for row, name in enumerate(names)]
    left = [sheet.column_names()[position] for position in words if position != own]
    kept = [position for position in range(sheet.width) if position != own and position not in words]
    if not kept:
        raise InputError(
            f"{sheet.source}: no column holds numbers, so none is an object: leave transpose= (--transpose) out"
        )
    notices = [*sheet.notices, f"turned, so that its {count(len(kept), 'column')} are the objects"]
    if left:
        notices.append(f"left out {listed(left)}, which {'tells' if len(left) == 1 else 'tell'} of the rows")
    ids = np.array([sheet.column_names()[position] for position in kept], object)
    return replace(
        sheet,
        body=_body(sheet, kept, names),
        names=names,
        line=None,
        index=ids,
        index_name="index",
        index_is_ids=True,
        notices=tuple(notices),
    )


def named_like_genes(ids: Array, id_name: str | None) -> bool:
    """Whether rows bear names of genes, or of what else is measured in samples, by their column's name or by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> named_like_genes(np.array(["a", "b"]), "Gene Symbol"), named_like_genes(np.array(["ENSG00000141510", "ENSG00000012048"]), "id")
    (True, True)
    >>> named_like_genes(np.array(["a", "b"]), "name")
    False
    """
    if id_name is not None and _OF_GENES.fullmatch(id_name.strip()):
        return True
    some = [str(one) for one in ids[:LOOK]]
    return sum(_GENE.fullmatch(one) is not None for one in some) > 0.8 * len(some)


def _body(sheet: Sheet, kept: list[int], names: list[str]) -> Any:
    """Numbers where all cells are, else text as it stands, whose columns are looked at one by one later."""
    try:
        return pd.DataFrame(np.stack([numbers_of(sheet, position) for position in kept]))
    except ColumnError:
        cells = np.array([_cells(sheet, position) for position in kept], object)
    if not isinstance(sheet.body, pa.Table):
        return pd.DataFrame(cells).infer_objects()
    return pa.table(
        [pa.chunked_array([pa.array(cells[:, j], pa.string())]) for j in range(len(names))],
        list(map(str, range(len(names)))),
    )


def _cells(sheet: Sheet, position: int) -> list[Any]:
    column = sheet.column(position)
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.tolist()


def _has_numbers(sheet: Sheet, position: int) -> bool:
    """Whether some cells are numbers, and do not tell where a gene lies and how long it is."""
    if _ABOUT_ROWS.fullmatch(sheet.column_names()[position]):
        return False
    column = sheet.column(position)
    if not isinstance(column, pa.ChunkedArray) and column.dtype.kind in "biuf":
        return True
    return any(is_number(word) for word in coded(sheet, column)[1])


def _plain_transposed(body: Any) -> Any:
    turned = body.T
    return turned.tocsr() if hasattr(turned, "tocsr") else np.ascontiguousarray(turned)
