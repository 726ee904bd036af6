"""Times of cases that grow, the constants of a stated cost formula fitted to them, and a picture of both."""

import numpy as np
from scipy.optimize import nnls


def measure_sweeps(sweeps, measure):
    """One list of cases for each sweep, measured by `measure(case)`, and all by case; one that two sweeps share is
    measured once."""
    known = {}
    for sweep, cases in sweeps.items():
        for case in cases:
            if case not in known:
                known[case] = measure(case)
                print(f"  {sweep}: {known[case]}", flush=True)
    return {sweep: [known[case] for case in cases] for sweep, cases in sweeps.items()}, known


def fit_constants(terms, seconds):
    """Nonnegative constants that minimise the squares of measured / formula - 1, roughly.

    Each case is divided by its measured time, so that a case of a millisecond counts as much
    as one of a second; columns are scaled to size 1 for the solver's sake.
    """
    relative = terms / seconds[:, None]
    scale = np.linalg.norm(relative, axis=0)
    constants, _ = nnls(relative / scale, np.ones(len(seconds)))
    return constants / scale


def add_formula(cases, terms, names, measured="seconds", formula="formula_seconds"):
    """Fit the constants to all cases, whose terms (n_cases, n_terms) have these names, and write the formula's seconds,
    the ratio and each term's share into each; ``measured`` and ``formula`` are keys of seconds. Constants by name."""
    constants = fit_constants(terms, np.array([case[measured] for case in cases]))
    for case, row in zip(cases, terms, strict=True):
        case[formula] = float(row @ constants)
        case["ratio"] = case[measured] / case[formula]
        case["shares"] = dict(zip(names, (row * constants / (row @ constants)).tolist(), strict=True))
    return dict(zip(names, constants.tolist(), strict=True))


def plot_sweeps(sweeps, words, formula, measured, path):
    """Measured times and the formula's on log axes, one panel for each sweep.

    ``words`` say a case's quantities in its panel's title, by format strings; ``formula`` is the key of the formula's
    seconds in a case, and ``measured`` names the lines of measured ones by their keys.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(sweeps), figsize=(3 * len(sweeps), 3.4), sharey=True, layout="constrained")
    for panel, (sweep, cases) in zip(axes, sweeps.items(), strict=True):
        x = [case[sweep] for case in cases]
        panel.loglog(x, [case[formula] for case in cases], "-", color="0.55", linewidth=4, alpha=0.6,
                     label="cost formula")
        for place, (key, label) in enumerate(measured.items()):
            panel.loglog(x, [case[key] for case in cases], ("o-", "s:")[place], color=f"C{place}", label=label)
        fixed = [text.format(**cases[0]) for quantity, text in words.items() if quantity != sweep]
        panel.set_title(", ".join(fixed), fontsize=8)
        panel.set_xlabel(sweep)
        panel.grid(True, which="both", alpha=0.2)
        panel.set_xticks(x, [f"{value:,}" for value in x], fontsize=7, rotation=30)
        panel.set_xticks([], minor=True)
    axes[0].set_ylabel("seconds")
    axes[0].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"picture written to {path}")
