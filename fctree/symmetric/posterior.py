"""Knowledge uncertainty by sampling the posterior of a Gaussian process (KGB).

A sample [1]_ is a draw h from the prior, a sum of random symmetric trees with Gaussian
leaves, plus a model boosted on what h and noise leave of the targets,
``y - sigma h(X) + N(0, delta^2)``, with gumbel noise and shrinkage ``lambda = delta^2 / sigma^2``.
With small steps and many trees ``sigma h + f`` is distributed as the posterior of a Gaussian
process whose kernel is that of the trees. Targets are standardised for it.

References
----------
.. [1] Ustimenko, Beliakov and Prokhorenkova, "Gradient boosting performs Gaussian process
   inference", ICLR 2023, algorithms 3 and 4.
"""

from dataclasses import replace

import numpy as np

from fctree._native import symmetric as _native
from fctree._threads import count_threads
from fctree._training.samples import Samples
from fctree._validation import check_boosting_features
from fctree.symmetric.structures import draw_structures, leaf_weights
from fctree.symmetric.trees import SymmetricTrees

PRIOR_TREES = 100  # T0
PRIOR_STD = 0.1  # sigma, in standard deviations of the targets
NOISE_STD = 0.01  # delta, in the same unit


def _draw_prior(model, train, rng, n_threads):
    """Trees of a draw h from the prior: leaves N(0, n / max(n_j, 1)) over sqrt(T0)."""
    n_outputs = model.n_outputs_
    trees = draw_structures(model.bin_thresholds_, PRIOR_TREES, model.max_depth, rng)
    counts = leaf_weights(trees, train.X, train.weight, n_threads)
    total = len(train.X) if train.weight is None else train.weight.sum()
    deviation = np.sqrt(total / np.maximum(counts, 1.0) / PRIOR_TREES)
    draws = rng.standard_normal((*deviation.shape, n_outputs))
    return replace(trees, leaf_values=draws * deviation[:, :, np.newaxis])


def boost_shrunk(model, samples, penalty, *, n_rounds, seed):
    """Trees that tend to kernel ridge regression with this penalty [1]_, as steps get small.

    The model is multiplied by ``1 - learning_rate * penalty / n`` before each tree, splits are
    drawn with gumbel noise.

    Parameters
    ----------
    model : SymmetricBoostingRegressor
        Has thresholds; its parameters are used.
    samples : Samples
        With centred targets.
    penalty : float
    n_rounds, seed : int

    Returns
    -------
    trees : SymmetricTrees
        With what is left of their values at the end.
    """
    total = len(samples.X) if samples.weight is None else samples.weight.sum()
    params = {
        **model._native_params(n_rounds),
        "l2_leaf_reg": 0.0,
        "score_noise": _native.ScoreNoise.gumbel.value,
        "score_function": _native.ScoreFunction.l2.value,
        "model_shrink_rate": penalty / total,
        "early_stopping": False,
        "seed": seed,
    }
    arrays, *_ = _native.boost(
        samples.native(None),
        [],
        thresholds=model.bin_thresholds_,
        monotone=None,
        baseline=np.zeros(model.n_outputs_),
        loss=("squared_error", 0.0),
        n_outputs=model.n_outputs_,
        first_iteration=0,
        params=params,
        listener=None,
        n_threads=count_threads(model.n_jobs),
    )
    keep = 1.0 - params["model_shrink_rate"] * model.learning_rate
    left = keep ** np.arange(n_rounds - 1, -1, -1.0)
    arrays["leaf_values"] = arrays["leaf_values"] * left[:, np.newaxis, np.newaxis]
    return SymmetricTrees(**arrays)


def sample_posterior(model, train):
    """Draw ``model.posterior_samples`` samples for a fitted model, of as many rounds as it has.

    Sets ``posterior_trees_``, a list of SymmetricTrees in units of the targets, to be added to
    ``model.baseline_``.
    """
    n_threads = count_threads(model.n_jobs)
    weight = train.weight
    penalty = (NOISE_STD / PRIOR_STD) ** 2
    centred = train.y.T - model.baseline_
    scale = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    # Rounding of the baseline is no deviation of a constant target.
    scale[train.y.min(axis=1) == train.y.max(axis=1)] = 0.0
    unit = np.where(scale > 0.0, scale, 1.0)
    model.posterior_trees_ = []
    for index in range(model.posterior_samples):
        rng = np.random.default_rng([model._random_seed, index])
        prior = _draw_prior(model, train, rng, n_threads)
        prior = replace(prior, leaf_values=prior.leaf_values * PRIOR_STD)
        drawn = np.zeros(centred.shape)  # not in the order of centred, which is a transpose
        prior.add_to(train.X, drawn, n_threads=n_threads)
        targets = centred / unit - drawn + NOISE_STD * rng.standard_normal(centred.shape)
        samples = Samples(train.X, np.ascontiguousarray(targets.T), weight, None)
        trees = boost_shrunk(
            model, samples, penalty, n_rounds=max(model.n_iter_, 1), seed=int(rng.integers(2**63 - 1))
        )
        sample = SymmetricTrees.concatenate([prior, trees])
        model.posterior_trees_.append(replace(sample, leaf_values=sample.leaf_values * scale))


def posterior_std(model, X):
    """The standard deviation over the posterior samples, (n_samples, n_outputs)."""
    X = check_boosting_features(model, X)
    n_threads = count_threads(model.n_jobs)
    scores = np.zeros((len(model.posterior_trees_), len(X), model.n_outputs_))
    for trees, out in zip(model.posterior_trees_, scores, strict=True):
        trees.add_to(X, out, n_threads=n_threads)
    return scores.std(axis=0, ddof=1)
