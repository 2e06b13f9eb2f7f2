"""Three hospitals share labels of their own patients, nothing else: one clustering of all patients."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from sklearn.cluster import KMeans

import consilience as cs
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.reports.figures import PALETTE

X, known = gaussians_8d5k(600, cluster_std=0.16, random_state=0)  # five types of patients, which nobody is told
rng = np.random.default_rng(1)
seen = rng.random((len(X), 3)) < 0.4  # each site has seen two patients in five
seen[~seen.any(axis=1), 0] = True
sites = {}
for j, site in enumerate(["north", "south", "west"]):
    rows = np.flatnonzero(seen[:, j])
    measures = rng.choice(8, 5, replace=False)  # and takes five of eight measures
    labels = KMeans(5, n_init=5, random_state=j).fit_predict(X[rows][:, measures])
    sites[site] = pd.Series(labels, index=rows).map("ABCDE".__getitem__)  # A of one site is not A of another
frame = pd.DataFrame(sites).reindex(range(len(X)))  # joined by patient, NaN where a site has not seen one
one = cs.combine(frame, 5)
print(f"{frame.isna().to_numpy().mean():.0%} of the labels are missing")
print(one)
usual = pd.Series(known).groupby(one.labels).agg(lambda types: types.mode()[0])
right = usual[one.labels].to_numpy() == known
times = pd.Series(seen.sum(axis=1), name="seen by")
told = pd.DataFrame({"patients": 1, "right": right, "confidence": one.confidence}).groupby(times)
table = told.agg({"patients": "sum", "right": "mean", "confidence": "mean"})
print(table.round(2))

order = np.lexsort([-one.confidence, one.labels])
columns = [frame[site].map("ABCDE".find, na_action="ignore").fillna(5).astype(int) for site in sites]
figure, (left, middle) = plt.subplots(1, 2, figsize=(11, 5), width_ratios=[1.25, 1], layout="constrained")
codes = np.column_stack([*columns, np.full(len(X), 6), usual[one.labels], known])[order]  # in the colors of the types
left.imshow(codes, aspect="auto", cmap=ListedColormap([*PALETTE[:5], "#e3e6ea", "white"]), interpolation="nearest")
left.set_xticks([0, 1, 2, 4, 5], ["north", "south", "west", "consensus", "true type"])
left.set_yticks([])
left.set_ylabel("600 patients, by consensus")
left.set_title("Each site has its own names, gray: not seen", loc="left")
left.spines[:].set_visible(False)
place = np.arange(3)
for shift, name, color in ((-0.2, "right", PALETTE[0]), (0.2, "confidence", PALETTE[1])):
    bars = middle.bar(place + shift, table[name], 0.38, color=color)
    middle.bar_label(bars, fmt="%.2f", padding=2)
    bars.set_label({"right": "in the right cluster", "confidence": "mean confidence"}[name])
middle.set_xticks(place, [f"{t} site{'s'[: t > 1]}\n{n} patients" for t, n in table["patients"].items()])
middle.set(ylim=(0, 1.25), xlabel="seen by")
middle.set_title("Patients seen by more sites are surer", loc="left")
middle.legend(frameon=False, ncols=2, loc="upper center")
middle.spines[["top", "right"]].set_visible(False)
figure.savefig("sites.png", dpi=90)
