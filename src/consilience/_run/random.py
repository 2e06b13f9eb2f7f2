"""Random streams: the only maker of generators."""

# A stream belongs to a seed, a purpose ("package.what is drawn") and a unit (a clustering, a chain, a restart). No two files share a
# purpose, so that what one part draws never depends on, or repeats, what another draws; and any unit's numbers can be drawn again alone.
# A test reads all purposes off the code.

import hashlib
from functools import lru_cache

import numpy as np


def _sequence(seed: int, purpose: str, unit: tuple[int, ...]) -> np.random.SeedSequence:
    digest = hashlib.sha256(purpose.encode()).digest()
    key = int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")
    return np.random.SeedSequence(seed, spawn_key=(*key, *unit))


def stream(seed: int, purpose: str, *unit: int) -> np.random.Generator:
    return np.random.default_rng(_sequence(seed, purpose, unit))


@lru_cache(maxsize=1024)
def child_seed(seed: int, purpose: str, *unit: int) -> int:
    """A 63-bit seed for what makes its own streams: a kernel, an estimator inside another."""
    return int(_sequence(seed, purpose, unit).generate_state(1, np.uint64)[0] >> np.uint64(1))


def fresh_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
