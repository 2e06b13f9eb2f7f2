"""x log x of whole numbers, to more digits than a double has."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray


def phi(x: int) -> Decimal:
    return x * Decimal(x).ln() if x else Decimal(0)


def xlogx(x: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """φ(x) = x log x, 0 at 0, and φ(x + 1) − φ(x)."""
    numbers = [int(v) for v in x]
    with localcontext() as context:
        context.prec = 60
        value = [float(phi(v)) for v in numbers]
        rise = [float(phi(v + 1) - phi(v)) for v in numbers]
    return np.array(value), np.array(rise)
