"""600 customers with columns of every kind: the ways to group them, in the explorer."""

from screen import picture

import consilience as cs
from consilience.datasets import customers

frame, segment = customers(600)  # numbers, categories, dates, free text, empty cells; four planted segments
ens = cs.generate(frame, 200, n_clusters=(2, 8), id_column="customer_id")
groups = cs.organize(ens)
print(ens)
print(groups)
for g, medoid in zip(
    groups.numbers, groups.medoids
):  # the medoid: the clustering that is most like the others of its group
    labels = ens.labels[:, medoid]
    right = cs.measures.adjusted_rand(segment, labels)
    print(f"group {g}: {labels.max() + 1} clusters, adjusted Rand index {right:.2f} with the planted segments")

with cs.explore(
    ens,
    data=frame,
    known={"segment": segment},
    id_column="customer_id",
    browser=False,  # leave these two out to look around yourself
    block=False,
) as page:
    picture(page.url, "customers.png")
