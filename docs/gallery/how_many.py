"""How many clusters? Three groups of three, and a cloud without any."""

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.reports.figures import PALETTE

rng = np.random.default_rng(1)
turns = 2 * np.pi * np.arange(3) / 3
corners = np.column_stack([np.cos(turns), np.sin(turns)])
middles = (9 * corners[:, None] + 2.4 * corners).reshape(-1, 2)
data = {
    "Three groups of three": np.repeat(middles, 60, axis=0) + rng.normal(0, 0.55, (540, 2)),
    "A cloud": rng.normal(size=(540, 2)),
}
figure, axes = plt.subplots(2, 2, figsize=(11, 7.4), width_ratios=[1, 1.7], layout="constrained")
for (name, X), (left, right) in zip(data.items(), axes):
    ens = cs.generate(X, 40, n_clusters=(2, 25), methods="minima", standardize=False)
    found = cs.combine(ens, "auto")
    real = found.scales.query("real")
    print(f"{name}: {found.note}\n")

    left.scatter(*X.T, s=8, c=np.array(PALETTE)[found.labels] if len(real) else "#7b8794")
    left.set(xticks=[], yticks=[], aspect="equal", title=f"{name}, {len(X)} points")
    k, curve = found.curve["n_clusters"], found.curve
    right.plot(k, curve["stability"], color="black", marker=".", label="two halves of the runs")
    right.axhline(0.95, color="#c4cad1", zorder=0, label="clouds are hardly ever above")
    right.scatter(real["n_clusters"], real["stability"], s=90, color="#D55E00", zorder=3, label="stable beyond doubt")
    for row in real.itertuples():
        spot = (row.n_clusters, row.stability)
        right.annotate(f"{row.n_clusters} clusters", spot, (10, 6), textcoords="offset points", weight="bold")
    answer = "stable at " + " and ".join(map(str, sorted(real["n_clusters"])))
    right.set_title(answer if len(real) else "no number is stable enough to tell", loc="left")
    right.set(xlabel="number of clusters", ylabel="stability (adjusted Rand index)", ylim=(0.3, 1.1), xlim=(1.5, 27.5))
    right.legend(frameon=False, loc="lower right")
    right.spines[["top", "right"]].set_visible(False)
figure.savefig("how_many.png", dpi=90)
