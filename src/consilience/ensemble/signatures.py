"""Objects that no clustering tells apart, collapsed to one row."""

from __future__ import annotations

from dataclasses import dataclass

from consilience import _kernels
from consilience._types import Ints, Labels


@dataclass(frozen=True)
class Signatures:
    """The distinct rows of labels of an ensemble, with their weights.

    Objects with the same row are interchangeable for every method that sees only labels.

    Attributes
    ----------
    labels : (n_signatures, n_clusterings) int32 array
        The distinct rows, in the order of their first object.
    inverse : (n_objects,) int64 array
        The signature of every object: ``labels[inverse]`` is the ensemble's table again.
    counts : (n_signatures,) int64 array
        How many objects have each signature.
    first : (n_signatures,) int64 array
        The first object with each signature.
    """

    labels: Labels
    inverse: Ints
    counts: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        share = 100 * len(self) / max(1, len(self.inverse))
        return f"Signatures: {len(self):,} distinct rows of {len(self.inverse):,} ({share:.3g} %)"


def collapse(labels: Labels) -> Signatures:
    """The distinct rows of a table of labels."""
    first, inverse, counts = _kernels.signatures(labels)
    found = Signatures(labels[first], inverse, counts, first)
    for array in (found.labels, found.inverse, found.counts, found.first):
        array.flags.writeable = False
    return found
