"""Cells in an h5ad file: on their own UMAP, groups and genes that set them apart, and back into obs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience.measures import adjusted_rand
from journeys.steps import journey, settled, tile_of
from page_server import download, rename, show

pytestmark = pytest.mark.slow

NAMED = {"0": "cytotoxic", "1": "B cells"}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    """A file as scanpy leaves it: genes, bulk labels, and two embeddings."""
    anndata, umap = pytest.importorskip("anndata"), pytest.importorskip("umap")
    with np.load(data_folder / "sc_pbmc68k_reduced.npz") as z:
        X = sparse.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
        bulk = pd.Categorical(z["y_names"][z["y"]])
        genes = pd.DataFrame(index=z["vocab"])
    names = [f"cell-{number}" for number in range(len(bulk))]
    adata = anndata.AnnData(X, obs=pd.DataFrame({"bulk": bulk}, index=names), var=genes)
    scores = np.linalg.svd(X.toarray() - X.mean(axis=0).A1, full_matrices=False)
    adata.obsm["X_pca"] = scores[0][:, :30] * scores[1][:30]
    adata.obsm["X_umap"] = umap.UMAP(random_state=0, n_jobs=1).fit_transform(adata.obsm["X_pca"])
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    adata.write_h5ad(path)
    return path


def test_on_their_own_umap_named_and_back_into_obs(browser: Any, cells: Path) -> None:
    import anndata

    with journey(browser, cells.parent, "explore cells.h5ad --known bulk -k 8 -n 100 -o run") as page:
        plane = page.get_by_label("Plane")
        assert plane.evaluate("one => one.selectedOptions[0].text") == "X_umap", "the file's own comes first"
        assert {"main axes", "X_pca"} <= set(plane.locator("option").all_inner_texts())
        nearest = tile_of(page, "bulk")
        group = int(nearest.get_attribute("data-group"))
        nearest.click()
        settled(page)
        genes = page.locator("#panel-detail .effects").inner_text()
        adata = anndata.read_h5ad(cells)
        assert sum(gene in genes for gene in adata.var_names) >= 10, "clusters are told by their genes"
        show(page, "Edit")
        for old, new in NAMED.items():
            rename(page, old, new)
        for name in NAMED.values():
            page.locator(".color-legend", has_text=name).first.wait_for()
        page.get_by_label("Name", exact=True).last.fill("types")
        (cells.parent / "named.h5ad").write_bytes(download(page, "h5ad"))
    adata.obs = adata.obs.join(anndata.read_h5ad(cells.parent / "named.h5ad").obs)
    adata.write_h5ad(cells.parent / "labeled.h5ad")
    back = anndata.read_h5ad(cells.parent / "labeled.h5ad").obs
    assert back.index.tolist() == [f"cell-{number}" for number in range(700)]
    meta = cs.organize(cs.Ensemble.load(cells.parent / "run"))
    medoid = meta.ensemble.labels[:, meta.medoid(group)]
    assert back["types"].astype(str).tolist() == [NAMED.get(str(label), str(label)) for label in medoid]
    assert adjusted_rand(medoid, back["bulk"].astype(str)) > 0.4
