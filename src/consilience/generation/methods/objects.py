"""K-means on a random share of the objects, `object_share` of them; the others have no label (Strehl and Ghosh 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from consilience import _kernels
from consilience._check import check_share
from consilience._run.random import child_seed
from consilience._types import Ints
from consilience.generation.methods.method import Method, Options

if TYPE_CHECKING:
    from consilience.generation.clustering_spec import Spec
    from consilience.generation.plan import Plan


class Objects(Method):
    """k-means on a random share of the objects."""

    options: ClassVar[Options] = {"object_share": (0.8, check_share)}

    def objects(self, spec: Spec, n_objects: int, plan: Plan) -> Ints:
        """A subsample without replacement, with as many objects as clusters at least."""
        seed, unit = spec.origin
        size = max(spec.n_clusters, round(plan.options["object_share"] * n_objects))
        return np.sort(_kernels.random_permutation(child_seed(seed, "generation.objects"), unit, n_objects)[:size])
