"""The papers' formulas as they are printed: the plain twin of the kernels' fast loops.

T, Td and R_d of Kanoh and Sugiyama 2022 (equations 7 to 9) and 2023 (theorems 2 and 3), the
rectifier's kernel layer by layer (Arora et al. 2019), and one value with 50 digits.
"""

import mpmath
import numpy as np


def parts(X, Y, scale):
    """S, T, Td, each (n_x, n_y)."""
    a2 = scale**2
    S = X @ Y.T
    xx, yy = np.sum(X * X, axis=1)[:, None], np.sum(Y * Y, axis=1)[None, :]
    cosine = a2 * S / np.sqrt((a2 * xx + 0.5) * (a2 * yy + 0.5))
    T = np.arcsin(np.clip(cosine, -1, 1)) / (2 * np.pi) + 0.25
    Td = a2 / np.pi / np.sqrt((1 + 2 * a2 * xx) * (1 + 2 * a2 * yy) - 4 * a2**2 * S**2)
    return S, T, Td


def rule(X, Y, scale, depth):
    S, T, Td = parts(X, Y, scale)
    return depth * S * T ** (depth - 1) * Td + T**depth


def counts_of(architecture, depth):
    """{depth: leaves} of the named architectures."""
    if architecture in ("perfect", "oblivious"):
        return {depth: 2**depth}
    if architecture == "rule_set":
        return {depth: 1}
    return {**{d: 1 for d in range(1, depth)}, depth: 2}


def tree(X, Y, scale, counts):
    """Theorem 3: the sum of the rules' kernels over the leaves."""
    return sum(n * (rule(X, Y, scale, d) if d else 1.0) for d, n in counts.items())


def endless_list(X, Y, scale):
    """Proposition 2."""
    S, T, Td = parts(X, Y, scale)
    return S * Td / (1 - T) ** 2 + T / (1 - T)


def relu(X, Y, depth):
    S = X @ Y.T
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)[None, :]
    theta, sigma = S.copy(), S.copy()
    for _ in range(depth - 1):
        with np.errstate(invalid="ignore"):
            c = np.where(lengths > 0, np.clip(sigma / lengths, -1, 1), 0.0)
        slope = (np.pi - np.arccos(c)) / np.pi
        sigma = lengths * (c * (np.pi - np.arccos(c)) + np.sqrt(1 - c**2)) / np.pi
        theta = theta * slope + sigma
    return theta


def exact_tree(x, y, scale, counts):
    """One value with 50 digits, from the exact numbers in x and y."""
    with mpmath.workdps(50):
        x, y = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in y]
        a2 = mpmath.mpf(float(scale)) ** 2
        S, xx, yy = mpmath.fdot(x, y), mpmath.fdot(x, x), mpmath.fdot(y, y)
        half = mpmath.mpf(1) / 2
        T = mpmath.asin(a2 * S / mpmath.sqrt((a2 * xx + half) * (a2 * yy + half)))
        T = T / (2 * mpmath.pi) + half / 2
        root = mpmath.sqrt((1 + 2 * a2 * xx) * (1 + 2 * a2 * yy) - 4 * a2**2 * S**2)
        Td = a2 / mpmath.pi / root
        return sum(n * (d * S * T ** (d - 1) * Td + T**d) for d, n in counts.items())


def exact_relu(x, y, depth):
    with mpmath.workdps(50):
        x, y = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in y]
        lengths = mpmath.sqrt(mpmath.fdot(x, x) * mpmath.fdot(y, y))
        c = mpmath.fdot(x, y) / lengths
        c = max(min(c, mpmath.mpf(1)), mpmath.mpf(-1))
        theta = c
        for _ in range(depth - 1):
            arc = mpmath.pi - mpmath.acos(c)
            after = (c * arc + mpmath.sqrt(1 - c**2)) / mpmath.pi
            theta = theta * arc / mpmath.pi + after
            c = min(after, mpmath.mpf(1))
        return theta * lengths
