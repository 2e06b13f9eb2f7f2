"""Planes, names and pictures of objects in the explorer."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from command_line import ran, refused
from consilience._check import InputError
from consilience.datasets import load_beads
from consilience.explorer import server as serving
from consilience.explorer.api import Api
from consilience.explorer.object_images import curves_of, files_of, pixels_from, pixels_of
from consilience.explorer.session import Session
from consilience.explorer.sources import GenerateOptions, open_clusterings
from consilience.reports.plane import plane_of
from consilience.tables import read_table
from explorer_cases import ASSETS, arrays, ask, beads_ensemble, beads_session, finish, post, unpack

RNG = np.random.default_rng(3)
N = 60
TYPES = np.repeat([0, 1, 2], N // 3)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
FEW = GenerateOptions(n_clusterings=8, n_clusters=3, progress=False)


@pytest.fixture
def opened(monkeypatch):
    """Sessions that would be shown."""
    found = []
    monkeypatch.setattr(serving, "load_page", lambda: ASSETS)
    monkeypatch.setattr(serving.Server, "wait", lambda self: found.append(self.api.session))
    return found


@pytest.fixture(scope="module")
def cells():
    anndata = pytest.importorskip("anndata")
    X = RNG.normal(size=(N, 6)) + 4 * np.eye(6)[TYPES]
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obs_names = [f"cell{i}" for i in range(N)]
    adata.obsm["X_pca"] = X[:, :4]
    adata.obsm["X_umap"] = np.column_stack([TYPES, RNG.random(N)])
    adata.obsm["flat"] = RNG.random((N, 1))
    return adata


def test_an_anndata_is_explored_on_its_own_embedding(cells, tmp_path):
    for source in (cells, tmp_path / "cells.h5ad"):
        if source is not cells:
            cells.write_h5ad(source)
        told = ask(Api(open_clusterings(source, options=FEW).session()), "session")
        assert [plane["name"] for plane in told["planes"]] == ["X_umap", "main axes", "X_pca"]
        assert told["embedding"] == {"kind": "given", "note": "X_umap"}
        assert told["planes"][2]["note"] == "X_pca, the first two of 4 columns"
    api = Api(open_clusterings(cells, options=FEW).session())
    x = arrays(api, "boot")[1]["xy"][:, 0]
    np.testing.assert_allclose(x, TYPES / 2, atol=1e-6)
    header, found = arrays(api, "plane/2")
    assert header["name"] == "X_pca"
    assert np.corrcoef(found["xy"][:, 0], cells.obsm["X_pca"][:, 0])[0, 1] > 0.9
    assert api.call("GET", "/api/plane/3").status == 404


def test_an_embedding_follows_the_order_of_the_clusterings(cells, tmp_path):
    order = RNG.permutation(N)
    frame = pd.DataFrame({"cell": np.asarray(cells.obs_names)[order], "a": TYPES[order], "b": RNG.integers(3, size=N)})
    frame["c"] = frame["a"]
    frame.to_csv(tmp_path / "labels.csv", index=False)
    found = open_clusterings(tmp_path / "labels.csv", reading={"id_column": "cell"}).with_data(cells)
    xy = arrays(Api(found.session(axes="umap")), "boot")[1]["xy"]
    np.testing.assert_allclose(xy[:, 0], TYPES[order] / 2, atol=1e-6)


def test_axes_of_ones_own():
    xy = np.column_stack([np.arange(300.0), np.arange(300.0) ** 2])
    told = ask(Api(beads_session(axes=xy)), "session")
    assert [plane["name"] for plane in told["planes"]] == ["own coordinates", "main axes"]
    session = beads_session(axes=["red", "blue"])
    assert list(session.planes) == ["red and blue", "main axes"]
    wrong = {"two columns of the data, or an embedding": {"axes": ["X_umap"]}}
    wrong["did you mean 'X_umap'"] = {"axes": "X_umpa", "embeddings": {"X_umap": xy}}
    wrong |= {"299 rows for 300": {"axes": xy[1:]}, "missing or infinite": {"axes": np.where(xy > 1e4, np.nan, xy)}}
    for words, how in wrong.items():
        with pytest.raises(InputError, match=words):
            beads_session(**how)


def test_tsne_is_made_by_a_job():
    api = Api(beads_session())
    assert ask(api, "session")["makeable"]["tsne"] == ""
    job = finish(api, post(api, "jobs", 202, kind="plane", method="tsne")["id"])
    assert (job["state"], job["result"]) == ("done", {"plane": 1})
    header, found = arrays(api, "plane/1")
    assert header["name"] == "t-SNE"
    shape = pd.factorize(load_beads().labels["shape"])[0]
    near = np.square(found["xy"][:, None] - found["xy"][None]).sum(axis=2)
    np.fill_diagonal(near, 9)
    assert (shape[near.argmin(axis=1)] == shape).mean() > 0.5
    assert "one of tsne, umap" in post(api, "jobs", 400, kind="plane", method="isomap")["error"]
    bare = Api(Session(beads_ensemble()))
    assert "--data" in post(bare, "jobs", 400, kind="plane", method="tsne")["error"]


def test_counts_lie_apart_on_the_plane():
    topics = np.repeat(np.arange(3), 20)
    rates = np.full((3, 150), 0.02) + 2 * np.repeat(np.eye(3), 50, axis=1) * (np.arange(150) % 10 == 0)
    counts = RNG.poisson(rates[topics] * RNG.lognormal(0, 1, N)[:, None])
    counts[:, 0] += 1
    for kind in ("data", "counts"):
        table = read_table(sparse.csr_matrix(counts.astype(float)), kind=kind)
        plane = plane_of(cs.Ensemble([topics, topics]), table)
        assert plane.note.startswith("two principal components of the square roots of the counts")
        roots = np.sqrt(counts)
        roots = roots / np.linalg.norm(roots, axis=1, keepdims=True)
        left, sizes, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
        expected = left[:, :2] * sizes[:2]
        for axis in range(2):
            assert abs(np.corrcoef(plane.xy[:, axis], expected[:, axis])[0, 1]) > 0.99


@pytest.fixture
def documents(tmp_path):
    """A file of three kinds of documents, each with two words of its own, and the words; every word occurs."""
    counts = RNG.poisson(0.05, (N, 120)) + 5 * (TYPES[:, None] == np.arange(120) % 60)
    counts[np.arange(120) % N, np.arange(120)] += 1
    some, words = sparse.csr_matrix(counts), [f"word{i}" for i in range(120)]
    parts = {"data": some.data, "indices": some.indices, "indptr": some.indptr, "shape": some.shape}
    np.savez(tmp_path / "counts.npz", **parts, vocab=words)
    return tmp_path / "counts.npz", words


def test_names_of_words(tmp_path, opened, documents):
    path, words = documents
    (tmp_path / "words.txt").write_text("\n".join(words))
    for names in ("vocab", str(tmp_path / "words.txt")):
        ran("explore", path, "--names", names, "-k", "3", "-n", "6", "--methods", "minima", "--no-browser")
        assert opened[-1].features == words
    tops = {word for cluster in ask(Api(opened[0]), "detail/0m")["features"] for word in cluster["called"]}
    assert {"word0", "word1", "word2"} <= tops
    with pytest.raises(InputError, match="119 names for 120 columns"):
        open_clusterings(path, options=FEW).named(words[1:])


def test_the_words_of_an_agreement(documents):
    path, words = documents
    table = read_table(path, kind="counts")
    agreed = cs.agree(cs.tables.Table(**{**vars(table), "columns": words}), 3, n_clusterings=3, max_iter=1)
    assert open_clusterings(agreed).with_data(path).session().features == words


def test_pixels_and_their_averages():
    data = read_table(RNG.random((N, 12)), kind="data")
    labels = [TYPES, np.roll(TYPES, 1), TYPES]
    api = Api(Session(cs.Ensemble(labels), data=data, look=pixels_of(data, "3x4")))
    look = ask(api, "session")["look"]
    assert (look["kind"], look["shape"]) == ("pixels", [3, 4, 1])
    assert look["low"] == pytest.approx(data.values.min())
    header, found = unpack(post(api, "looks", rows=[5, 2]).body)
    assert found["rows"].tolist() == [2, 5]
    np.testing.assert_allclose(found["values"], data.values[[2, 5]], rtol=1e-6)
    header, found = arrays(api, "averages/0m")
    np.testing.assert_allclose(found["mean"], [data.values[c == TYPES].mean(axis=0) for c in range(3)], rtol=1e-5)
    for cluster, rows in enumerate(header["examples"]):
        mine = np.flatnonzero(cluster == TYPES)
        away = np.square(data.values[mine] - data.values[mine].mean(axis=0)).sum(axis=1)
        assert rows == mine[np.argsort(away, kind="stable")[:12]].tolist()
    many = Api(beads_session(look=pixels_from(np.zeros((300, 2, 2)), 300)))
    assert "at most 100" in post(many, "looks", 400, rows=list(range(101)))["error"]
    assert post(Api(beads_session()), "looks", 404, rows=[1])["error"].startswith("objects have no picture")


def test_curves_and_their_bands():
    frame = pd.DataFrame(RNG.random((N, 5)), columns=list("abcde"))
    data = read_table(frame, kind="data")
    api = Api(Session(cs.Ensemble([TYPES, np.roll(TYPES, 1), TYPES]), data=data, look=curves_of(data)))
    assert ask(api, "session")["look"]["names"] == list("abcde")
    _, found = arrays(api, "averages/0m")
    low, high = np.percentile(frame.to_numpy()[TYPES == 1], [10, 90], axis=0)
    np.testing.assert_allclose([found["low"][1], found["high"][1]], [low, high], rtol=1e-5)
    some = ["c", "a", "b"]
    assert curves_of(data, some).rows(np.array([0]))[0] == pytest.approx(frame.loc[0, some].to_numpy())


def test_images_are_served_from_the_folder_of_the_table_alone(tmp_path):
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(PNG)
    (folder / "images" / "script.png").write_bytes(b"<svg onload=alert(1)>")
    (folder / "images" / "large.png").write_bytes(PNG + b"\0" * (4 * 2**20))
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    paths = ["images/a.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "images/script.png"]
    paths += ["images/large.png", "images", None, "images/none.png", "images/\0.png"]
    api = Api(Session(cs.Ensemble([[0, 1] * 5, [0, 0, 1, 1, 1] * 2, [0] * 9 + [1]]), look=files_of(paths, folder)))
    assert ask(api, "session")["look"]["kind"] == "files"
    assert str(tmp_path) not in api.call("GET", "/api/session").body.decode()
    good = api.call("GET", "/api/image/0")
    assert (good.status, good.content_type, good.body) == (200, "image/png", PNG)
    for i in range(1, 10):
        reply = api.call("GET", f"/api/image/{i}")
        assert reply.status == 404, paths[i]
        assert "no image" in json.loads(reply.body)["error"]
    assert api.call("GET", "/api/image/10").status == 404
    header, _ = arrays(api, "averages/0m")
    assert header["examples"][0] == [0, 2, 4, 6, 8]


def test_images_and_curves_from_the_command_line(tmp_path, opened):
    (tmp_path / "a.png").write_bytes(PNG)
    frame = pd.DataFrame(RNG.normal(size=(N, 4)) + TYPES[:, None], columns=list("abcd"))
    frame["type"], frame["picture"] = TYPES, "a.png"
    frame.to_csv(tmp_path / "table.csv", index=False)
    base = ["explore", str(tmp_path / "table.csv"), "--no-browser", "-n", "6", "-k", "3", "--kind", "data"]
    for more, kind in (
        (["--known", "type", "--images", "picture"], "files"),
        (["--columns", "a,b,c,d", "--images-shape", "2x2"], "pixels"),
        (["--columns", "a,b,c,d", "--curves"], "curves"),
    ):
        ran(*base, *more)
        assert opened[-1].look.kind == kind
    assert list(opened[0].known) == ["type"]
    assert opened[0].features == list("abcd")
    assert opened[0].look.image(7) == ("image/png", PNG)
    for more, words in (
        (["--columns", "a,b,c,d", "--images-shape", "3x2"], "6 pixels, and the data 4 columns"),
        (["--columns", "a,b,c,d", "--images-shape", "big"], "height x width"),
        (["--columns", "a,b,c,d", "--images-shape", "2x2", "--curves"], "one picture"),
    ):
        assert words in refused(*base, *more)
