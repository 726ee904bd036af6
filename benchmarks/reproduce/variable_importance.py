"""The experiments of the paper on variable importance by warm start and early stopping.

    python benchmarks/reproduce/variable_importance.py --data FOLDER

Sun and Raskutti (2025), sections 5.2 to 5.7, with fctree's models:

  correlated  section 5.2: importance of the first of two correlated features, by three methods
  coverage    section 5.6: how often the 95 % interval has the truth, of 200 data sets
  wide        section 5.3: a hundred features
  shapley     section 5.5: Shapley values of ten features, all 1,024 subsets
  sampled     the same for 20 features, over subsets drawn at random
  turbine     section 5.7: emissions of a gas turbine, importances and Shapley values
  network     section 5.2 with scikit-learn's `MLPRegressor` instead of boosting, ten sets a correlation;
              `wide_network_importance.py` has
              the paper's wide ones

Each result is written when it is there; a second call goes on where the first ended.
"""

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import importance_data as designs
import numpy as np
from fctree import SymmetricBoostingRegressor, TreeNTKRegressor
from fctree.inspection import shapley_importance, variable_importance
from fctree.inspection.boosting import MaskedBoosting
from fctree.inspection.study import Study
from report import RESULTS, print_table, write_json
from sklearn.neural_network import MLPRegressor
from tqdm import tqdm

NAME = "variable_importance"
METHODS = ("early_stopping", "retrain", "dropout")
TARGETS = ("nox", "co")
SAMPLED = (("early_stopping", 128), ("early_stopping", 512), ("early_stopping", 2048), ("retrain", 512),
           ("dropout", 512))
NETWORKS = (("network", METHODS), ("network_reduced_only", METHODS[:1]))
COVERAGE = (
    ("boosting", "early_stopping", designs.RHOS, 200),
    ("splitting", "early_stopping", designs.RHOS, 200),
    ("reduced_only", "early_stopping", designs.RHOS, 40),
    ("kernel_reduced_only", "early_stopping", (0.0, 0.2, 0.5), 10),
    ("restarted", "early_stopping", (0.0, 0.2, 0.5, 0.8), 40),
    ("noisy", "early_stopping", (0.5, 0.8), 40),
    ("boosting", "retrain", (0.5, 0.8, 1.0), 40),
    ("kernel", "early_stopping", designs.RHOS, 200),
)  # model, method, correlations, sets


def boosting(**options):
    """The paper's: depth 3, learning rate .1, patience 10; noise as it is in fctree."""
    return SymmetricBoostingRegressor(**{"max_iter": 1000, "max_depth": 3, **options})


MODELS = {
    "boosting": boosting(),
    "splitting": boosting(),  # the two models measured on disjoint halves of the test part
    "reduced_only": boosting(),  # the paper's algorithm 1: the full model is not trained on
    # Splits at random until the noise has died out, the paper's setting.
    "noisy": boosting(random_strength=1e4),
    "restarted": boosting(random_strength=1e4),  # and the noise begins again, as CatBoost's does
    "kernel": TreeNTKRegressor(alpha=1e-3, scale=0.1, depth=2),
    "kernel_reduced_only": TreeNTKRegressor(alpha=1e-3, scale=0.1, depth=2),
    "network": MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=300, tol=1e-5),
    "network_reduced_only": MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=300, tol=1e-5),
}


def restarted_noise():
    """Continuations whose splits are as noisy as those of the first rounds."""
    return mock.patch.object(MaskedBoosting, "_rounds_before", return_value=0)


def full_model_as_trained():
    """Importances whose full model gets no further rounds."""
    return mock.patch.object(Study, "full_outputs", lambda study, method: study.models.full_outputs())


CHANGES = {"restarted": restarted_noise, "reduced_only": full_model_as_trained,
           "kernel_reduced_only": full_model_as_trained, "network_reduced_only": full_model_as_trained}


def first_importance(model, data, seed, method, n_jobs):
    """The stored results for the first feature."""
    X, y, truth = data
    begun = time.perf_counter()
    with CHANGES.get(model, contextlib.nullcontext)():
        result = variable_importance(
            MODELS[model], X, y, groups=[0], method=method, random_state=seed, n_jobs=n_jobs,
            sample_splitting=model == "splitting",
        )
    low, high = result.confidence_interval[0]
    return {
        "truth": truth[0], "importance": result.importances[0], "stderr": result.stderr[0],
        "covers": bool(low <= truth[0] <= high), "n_iter": int(result.n_iter[0]),
        "seconds": time.perf_counter() - begun,
    }  # fmt: skip


def run_linear(key, arguments):
    """Keys ``design model method rho seed``."""
    _, model, method, rho, seed = key.split()
    data = designs.correlated(float(rho), int(seed))
    return first_importance(model, data, int(seed), method, arguments.n_jobs)


def run_wide(key, arguments):
    """Keys ``wide model method seed``."""
    _, model, method, seed = key.split()
    return first_importance(model, designs.high_dimensional(int(seed)), int(seed), method,
                            arguments.n_jobs)


def values_of(result, seconds):
    return {
        "names": result.names, "values": result.importances.tolist(),
        "stderr": result.stderr.tolist(), "trusted": result.trusted.tolist(),
        "gain": float(getattr(result, "full_score", 0) - getattr(result, "empty_score", 0)),
        "full_score": result.full_score, "full_n_iter": result.full_n_iter,
        "rounds": int(result.n_iter.sum()), "seconds": seconds,
    }  # fmt: skip


def run_shapley(key, arguments):
    """Keys ``shapley method seed``."""
    _, method, seed = key.split()
    X, y = designs.logistic(int(seed))
    begun = time.perf_counter()
    result = shapley_importance(boosting(), X, y, method=method, random_state=int(seed),
                                n_jobs=arguments.n_jobs)
    return values_of(result, time.perf_counter() - begun)


def run_sampled(key, arguments):
    """Keys ``sampled method n_subsets seed``."""
    _, method, n_subsets, seed = key.split()
    X, y, truth = designs.many_players(int(seed))
    begun = time.process_time()
    result = shapley_importance(boosting(), X, y, n_subsets=int(n_subsets), method=method, random_state=int(seed),
                                n_jobs=arguments.n_jobs)
    low, high = result.confidence_interval.T
    return {
        "subsets": int(n_subsets), **{f"feature {j + 1}": value for j, value in enumerate(result.importances[:5].tolist())},
        "error of the rest": float(np.sqrt(np.mean(result.importances[5:] ** 2))),
        "stderr of the rest": float(np.sqrt(np.mean(result.stderr[5:] ** 2))),
        "covers": float(np.mean((low <= truth) & (truth <= high))),
        "rounds": int(result.n_iter.sum()), "processor seconds": time.process_time() - begun,
    }  # fmt: skip


def run_turbine(key, arguments):
    """Keys ``turbine target kind method seed``."""
    _, target, kind, method, seed = key.split()
    X, y, names = designs.gas_turbine(arguments.data, target)
    compute = shapley_importance if kind == "shapley" else variable_importance
    groups = {name: [j] for j, name in enumerate(names)}
    begun = time.perf_counter()
    model = boosting(max_depth=6, max_iter=3000)
    result = compute(model, X, y, groups=groups, method=method, random_state=int(seed),
                     n_jobs=arguments.n_jobs)
    return values_of(result, time.perf_counter() - begun)


RUN = {"correlated": run_linear, "coverage": run_linear, "network": run_linear,
       "wide": run_wide, "shapley": run_shapley, "sampled": run_sampled, "turbine": run_turbine}


def all_keys(quick):
    """The keys of all results, experiment by experiment."""
    seeds, sets, splits, few = (3, 10, 1, 1) if quick else (20, 200, 10, 3)
    keys = [f"turbine {t} {k} {m} 0" for t in TARGETS for k in ("importance", "shapley")
            for m in METHODS]
    keys += [f"wide boosting {m} {s}" for s in range(2 * few) for m in METHODS]
    keys += [f"correlated boosting {m} {rho} {s}"
             for s in range(seeds) for rho in designs.RHOS for m in METHODS]
    keys += [f"network {network} {m} {rho} {s}" for s in range(splits) for rho in (0.0, 0.5, 0.8)
             for network, methods in NETWORKS for m in methods]
    keys += [f"coverage {model} {method} {rho} {s}" for model, method, rhos, most in COVERAGE
             for s in range(min(most, sets)) for rho in rhos]
    keys += [f"shapley {m} {s}" for s in range(few) for m in METHODS]
    keys += [f"sampled {m} {n} {s}" for s in range(2 * few) for m, n in SAMPLED]
    keys += [f"turbine {t} importance {m} {s}" for s in range(1, splits) for t in TARGETS
             for m in METHODS]
    keys += [f"turbine {t} shapley {m} {s}" for s in range(1, splits) for t in TARGETS for m in METHODS]
    return keys


def rounded(value):
    """Six significant digits of each number."""
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def compute(keys, arguments, done):
    """Adds to `done` what is missing; writes now and then, and at the end."""
    remaining = [key for key in keys if key not in done]
    written = time.perf_counter()
    try:
        for key in tqdm(remaining, disable=not remaining):
            # One line a result: one number a line would bury the reader.
            done[key] = json.dumps(rounded(RUN[key.split()[0]](key, arguments)))
            if time.perf_counter() - written > 20.0:
                write_json(arguments.json, NAME, done, quick=arguments.quick)
                written = time.perf_counter()
    finally:
        write_json(arguments.json, NAME, done, quick=arguments.quick)


def entries(done, start):
    """Results whose keys begin so."""
    return [json.loads(value) for key, value in done.items() if key.startswith(start + " ")]


def report_linear(done, experiment, model, methods):
    rows = []
    for rho in designs.RHOS:
        for method in methods:
            found = entries(done, f"{experiment} {model} {method} {rho}")
            if not found:
                continue
            error = np.array([e["importance"] - e["truth"] for e in found])
            rows.append((
                f"rho {rho}", method, len(found), found[0]["truth"],
                float(np.mean([e["importance"] for e in found])), float(error.std()),
                float(np.mean([e["stderr"] for e in found])),
                float(np.mean([e["covers"] for e in found])),
                float(np.mean([e["n_iter"] for e in found])),
            ))
    if rows:
        print_table(f"{experiment}, {model}: importance of the first feature",
                    ("", "method", "sets", "truth", "mean", "sd", "stderr", "covers", "rounds"),
                    rows)


def report_wide(done):
    rows = [(method, len(found), found[0]["truth"],
             float(np.mean([e["importance"] for e in found])),
             float(np.mean([e["seconds"] for e in found])))
            for method in METHODS if (found := entries(done, f"wide boosting {method}"))]
    if rows:
        print_table("a hundred features: importance of the first",
                    ("method", "sets", "truth", "mean", "seconds"), rows)


def report_sampled(done):
    """Shapley values over sampled subsets, means over the data sets."""
    rows = []
    for method, n_subsets in SAMPLED:
        if found := entries(done, f"sampled {method} {n_subsets}"):
            rows.append((method, *(float(np.mean([e[name] for e in found])) for name in found[0])))
    if rows:
        print_table(f"sampled subsets, truth {designs.many_players(0)[2][:5]}", ("method", *found[0]), rows)


def report_values(done, start):
    """Values by three methods side by side, means over the seeds."""
    found = {method: entries(done, f"{start} {method}") for method in METHODS}
    found = {method: some for method, some in found.items() if some}
    if not found:
        return
    means = {m: np.mean([e["values"] for e in some], axis=0) for m, some in found.items()}
    errors = np.mean([e["stderr"] for e in next(iter(found.values()))], axis=0)
    names = next(iter(found.values()))[0]["names"]
    order = np.argsort(-means[next(iter(means))], kind="stable")
    rows = [(names[j], *(float(mean[j]) for mean in means.values()), float(errors[j]))
            for j in order]
    for title, field in (("rounds", "rounds"), ("seconds", "seconds")):
        rows.append((title, *(float(np.mean([e[field] for e in some]))
                              for some in found.values()), "-"))
    print_table(f"{start}, mean over {len(next(iter(found.values())))} splits",
                ("", *means, "stderr"), rows)


def report_changes(done):
    """Changes of the estimates if the full model gets no further rounds."""
    rows = []
    for experiment, model in (("coverage", "boosting"), ("coverage", "kernel"), ("network", "network")):
        changed = "reduced_only" if model == "boosting" else f"{model}_reduced_only"
        for rho in designs.RHOS:
            start = f"{experiment} {changed} early_stopping {rho}"
            keys = [key for key in done if key.startswith(start + " ")]
            pairs = [(done[key.replace(f" {changed} ", f" {model} ")], done[key]) for key in keys
                     if key.replace(f" {changed} ", f" {model} ") in done]
            if pairs:
                estimates = np.array([[json.loads(one)["importance"] for one in pair] for pair in pairs])
                rows.append((f"{model}, rho {rho}", len(pairs), *estimates.mean(axis=0).tolist(),
                             float(np.abs(np.diff(estimates)).max())))
    print_table("the full model trained on, or as it is: estimates",
                ("", "sets", "both", "reduced only", "largest difference"), rows)


def report(done):
    """Print all tables."""
    report_linear(done, "correlated", "boosting", METHODS)
    for network, methods in NETWORKS:
        report_linear(done, "network", network, methods)
    for model in dict.fromkeys(model for model, *_ in COVERAGE):
        report_linear(done, "coverage", model, METHODS)
    report_changes(done)
    report_wide(done)
    report_values(done, "shapley")
    report_sampled(done)
    for target in TARGETS:
        for kind in ("importance", "shapley"):
            report_values(done, f"turbine {target} {kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with regression/; without it no turbine")
    parser.add_argument("--only", nargs="+", choices=sorted(RUN), default=sorted(RUN))
    parser.add_argument("--kinds", nargs="+", choices=("importance", "shapley"),
                        default=("importance", "shapley"), help="of the turbine's values")
    parser.add_argument("--models", nargs="+", choices=sorted(MODELS), default=sorted(MODELS),
                        help="of the coverage experiment")
    parser.add_argument("--quick", action="store_true", help="a few sets of each")
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    done = json.loads(arguments.json.read_text())["results"] if arguments.json.exists() else {}
    keys = [key for key in all_keys(arguments.quick) if key.split()[0] in arguments.only
            and (not key.startswith("turbine")
                 or arguments.data and key.split()[2] in arguments.kinds)
            and (not key.startswith("coverage") or key.split()[1] in arguments.models)]
    compute(keys, arguments, done)
    report(done)


if __name__ == "__main__":
    main()
