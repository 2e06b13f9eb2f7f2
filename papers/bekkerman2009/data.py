"""The data sets of Bekkerman et al. 2009, as near as they can be had: documents by words with known categories, and users by movies.

Of the paper's four, 20 Newsgroups is at hand. The mailboxes sanders-r and kitchen-l and the Netflix ratings are not: twenty Enron
folders and the CLUTO sets stand in for the first two, MovieLens 1M for the last. Without a folder of data, small tables are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError
from consilience.tables import read_table

NEWSGROUPS = ("newsgroups20", "newsgroups20_bydate")
STAND_INS = ("enron20folders", "k1b", "cluto_re0", "cluto_re1", "cluto_tr11", "cluto_tr41", "cluto_tr45", "cluto_wap")
SAME_FOLDER = ("_americas", "_americas_esvl")  # nearly every message of the first is also in the second
HELD_OUT, POSITIVE = 100_000, 0.078  # pairs of the Netflix hold-out, and the share of them that came true


@dataclass(frozen=True)
class Documents:
    """A table of documents by words, with the documents' categories.

    Attributes
    ----------
    name : str
    counts : CSR matrix
    truth : (n_documents,) int array
    words : (n_words,) array or None
    """

    name: str
    counts: Any
    truth: NDArray[np.int64]
    words: NDArray[Any] | None = None

    @property
    def n_clusters(self) -> int:
        """As many as categories."""
        return int(self.truth.max()) + 1

    @property
    def frequency(self) -> NDArray[np.int64]:
        """In how many documents each word occurs."""
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1])

    @property
    def key(self) -> dict[str, Any]:
        """What names a cell on these documents."""
        return {"data": self.name, "documents": len(self.truth)}

    def sample(self, n_documents: int, seed: int = 0) -> Documents:
        """Some of the documents, with the words and categories that occur in them."""
        rows = np.sort(np.random.default_rng(seed).permutation(len(self.truth))[:n_documents])
        counts = self.counts[rows]
        words = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) > 1)
        truth = np.unique(self.truth[rows], return_inverse=True)[1]
        return Documents(self.name, counts[:, words], truth, None if self.words is None else self.words[words])


@dataclass(frozen=True)
class Ratings:
    """Who rated what, and pairs held out of it.

    Attributes
    ----------
    name : str
    counts : CSR matrix
        1 for every known pair.
    users, movies, positive : arrays
        The held-out pairs, and whether they came true.
    """

    name: str
    counts: Any
    users: NDArray[np.int64]
    movies: NDArray[np.int64]
    positive: NDArray[np.int64]


def check_folder(folder: Path, names: tuple[str, ...]) -> None:
    """Refuse a folder that lacks one of the sets, before anything is done."""
    for name in names:
        if not (folder / f"{name}.npz").is_file():
            raise InputError(
                f"{folder} has no {name}.npz: give the folder that holds it, or leave out --data for drawn data only"
            )


def read_documents(folder: Path, name: str) -> Documents:
    """A document set by the name of its file; Enron without the copies of messages, and with its twin folders as one."""
    path = folder / f"{name}.npz"
    table = read_table(path, kind="counts", known="y")
    counts = table.values
    with np.load(path, allow_pickle=False) as arrays:
        truth = arrays["y"].astype(np.int64)
        words = arrays["vocab"] if "vocab" in arrays.files else None
        if name == "enron20folders":
            first = np.sort(np.unique(arrays["text_id"], return_index=True)[1])
            one, other = (arrays["y_names"].tolist().index(folder_name) for folder_name in SAME_FOLDER)
            truth = np.where(truth == one, other, truth)[first]
            counts = counts[first]
    return Documents(name, counts, np.unique(truth, return_inverse=True)[1], words)


def read_movielens(folder: Path, *, popular: bool, n_users: int | None = None, seed: int = 0) -> Ratings:
    """MovieLens 1M as pairs, without the stars, or the part of the first users; see :func:`hold_out`."""
    with np.load(folder / "movielens1m.npz", allow_pickle=False) as arrays:
        users, movies = arrays["user"].astype(np.int64) - 1, arrays["item"].astype(np.int64) - 1
    some = users < (n_users or len(users))
    n_pairs = HELD_OUT if n_users is None else HELD_OUT // 100
    return hold_out("movielens1m", users[some], movies[some], n_pairs, popular=popular, seed=seed)


def hold_out(name: str, users: Any, movies: Any, n_pairs: int, *, popular: bool, seed: int) -> Ratings:
    """Hold out known pairs, and draw pairs that never happened to tell them from; 7.8 % are of the first kind.

    Parameters
    ----------
    name : str
    users, movies : (n_ratings,) whole numbers
    n_pairs : int
    popular : bool
        Draw the users and movies of pairs that never happened in proportion to their ratings, otherwise uniformly.
    seed : int
    """
    rng = np.random.default_rng([seed, popular])
    shape = (int(users.max()) + 1, int(movies.max()) + 1)
    away = np.zeros(len(users), bool)
    away[rng.permutation(len(users))[: round(POSITIVE * n_pairs)]] = True
    known = users * shape[1] + movies
    chosen: NDArray[np.int64] = np.empty(0, np.int64)
    wanted = n_pairs - int(away.sum())
    if 2 * wanted > shape[0] * shape[1] - len(known):
        raise InputError(f"too few pairs never happened to hold out {wanted:,} of them: hold out fewer")
    while len(chosen) < wanted:
        drawn = _draw(rng, users, popular, wanted) * shape[1] + _draw(rng, movies, popular, wanted)
        chosen = np.unique(np.concatenate([chosen, drawn[~np.isin(drawn, known)]]))
    chosen = rng.permutation(chosen)[:wanted]
    counts = sparse.csr_matrix((np.ones(int((~away).sum()), np.int64), (users[~away], movies[~away])), shape)
    pairs = np.concatenate([known[away], chosen])
    positive = np.repeat([1, 0], [int(away.sum()), wanted])
    return Ratings(name, counts, pairs // shape[1], pairs % shape[1], positive)


def _draw(rng: np.random.Generator, numbers: Any, popular: bool, n: int) -> NDArray[np.int64]:
    return np.asarray(rng.choice(numbers if popular else np.unique(numbers), n), np.int64)


def draw_documents(n_documents: int = 240, n_words: int = 300, n_topics: int = 4, seed: int = 0) -> Documents:
    """Documents of some topics: a word in four is the topic's own, the others anybody's.

    Examples
    --------
    >>> drawn = draw_documents(20, 30, 4)
    >>> drawn.counts.shape, drawn.n_clusters
    ((20, 30), 4)
    """
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_documents) % n_topics)
    common = rng.dirichlet(np.full(n_words, 0.5))
    own = np.where(np.arange(n_words) % n_topics == np.arange(n_topics)[:, None], common, 0.0)
    own /= own.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(40, 0.75 * common + 0.25 * own[topic]) for topic in truth])
    words = np.array([f"word{j}" for j in range(n_words)])
    return Documents("drawn", sparse.csr_matrix(counts.astype(np.int64)), truth, words)


def draw_ratings(
    n_users: int = 150, n_movies: int = 100, n_tastes: int = 4, *, popular: bool, seed: int = 0
) -> Ratings:
    """Users who rate mostly the movies of their own taste, and popular ones."""
    rng = np.random.default_rng([seed, 2])
    fame = rng.pareto(2.0, n_movies) + 0.2
    taste = np.arange(n_users)[:, None] % n_tastes == np.arange(n_movies) % n_tastes
    chance = np.minimum(0.9, np.where(taste, 0.5, 0.08) * fame)
    users, movies = np.nonzero(rng.random((n_users, n_movies)) < chance)
    return hold_out("drawn", users, movies, 1000, popular=popular, seed=seed)
