"""Ten clusterings of documents disagree; the agreement process (CAP) makes them agree, and more right."""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import consilience as cs


def planted(n_documents=400, n_words=600, n_topics=8, length=60, share=0.17):
    """Documents whose words come from their topic one time in six, and else from a common vocabulary."""
    rng = np.random.default_rng(0)
    common = rng.permutation(1 / np.arange(1, n_words + 1))
    topics = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    topic = rng.integers(n_topics, size=n_documents)
    mixed = share * topics[topic] + (1 - share) * common / common.sum()
    return sparse.csr_array(np.array([rng.multinomial(length, row) for row in mixed])), topic


if len(sys.argv) > 1:  # a file of your own: the parts of a sparse matrix, documents × words, and y, what they are about
    with np.load(sys.argv[1]) as file:
        counts = sparse.csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        topic = file["y"]
else:
    counts, topic = planted()

found = cs.agree(counts, len(np.unique(topic)))  # ten clusterings of documents and of words, then four iterations
print(found)
steps = found.stability_by_iteration(topic)
shown = steps[["iteration", "rows", "columns", "accuracy"]].rename(columns={"accuracy": "purity"})
print(shown.round(3).to_string(index=False))

figure, axes = plt.subplots(1, 3, figsize=(13, 4), width_ratios=[1, 1.2, 1.2], layout="constrained")
for ax, ensemble, name in zip(axes, (found.before.rows, found.after.rows), ("before", "after"), strict=False):
    alike = cs.pairwise(ensemble, "jaccard")
    image = ax.imshow(alike, cmap="viridis", vmin=0.5, vmax=1)
    ax.set(xticks=range(10), yticks=range(10), xlabel="clustering", ylabel="clustering")
    ax.set_title(f"Ten clusterings of the documents, {name}", loc="left", fontsize=11)
figure.colorbar(image, ax=axes[1], label="Jaccard index of two clusterings")
ax = axes[2]
for name, color, marker, words in (
    ("accuracy", "#0072B2", "o", "documents right"),
    ("rows", "#E69F00", "s", "Jaccard, documents"),
    ("columns", "#009E73", "^", "Jaccard, words"),
):
    ax.errorbar(steps["iteration"], steps[name], steps[f"{name}_sem"], color=color, marker=marker, label=words)
ax.set(xlabel="iteration of the agreement process", xticks=steps["iteration"], ylim=(0, 1.02))
ax.set_title("What agreement brings", loc="left", fontsize=11)
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("documents.png", dpi=90)
