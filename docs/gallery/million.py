"""A million points in shapes that k-means cannot see: twenty rough runs, combined in seconds."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import consilience as cs
from consilience.reports.figures import PALETTE

rng = np.random.default_rng(0)
turn = rng.uniform(0, 2 * np.pi, 300_000)
ring = rng.normal(3, 0.18, (300_000, 1)) * np.column_stack([np.cos(turn), np.sin(turn)])
moons, moon = make_moons(300_000, noise=0.06, random_state=0)
X = np.vstack(
    [ring, rng.normal(0, 0.5, (200_000, 2)), 2 * moons + [6.4, -0.9], rng.normal([7.4, 3], 0.35, (200_000, 2))]
)
known = np.concatenate([np.repeat([0, 1], [300_000, 200_000]), 2 + moon, np.repeat(4, 200_000)])

runs = []
for seed in range(20):  # each run learns from 5,000 points of its own, and labels all
    some = rng.choice(len(X), 5_000, replace=False)
    runs.append(KMeans(int(rng.integers(30, 61)), n_init=1, random_state=seed).fit(X[some]).predict(X))
ens = cs.Ensemble(runs)
one = cs.combine(ens, 5)
print(one)
print(
    f"{len(ens.signatures().counts):,} distinct rows of labels; accuracy {cs.measures.matched_accuracy(known, one.labels):.4f}"
)


def paint(ax, labels, title):
    """The points of every pixel in the color of most of them, the denser the stronger."""
    size = (420, 260)
    box = [[-3.8, 11.2], [-4.2, 4.6]]
    layers = np.stack([np.histogram2d(*X[labels == c].T, size, box)[0] for c in range(labels.max() + 1)])
    colors = np.array([to_rgb(PALETTE[c % len(PALETTE)]) for c in range(len(layers))])
    strength = (np.log1p(layers.sum(axis=0)) / np.log1p(layers.sum(axis=0)).max())[..., None] ** 0.4
    image = 1 - strength * (1 - colors[layers.argmax(axis=0)])
    ax.imshow(image.transpose(1, 0, 2), origin="lower", extent=[*box[0], *box[1]], aspect="equal")
    ax.axis("off")
    ax.set_title(title, loc="left")


figure, axes = plt.subplots(1, 2, figsize=(13, 4.3), layout="constrained")
paint(axes[0], runs[0], f"One of 20 rough runs of k-means: {runs[0].max() + 1} clusters")
paint(axes[1], one.labels, "Their consensus: five clusters of 1,000,000 points")
figure.savefig("million.png", dpi=90)
