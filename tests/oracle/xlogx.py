"""x log x of whole numbers, to more digits than a double has."""

from decimal import Decimal, localcontext

import numpy as np


def phi(x):
    return x * Decimal(x).ln() if x else Decimal(0)


def xlogx(x):
    """φ(x) = x log x, 0 at 0, and φ(x + 1) − φ(x)."""
    numbers = [int(v) for v in x]
    with localcontext() as context:
        context.prec = 60
        value = [float(phi(v)) for v in numbers]
        rise = [float(phi(v + 1) - phi(v)) for v in numbers]
    return np.array(value), np.array(rise)
