"""What an object looks like: an image of its own, pixels in its columns, or a curve of its columns in order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, count
from consilience._types import Array, Floats, Ints
from consilience.tables import Table

LARGEST = 4 * 2**20  # safeguard: bytes of one image
MOST_PIXELS = 256 * 256  # safeguard: of one image, of which a page shows a hundred
KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}


@dataclass(frozen=True, eq=False)
class Look:
    kind: str  # pixels, curves or files
    values: Array | None = field(default=None, repr=False)  # a row per object; pixels row by row, their colors together
    shape: tuple[int, int, int] = (0, 0, 0)  # height, width and colors (1 or 3) of pixels
    names: list[str] = field(default_factory=list, repr=False)  # of the points of a curve
    paths: list[str | None] = field(default_factory=list, repr=False)  # of files; None where an object has none
    folder: Path | None = None  # nothing outside it is served

    @cached_property
    def span(self) -> tuple[float, float]:
        if self.values is None or not np.isfinite(self.values).any():
            return 0.0, 1.0
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))

    def summary(self) -> dict[str, Any]:
        low, high = self.span
        return {"kind": self.kind, "shape": self.shape, "names": self.names, "low": low, "high": high}

    def rows(self, rows: Ints) -> Floats:
        assert self.values is not None
        return np.asarray(self.values[rows], np.float32)

    def image(self, row: int) -> tuple[str, bytes] | None:
        """Type and bytes of an object's image; None where there is none, or it lies outside the folder, is too large, or is no image."""
        path = self.paths[row]
        if path is None or self.folder is None:
            return None
        folder = self.folder.resolve()
        try:
            place = (folder / path).resolve(strict=True)
            if not place.is_relative_to(folder) or not place.is_file() or place.stat().st_size > LARGEST:
                return None
            data = place.read_bytes()
        except (OSError, ValueError):
            return None
        for magic, kind in KINDS.items():
            if data.startswith(magic) and (magic != b"RIFF" or data[8:12] == b"WEBP"):
                return f"image/{kind}", data
        return None


def pixels_of(data: Table | None, shape: Any) -> Look:
    sizes = _sizes(shape)
    values, _ = _columns(data, "--images-shape")
    if values.shape[1] != np.prod(sizes):
        what = f"images of {'×'.join(map(str, sizes))} have {count(int(np.prod(sizes)), 'pixel')}"
        width = count(values.shape[1], "column")
        raise InputError(f"{what}, and the data {width}: give the shape that its columns have")
    return Look("pixels", values, sizes)


def pixels_from(images: Any, n_objects: int) -> Look:
    table = np.asarray(images)
    if table.ndim not in (3, 4) or (table.ndim == 4 and table.shape[3] not in (1, 3)) or table.dtype.kind not in "biuf":
        wanted = "images are an array of objects × height × width, or × 3 colors"
        raise InputError(f"{wanted}; got one of shape {table.shape}: or name a column of paths")
    if len(table) != n_objects:
        raise InputError(f"{count(len(table), 'image')} for {count(n_objects, 'object')}: give one for each")
    sizes = _sizes(table.shape[1:])
    return Look("pixels", table.reshape(n_objects, -1).astype(np.float32), sizes)


def curves_of(data: Table | None, columns: Sequence[str] | None = None) -> Look:
    """The columns of a table in their order, or some of them, as a curve for each object."""
    values, names = _columns(data, "--curves")
    if columns:
        if lost := [name for name in columns if name not in names]:
            raise InputError(f"{lost[0]!r} is not a column of the data that curves could be drawn of: check its name")
        values, names = values[:, [names.index(name) for name in columns]], list(columns)
    if values.shape[1] < 3:
        raise InputError(f"a curve has three points or more, and the data {count(values.shape[1], 'column')}")
    return Look("curves", values, names=names)


def files_of(paths: Any, folder: Path) -> Look:
    """Paths of images, one per object, inside a folder; missing ones are left out."""
    found = [one if isinstance(one, str) and one else None for one in np.asarray(paths, object).tolist()]
    if not any(found):
        raise InputError("the column of images holds no paths: name another, or give the shape of pixels")
    return Look("files", paths=found, folder=folder)


def _sizes(shape: Any) -> tuple[int, int, int]:
    try:
        parts = [int(part) for part in (shape.lower().split("x") if isinstance(shape, str) else shape)]
    except (ValueError, TypeError, AttributeError):
        parts = []
    if len(parts) == 2:
        parts.append(1)
    if len(parts) != 3 or min(parts) < 1 or parts[2] not in (1, 3) or parts[0] * parts[1] > MOST_PIXELS:
        wanted = f"height x width, or height x width x 3, of at most {MOST_PIXELS:,} pixels, such as 8x8"
        raise InputError(f"the shape of images is {wanted}; got {shape!r}")
    return parts[0], parts[1], parts[2]


def _columns(data: Table | None, option: str) -> tuple[Array, list[str]]:
    """Numbers as they came, or what they became, and what their columns are called."""
    if data is None or data.kind == "distances":
        raise InputError(f"{option} draws the columns of the data, and there is none: give the data too")
    values, names = data.values, data.columns
    if data.original is not None and all(kind.kind in "iuf" for kind in data.original.dtypes):
        values, names = data.original.to_numpy(float), list(map(str, data.original.columns))
    values = np.asarray(values.toarray() if sparse.issparse(values) else values, np.float32)
    return values, list(map(str, range(values.shape[1])) if names is None else names)
