"""Counter-based random streams: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011), written with whole numbers."""

from itertools import count, islice

import numpy as np

WORD = 2**32


def philox(counter, key):
    """Ten rounds of multiply and mix: four 32-bit words of counter and two of key give four random words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high_a, low_a = divmod(0xD2511F53 * c0, WORD)
        high_b, low_b = divmod(0xCD9E8D57 * c2, WORD)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return c0, c1, c2, c3


def stream(seed, unit):
    """64-bit numbers without end: the key is the seed, the counter (block, unit); a block gives two, low word first."""
    for block in count():
        counter = block % WORD, block // WORD, unit % WORD, unit // WORD
        x = philox(counter, (seed % WORD, seed // WORD))
        yield x[0] + WORD * x[1]
        yield x[2] + WORD * x[3]


def below(bits, n):
    """Unbiased in [0, n): the lowest 2^64 mod n draws are thrown away, so that every remainder is as likely."""
    return next(x for x in bits if x >= 2**64 % n) % n


def random_bits(seed, unit, size):
    return np.array(list(islice(stream(seed, unit), size)), np.uint64)


def uniform(bits):
    """The upper 53 bits, as a fraction."""
    return (next(bits) >> 11) / 2**53


def random_uniform(seed, unit, size):
    bits = stream(seed, unit)
    return np.array([uniform(bits) for _ in range(size)])


def random_below(seed, unit, n, size):
    bits = stream(seed, unit)
    return np.array([below(bits, n) for _ in range(size)], np.uint64)


def shuffled(bits, n):
    """Fisher–Yates, from the last place down."""
    items = list(range(n))
    for last in range(n - 1, 0, -1):
        chosen = below(bits, last + 1)
        items[last], items[chosen] = items[chosen], items[last]
    return items


def random_permutation(seed, unit, n):
    return np.array(shuffled(stream(seed, unit), n), np.int64)
