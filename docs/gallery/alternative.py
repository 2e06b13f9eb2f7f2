"""The beads are known by their shape. What else is there? `contrast` finds a grouping that is new: the colors."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse, FancyBboxPatch

import consilience as cs
from consilience.datasets import load_beads

beads = load_beads()  # 300 glass beads, eight measures; labels shape and color
shape, color = beads.labels["shape"].to_numpy(), beads.labels["color"].to_numpy()
found = cs.contrast(beads, shape, 4)  # it is told the shapes, and never sees the colors' names
print(found)
print(f"accuracy with the colors {cs.measures.matched_accuracy(color, found.labels):.2f}")

look = {"ball": (0.8, 0.8), "disc": (0.95, 0.4), "tube": (0.35, 1.0)}  # width and height of a drawn bead
paint = {"amber": "#E69F00", "blue": "#0072B2", "green": "#009E73", "red": "#B2182B"}


def tray(ax, members, title):
    """Draw beads as they look, sixteen in a row."""
    for at, i in enumerate(members[:64]):
        spot, (wide, high) = (at % 16, -(at // 16) * 1.15), look[shape[i]]
        ax.add_patch(Ellipse(spot, wide, high, facecolor=paint[color[i]], edgecolor="black", linewidth=0.4))
    ax.add_patch(FancyBboxPatch((-0.3, -3.75), 15.6, 4.05, boxstyle="round,pad=0.6", fill=False, edgecolor="gray"))
    ax.set(xlim=(-1.2, 16.2), ylim=(-4.7, 1.3), aspect="equal")
    ax.set_title(title, loc="left", fontsize=10)
    ax.axis("off")


figure = plt.figure(figsize=(10.5, 6.4), layout="constrained")
left, right = figure.subfigures(1, 2)
left.suptitle("Known: three shapes", weight="bold")
right.suptitle("Found: four clusters that are new to the shapes", weight="bold")
rng = np.random.default_rng(0)
for ax, name in zip(left.subplots(4, 1), ["ball", "disc", "tube", None]):
    if name is None:
        ax.axis("off")
        continue
    members = rng.permutation(np.flatnonzero(shape == name))
    tray(ax, members, f"{name}s: 64 of {len(members)}")
for ax, c in zip(right.subplots(4, 1), range(4)):
    members = rng.permutation(np.flatnonzero(found.labels == c))
    most = max(paint, key=lambda name: np.mean(color[members] == name))
    share = np.mean(color[members] == most)
    tray(ax, members, f"cluster {c}: {min(64, len(members))} of {len(members)}, {share:.0%} {most}")
figure.savefig("alternative.png", dpi=90)
