"""What all pictures share (matplotlib, the extra `plots`).

A function that makes a picture of a result is registered with :func:`picture`; :func:`draw` writes it to a file by its name, a page
and a notebook show the same. Pure black and white stand for ink and paper: a page on a dark ground inverts them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from consilience._check import InputError, check_choice, kind_of
from consilience._types import Array, Ints, PathLike
from consilience.measures import contingency
from consilience.reports.files import check_figure_path, write_file
from consilience.reports.words import format_name, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    Axes = Figure = Any  # the extra may be missing

F = TypeVar("F", bound=Callable[..., Any])
LONGEST = 24  # safeguard: letters of a name beside a picture
LISTED = 30  # safeguard: entries of a legend
NAMED = 40  # safeguard: clusterings or clusters that a picture has room to name
POINTS = 3000  # safeguard: objects on a picture, drawn at random; more of them make pages large and say no more
OFFSETS = (
    *(((6, -3), "left"), ((-6, -3), "right"), ((0, 5), "center"), ((0, -11), "center")),
    *(((-2, 6), "right"), ((2, 6), "left"), ((-2, -12), "right"), ((2, -12), "left")),
)  # where a name may stand beside its point, in points, the best place first


@dataclass(frozen=True)
class Drawing:
    of: tuple[type, ...]
    make: Callable[..., Figure]
    main: bool


PICTURES: dict[str, Drawing] = {}


def picture(name: str, *of: type, main: bool = True) -> Callable[[F], F]:
    """Register a function ``make(result, **options)`` that draws these kinds; notebooks show a kind's main picture."""

    def register(make: F) -> F:
        PICTURES[name] = Drawing(of, make, main)
        return make

    return register


def draw(result: Any, path: PathLike, picture: str | None = None, **options: Any) -> None:
    """Draw a picture of a result to a file.

    Parameters
    ----------
    result : Consensus, Summary, MetaClustering, Map, Comparison, Agreement, Contrast, Ensemble or DataFrame
    path : path ending in .png, .svg or .pdf
    picture : str, optional
        Which of the result's pictures; by default its first here:

        - Consensus: "confidence", "members" (how far to trust each clustering), "scales" (stability by number of clusters), "tree_over_k";
        - MetaClustering: "tree" (`score=`, a number per clustering, colors it), "curve" (compactness by number of groups);
        - Map, or a list of them: "map" (`score=`, `groups=` and `names=` of the clusterings);
        - DataFrame: "scores" (`x=`, `y=` columns, `marked=`, `groups=`, `null=`), "iterations";
        - Ensemble: "ensemble" (how alike the clusterings are), "tree_over_k" (`color=`, scores of the objects);
        - Comparison: "comparison" (`measure=`); Agreement: "iterations"; Summary: "summary";
        - Contrast: "contrast" (`X=`, `given=`); mapping of names to labels: "tiles" (`data=`, `names=`).
    **options
        Of the picture.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.reports import draw
    >>> one = cs.combine(cs.datasets.load_beads_labels(), 3)
    >>> with TemporaryDirectory() as folder:
    ...     draw(one, f"{folder}/confidence.svg")
    ...     draw(one, f"{folder}/members.png", "members")
    """
    file = check_figure_path(Path(path))
    names = [name for name, made in PICTURES.items() if isinstance(result, made.of)]
    if not names:
        raise InputError(f"there is no picture of {kind_of(result)}: draw a result, such as combine(ens) returns")
    main = next((name for name in names if PICTURES[name].main), names[0])
    name = main if picture is None else check_choice(picture, names, f"picture of {kind_of(result)}")
    write_figure(PICTURES[name].make(result, **options), file)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to no window, so that it can be made anywhere."""
    try:
        from matplotlib.figure import Figure as Made
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'consilience[plots]'") from error
    return Made(figsize=(width, height), layout="constrained")


def new_axis(width: float, height: float) -> Axes:
    return new_figure(width, height).subplots()


@contextmanager
def any_script() -> Iterator[None]:
    """Without warnings about names in a script that the font lacks: these are drawn as boxes, and a browser has the letters."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        yield


def draw_to(figure: Figure, file: Any, form: str, dots: int = 160, **options: Any) -> None:
    """Draw a figure in a format; where its parts lie is found once, since that takes as long as drawing."""
    from matplotlib import rc_context

    with any_script(), rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)  # by itself: savefig would draw everything once more, unseen, before it draws
            figure.set_layout_engine(None)  # "none" leaves one that does nothing, for which savefig does the same
        figure.savefig(file, format=form, dpi=dots, **options)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all."""
    write_file(path, lambda file: draw_to(figure, file, path.suffix[1:].lower()))


def short_name(name: Any) -> str:
    """A name that fits beside a picture, on one line, and is not a formula to matplotlib."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    return shorten(text, LONGEST).replace("$", r"\$")


def score_title(score: Any) -> str:
    """What to write beside a score: purity with vowel, for the column "accuracy:vowel"."""
    return format_name(short_name(score.name or "score"))


def open_frame(*axes: Any) -> Any:
    """Leave only the left and the lower line of the frame; returns the figure."""
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return axes[0].get_figure()


def name_rows(shown: int, *axes: Any) -> None:
    for axis in axes:
        axis.set_yticks(range(shown), [str(c) for c in range(shown)], fontsize=8)
        axis.set_ylim(shown - 0.4, -0.6)


def scatter_codes(axis: Any, xy: Any, codes: Any, *, size: float) -> None:
    """Points in the color and marker of their cluster or group; those without one are grey, behind the others."""
    for code in sorted(set(codes.tolist())):
        how: dict[str, Any] = {"color": color_of(code), "marker": marker_of(code), "linewidths": 0, "alpha": 0.8}
        axis.scatter(*xy[codes == code].T, s=size, rasterized=True, **how)


def legend_of(place: Any, names: Mapping[int, Any], title: str, **options: Any) -> None:
    """A legend of clusters or groups by their codes, on a figure or axis; beyond some the rest is said to be left out."""
    from matplotlib.lines import Line2D

    handles = []
    for code in list(names)[:LISTED]:
        look: dict[str, Any] = {"color": color_of(code), "marker": marker_of(code) if code >= 0 else "o"}
        handles.append(Line2D([], [], linestyle="", markersize=6, label=short_name(names[code]), **look))
    if len(names) > LISTED:
        handles.append(Line2D([], [], linestyle="", label=f"… {len(names) - LISTED} more"))
    how: dict[str, Any] = {"frameon": False, "fontsize": 8, "title_fontsize": 8, "columnspacing": 1.0}
    how |= {"ncols": 1 if len(handles) <= 16 else 2, "handletextpad": 0.2, "title": title or None}
    place.legend(handles=handles, **how | options)


@any_script()
def annotate_points(axis: Any, names: Sequence[Any], xy: Any) -> None:
    """Names beside points as far as there is room: none covers another name or point; points in one place share one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    axis.figure.draw_without_rendering()  # places are known only then
    renderer = FigureCanvasAgg(axis.figure).get_renderer()  # once: a text that is asked alone makes its own
    points = axis.transData.transform(xy)
    frame = axis.get_window_extent()
    taken: list[Any] = []
    free = list(np.lexsort((points[:, 0], -points[:, 1])))
    while free:
        here = points[free[0]]
        near = [i for i in free if np.abs(points[i] - here).max() < 8]
        free = [i for i in free if i not in near]
        name = short_name(names[near[0]]) + (f" and {len(near) - 1} more" if len(near) > 1 else "")
        others = np.delete(points, near, axis=0)
        for offset, side in OFFSETS:
            how: dict[str, Any] = {"textcoords": "offset points", "ha": side, "fontsize": 8}
            text = axis.annotate(name, xy[near[0]], xytext=offset, **how)
            box = text.get_window_extent(renderer)
            covers = ((others >= box.p0 - 4) & (others <= box.p1 + 4)).all(axis=1).any()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            if inside and not covers and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


# The colors of the whole project: pictures, reports and the explorer's page (`palette.js` has the same list).
#
# The first six are Okabe and Ito's. The others were searched for the largest least distance from each other, seen as they are and as
# people without one of the three kinds of cones see them; grey is left for what has no label.

PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#850344", "#26E085", "#7348E2", "#1035C2"),
    *("#661091", "#416407", "#1A4D68", "#B91A96", "#9980FE", "#81555B", "#C11435", "#D3D316", "#96AE7F", "#27E3FD"),
)
MARKERS = "o^sDv"  # beyond twenty the colors come again with another marker
UNLABELED = "#c4cad1"
QUIET, ACCENT = "#7b8794", "#d9480f"  # lines that only help, and what must not be overlooked
NEARLY_BLACK, NEARLY_WHITE = "#010101", "#fefefe"  # text on a colored ground, which a dark page does not invert


def color_of(number: int) -> str:
    """Color of a cluster (from 0) or, with its number less one, of a group of clusterings."""
    return UNLABELED if number < 0 else PALETTE[number % len(PALETTE)]


def slots_of(labels: Array, reference: Array) -> Ints:
    """For every cluster the number of the reference cluster that it overlaps most, one to one; others have the next numbers."""
    from scipy.optimize import linear_sum_assignment

    k, r = int(labels.max(initial=-1)) + 1, int(reference.max(initial=-1)) + 1
    if not k or not r:
        return np.arange(k)
    # Every code once more, beside a missing one: it counts nothing and gives the table a row and a column for each.
    mine = np.concatenate([labels, np.arange(k), np.full(r, -1)])
    overlap = contingency(mine, np.concatenate([reference, np.full(k, -1), np.arange(r)]))
    slots = np.full(k, -1, np.int64)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    slots[rows] = columns
    slots[slots < 0] = r + np.arange(np.count_nonzero(slots < 0))
    return slots


def marker_of(number: int) -> str:
    """Marker of a cluster or group: tells those apart that share a color."""
    return "." if number < 0 else MARKERS[number // len(PALETTE) % len(MARKERS)]


def ink_on(color: str) -> str:
    """Black or white, whichever can be read on a color."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return NEARLY_BLACK if 0.3 * red + 0.59 * green + 0.11 * blue > 105 else NEARLY_WHITE


def score_colors() -> Any:
    """Colors of a score: yellow is low and blue is high; both ends can be seen on white and on black."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis_r"](np.linspace(0.06, 0.72, 256)))
