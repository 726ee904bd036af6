"""The screening of axes against its formula (native/oblique/split_search/screening.hpp), also of so many outputs and
rows that their terms are added a part at a time."""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor

N_BINS = 32


def promises(X, Y, weight, alpha):
    """Promises of the root, (n_features,); its directions are those of the ridge models."""
    mean, total = weight @ X / weight.sum(), weight.sum()
    Z, R = X - mean, Y - weight @ Y / total
    coef = np.linalg.solve((Z.T * weight) @ Z + alpha * np.eye(X.shape[1]), (Z.T * weight) @ R)
    residuals = (R - Z @ coef) * weight[:, np.newaxis]
    scores = Z @ coef
    shared = np.column_stack([np.ones(len(X)), scores / np.sqrt(weight @ scores**2 / total)])
    found = []
    for z, x in zip(Z.T, X.T, strict=True):
        columns = np.column_stack([shared, z / np.sqrt(weight @ z**2 / total)])
        terms = (columns[:, :, np.newaxis] * residuals[:, np.newaxis]).reshape(len(X), -1)
        bins = np.minimum((x - x.min()) / (x.max() - x.min()) * N_BINS, N_BINS - 1).astype(int)
        left = np.cumsum([terms[bins == b].sum(axis=0) for b in range(N_BINS - 1)], axis=0)
        share = np.cumsum([weight[bins == b].sum() for b in range(N_BINS - 1)]) / total
        inside = (share > 0.0) & (share < 1.0)
        left, share = left[inside], share[inside]
        right = terms.sum(axis=0) - left
        found.append(((left**2).sum(axis=1) / share + (right**2).sum(axis=1) / (1.0 - share)).max())
    return np.array(found)


@pytest.mark.parametrize(("n", "n_outputs"), [(150, 1), (150, 4), (700, 40), (1300, 17)])
def test_the_most_promising_axis_is_tried(n, n_outputs):
    chosen = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, weight = rng.normal(size=(n, 5)), rng.uniform(0.5, 1.5, size=n)
        Y = np.maximum(X @ rng.normal(size=(5, n_outputs)), 0.0) + 0.1 * rng.normal(size=(n, n_outputs))
        Y /= Y.std(axis=0)
        tree = CurvatureTreeRegressor(
            max_depth=1, alpha=1.0, n_screened=1, directions="axis", split_margin=0.0, parent_weight=0.0, standardize=False
        ).fit(X, Y, weight).tree_  # fmt: skip
        unit = np.sqrt(weight @ (Y - weight @ Y / weight.sum()) ** 2 / weight.sum()) if n_outputs > 1 else 1.0
        expected = promises(X, Y / unit, weight, 1.0)
        assert tree.node_count == 3
        chosen.append(np.flatnonzero(tree.coef[0]).tolist())
        assert chosen[-1] == [expected.argmax()]
    assert len({axis for (axis,) in chosen}) > 1


@pytest.mark.parametrize("parameters", [{"alpha": "loo"}, {"max_coef": 2}, {"standardize": False}], ids=str)
def test_the_sign_of_a_feature_does_not_matter(parameters):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 25))
        y = X[:, 0] + np.abs(X[:, 1] + X[:, 2]) + 0.3 * rng.normal(size=200)
        signs = rng.choice([-1.0, 1.0], 25)
        model = CurvatureTreeRegressor(min_samples_leaf=8, n_screened=8, **parameters)
        expected = model.fit(X, y).predict(X)
        np.testing.assert_allclose(model.fit(X * signs, y).predict(X * signs), expected, atol=1e-7)
