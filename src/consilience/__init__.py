"""Many clusterings of the same data: compare, organise, reconcile, combine and contrast them."""
