"""Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), word by word, and draws from it.

Random numbers in the core are functions of what they are for, so a twin that knows the seed
draws the same ones: which rows and features a tree may use, and each candidate's noise.
"""

import math

ROW_SAMPLE, FEATURE_SAMPLE, CANDIDATE_NOISE, SEARCHED_ROWS = 1, 2, 3, 12
MASK = 2**32 - 1


def philox(counter, key):
    """Four words of 32 bits for a counter of four and a key of two."""
    (a, b, c, d), (k, m) = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (second >> 32) ^ b ^ k, second & MASK, (first >> 32) ^ d ^ m, first & MASK
        k, m = (k + 0x9E3779B9) & MASK, (m + 0xBB67AE85) & MASK
    return a, b, c, d


class LiteralRandom:
    """The draws of one seed for one purpose."""

    def __init__(self, seed, purpose):
        self.key = (seed & MASK, seed >> 32)
        self.purpose = purpose

    def words(self, a, b, c):
        return philox((a, b, c, self.purpose), self.key)

    @staticmethod
    def _unit(high, low):
        return (((high << 32 | low) >> 12) + 0.5) * 2.0**-52

    def uniform(self, a, b, c):
        w = self.words(a, b, c)
        return self._unit(w[0], w[1])

    def normal(self, a, b, c):
        w = self.words(a, b, c)
        radius = math.sqrt(-2 * math.log(self._unit(w[0], w[1])))
        return radius * math.cos(2 * math.pi * self._unit(w[2], w[3]))

    def gumbel(self, a, b, c):
        return -math.log(-math.log(self.uniform(a, b, c)))
