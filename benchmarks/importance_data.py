"""The designs of the paper on variable importance by warm start and early stopping."""

import numpy as np
from fctree.datasets import make_correlated_linear
from real_data import load_table

HIGH_DIMENSIONAL = np.concatenate([[5.0, 4.0, 3.0, 2.0, 1.0], np.zeros(95)])
RHOS = (0.0, 0.2, 0.5, 0.8, 1.0)


def correlated(rho, seed, n_samples=5000):
    """Section 5.2: six features, the first two with correlation rho. X, y, true importances."""
    return make_correlated_linear(n_samples, rho=rho, random_state=seed, return_importances=True)


def high_dimensional(seed, n_samples=5000):
    """Section 5.3: a hundred features, five that count; the first one's importance is 18.75."""
    return make_correlated_linear(
        n_samples, rho=0.5, coef=HIGH_DIMENSIONAL, random_state=seed, return_importances=True
    )


def logistic(seed, n_samples=5000, n_features=10, rho=0.5):
    """Section 5.5: y = sigmoid(X beta) + noise, beta = 0, 10, .., 90."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    X[:, 1] = rho * X[:, 0] + np.sqrt(1.0 - rho**2) * X[:, 1]
    signal = X @ (10.0 * np.arange(n_features))
    y = 0.5 * (1.0 + np.tanh(0.5 * signal)) + 0.1 * rng.standard_normal(n_samples)
    return X, y


def many_players(seed, n_samples=5000, n_features=20, rho=0.5):
    """Section 5.3's design with fewer features, for Shapley values over sampled subsets. X, y, true Shapley values.

    A subset's value is the variance that its features explain; all but the first two features add theirs to any subset.
    """
    coef = HIGH_DIMENSIONAL[:n_features]
    X, y = make_correlated_linear(n_samples, rho=rho, coef=coef, random_state=seed)
    truth = coef**2
    alone = (coef[:2] + rho * coef[1::-1]) ** 2
    together = truth[:2].sum() + 2.0 * rho * coef[0] * coef[1]
    truth[:2] = (alone + together - alone[::-1]) / 2.0
    return X, y, truth


def gas_turbine(folder, target):
    """Section 5.7: emissions of a gas turbine in 2015, everything standardised. X, y, names."""
    X, y = load_table(folder, f"regression/gas_turbine_2015_{target}")
    names = ["AT", "AP", "AH", "AFDP", "GTEP", "TIT", "TAT", "TEY", "CDP"]
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std(), names
