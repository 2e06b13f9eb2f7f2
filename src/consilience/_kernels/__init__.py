"""Typed wrappers of the native kernels: contiguous arrays of the right type in, new arrays out.

Each function has a plain NumPy twin of the same name in `tests/oracle`, which is its definition. Kernels release
the GIL and take an explicit number of threads.
"""

from consilience._kernels.labels import *  # noqa: F403
from consilience._kernels.numbers import *  # noqa: F403
from consilience._kernels.pairs import *  # noqa: F403
from consilience._kernels.search import *  # noqa: F403
