"""Subsets of players, and Shapley values as linear functions of the subsets' scores.

All subsets: phi_j = sum over U without j of (v(U + j) - v(U)) / (p C(p - 1, |U|)).

Drawn ones: Shapley values are the weighted least squares fit of v(U) by v(empty) + sum_{j in U}
phi_j under sum phi = v(full) - v(empty), a subset's weight being 1 / C(p - 2, |U| - 1)
(Williamson and Feng, 2020, theorem 1; Charnes et al., 1988). Drawing subsets with probabilities
proportional to these weights, that is sizes proportional to 1 / (s (p - s)) and a uniform subset
of the size, makes it an ordinary fit. Each draw comes with its complement, which leaves little
error for nearly additive scores.
"""

from math import comb

import numpy as np

from fctree._training.target_units import square_unit

_LEAST_LEFT = 1e-9  # 1 - leverage, below which it is rounding


class AllSubsets:
    """Every subset of `n_players`, numbered by its bits.

    ``kept`` (n_subsets, n_players) bool has the players of each; the empty one first, the full one last.
    """

    exact = True

    def __init__(self, n_players):
        numbers = np.arange(2**n_players)
        self.kept = (numbers[:, None] >> np.arange(n_players)) & 1 == 1
        sizes = self.kept.sum(axis=1)
        share = np.array([1.0 / (n_players * comb(n_players - 1, s)) for s in range(n_players)])
        with_player = share[np.maximum(sizes - 1, 0)]
        without = share[np.minimum(sizes, n_players - 1)]
        self.weights = np.where(self.kept.T, with_player, -without)

    def sampling_error(self, scores):
        """Standard errors of the values for the draw of the subsets: none."""
        return np.zeros(self.kept.shape[1])


class DrawnSubsets:
    """Subsets drawn with their complements, equal ones kept once, the empty and the full one.

    Of ``n_draws`` subsets half are complements of the others. ValueError for too few to identify all
    values.
    """

    exact = False

    def __init__(self, n_players, n_draws, rng):
        sizes = np.arange(1, n_players)
        chances = 1.0 / (sizes * (n_players - sizes))
        n_pairs = (n_draws + 1) // 2
        drawn = rng.choice(sizes, size=n_pairs, p=chances / chances.sum())
        # The first s players in a random order are a uniform subset of s.
        order = rng.permuted(np.tile(np.arange(n_players), (n_pairs, 1)), axis=1)
        half = order < drawn[:, None]
        draws = np.stack([half, ~half], axis=1).reshape(2 * n_pairs, n_players)
        inner, inverse, counts = np.unique(draws, axis=0, return_inverse=True, return_counts=True)
        self._pairs = inverse.reshape(n_pairs, 2)
        ends = np.zeros((1, n_players), dtype=bool)
        self.kept = np.concatenate([ends, inner, ~ends])
        self._solve(inner, counts / counts.sum(), n_draws)

    def _solve(self, inner, shares, n_draws):
        """phi = weights @ scores: the constrained fit, by a basis of sum phi = 0."""
        n_players = inner.shape[1]
        basis = np.linalg.qr(
            np.column_stack([np.ones(n_players), np.eye(n_players)[:, 1:]])
        )[0][:, 1:]
        self._design = inner @ basis
        moments = self._design.T @ (shares[:, None] * self._design)
        if np.linalg.matrix_rank(moments) < n_players - 1:
            raise ValueError(
                f"n_subsets={n_draws} subsets do not tell {n_players} groups apart: {4 * n_players} nearly always do"
            )
        inverse = np.linalg.inv(moments)
        self._solved = basis @ inverse
        # A complement's row of the design is its partner's with the other sign: one leverage a pair.
        self._leverage = np.einsum("ij,ij->i", self._design @ inverse, self._design) / len(self._pairs)
        fit = self._solved @ (shares[:, None] * self._design).T
        equal = np.full(n_players, 1.0 / n_players)
        size = inner.sum(axis=1) / n_players
        of_full = equal - fit @ size
        of_empty = -equal - fit @ (1.0 - size)
        self.weights = np.column_stack([of_empty, fit, of_full])

    def sampling_error(self, scores):
        """Standard errors of the values for the draw of the subsets, from the residuals of each pair in the fit without it;
        infinite where a pair alone tells some values apart."""
        left = 1.0 - self._leverage[self._pairs[:, :1]]
        if left.min() < _LEAST_LEFT:
            return np.full(self.kept.shape[1], np.inf)
        values = self.weights @ scores
        residuals = scores[1:-1] - scores[0] - self.kept[1:-1] @ values
        parts = residuals[:, None] * (self._design @ self._solved.T)
        of_pairs = parts[self._pairs].mean(axis=1) / left
        unit = square_unit(of_pairs)
        return unit * np.sqrt(((of_pairs / unit) ** 2).mean(axis=0) / len(of_pairs))
