"""1,797 handwritten digits in the explorer, each with its picture."""

from screen import picture
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

import consilience as cs

digits = load_digits()
pixels = digits.data[:, digits.data.std(axis=0) > 0]  # three are always white
ens = cs.generate(pixels, 100, n_clusters=(8, 16), methods="minima", standardize=False)
one = cs.combine(ens, 10)
print(ens)
print(one)
right = cs.measures.matched_accuracy(digits.target, one.labels)
print(f"{right:.0%} of the digits are in the cluster of their kind")

plane = TSNE(random_state=0).fit_transform(digits.data)
with cs.explore(
    ens,
    data=pixels,
    images=digits.images,
    known={"digit": digits.target},
    axes=plane,
    browser=False,  # leave these two out to look around yourself
    block=False,
) as page:
    picture(page.url, "digits.png", panel="section:has(.cluster-looks).whole")
