"""700 blood cells, fifty Leiden runs: which clusters would other runs find again?"""

import matplotlib.pyplot as plt
import numpy as np
import scanpy as sc

import consilience.anndata as ca
from consilience.reports.figures import PALETTE

adata = sc.datasets.pbmc68k_reduced()  # comes with scanpy: components, neighbors and UMAP are there
ca.generate(adata, 50)  # 50 Leiden runs over resolutions
print(ca.combine(adata))  # one clustering, written to adata.obs

types = adata.obs["bulk_labels"].astype(str)  # known from sorted cells; used to name the clusters alone
table = adata.uns["consensus"]["clusters"]
labels = adata.obs["consensus"].astype(int).to_numpy()
names = [types[labels == c].mode()[0] for c in table["cluster"]]
print("\nmostly:", "; ".join(f"{c} {name}" for c, name in zip(table["cluster"], names)))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=[1, 1.18, 0.9], layout="constrained")
x, y = adata.obsm["X_umap"].T
left.scatter(x, y, s=14, c=np.array(PALETTE)[labels])
left.set_title("Consensus of 50 Leiden runs", loc="left")
dots = middle.scatter(x, y, s=14, c=adata.obs["consensus_support"], cmap="viridis", vmin=0, vmax=1)
middle.set_title("Share of the runs that agree (support)", loc="left")
figure.colorbar(dots, ax=middle)
for ax in (left, middle):
    for c in range(len(names)):
        halo = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        ax.text(np.median(x[labels == c]), np.median(y[labels == c]), c, weight="bold", ha="center", bbox=halo)
    ax.set(xticks=[], yticks=[], xlabel="UMAP 1", ylabel="UMAP 2")
right.barh(range(len(names)), table["support"], color=PALETTE[: len(names)])
right.set_yticks(range(len(names)), [f"{c}: {name}" for c, name in enumerate(names)])
right.axvline(0.5, color="black", linewidth=1, linestyle=":")
right.invert_yaxis()
right.set(xlim=(0, 1), xlabel="mean support")
right.set_title("Which clusters to rely on", loc="left")
figure.savefig("cells.png", dpi=90)
