"""Which boosting program has the least error after a given time of training?

    python boosting_error_over_time.py

Every program is fitted with 10, 20, 40, .. rounds, two learning rates and two depths until a fit with
twice the rounds would take longer than `--seconds`, 2 threads, 128 bins. What counts at a time is the
least test RMSE among all of the program's fits that were over by then: as if one knew its best setting.
Printed for 1, 2, 5 and 10 s, and drawn.

fctree's symmetric and curvature boosting take part as two programs.
"""

import argparse
import itertools

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

from boosting_data import simulate_boosting
from boosting_peers import FCTREE, PROGRAMS, Program, Settings, installed
from measure import time_once
from report import add_arguments, print_markdown, warn_if_busy, write_json
from sklearn.metrics import root_mean_squared_error

NAME = "boosting_error_over_time"
SIZES = ((100_000, 50), (1_000_000, 28))
QUICK_SIZES = ((20_000, 20),)
N_TEST = 100_000
RATES, DEPTHS = (0.1, 0.3), (6, 8)
TIMES = (1.0, 2.0, 5.0, 10.0)
CURVATURE = "fctree, curvature"


def curvature(settings):
    """Curvature boosting of the rounds and rate; its trees' depths are its own (3, step trees 8)."""
    from fctree import CurvatureBoostingRegressor

    return CurvatureBoostingRegressor(max_iter=settings.rounds, learning_rate=settings.learning_rate,
                                      n_jobs=settings.threads, random_state=settings.seed)


CURVATURE_PROGRAM = Program(curvature)


def measure(program, size, test, seconds):
    """Yield one dict a fit, with more and more rounds of each setting until one takes too long."""
    X, y = simulate_boosting(*size, seed=0)
    depths = DEPTHS[:1] if program is CURVATURE_PROGRAM else DEPTHS
    for rate, depth in itertools.product(RATES, depths):
        for doubled in range(10):
            settings = Settings(rounds=10 * 2**doubled, learning_rate=rate, depth=depth)
            fit_s, model = time_once(lambda settings=settings: program.build(settings).fit(X, y))
            predicted = program.predict(model, test[0], settings.threads)
            yield {"rounds": settings.rounds, "learning_rate": rate, "depth": depth, "fit_s": fit_s,
                   "rmse": root_mean_squared_error(test[1], predicted)}
            if fit_s > 0.5 * seconds:
                break


def least_within(points, seconds):
    """The least error of the fits that took at most this time; None: there is none."""
    return min((point["rmse"] for point in points if point["fit_s"] <= seconds), default=None)


def draw(cases, path):
    """Each program's least error so far over time, a panel a size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(cases), figsize=(5.2 * len(cases), 4.2), squeeze=False)
    for axis, (title, case) in zip(axes[0], cases.items(), strict=True):
        for name, points in case["points"].items():
            times = sorted(point["fit_s"] for point in points)
            axis.step(times, [least_within(points, time) for time in times], where="post", label=name,
                      linewidth=2.2 if name.startswith(FCTREE) else 1.2)
        axis.set(xscale="log", xlabel="seconds of training", ylabel="least test RMSE", title=title)
        axis.grid(alpha=0.3)
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--seconds", type=float, default=12.0, help="the longest fit, about")
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    warn_if_busy()
    programs, reasons = installed({**PROGRAMS, CURVATURE: CURVATURE_PROGRAM})
    for name, reason in reasons.items():
        print(f"left out: {name}: {reason}")
    cases = {}
    for size in QUICK_SIZES if arguments.quick else SIZES:
        test = simulate_boosting(N_TEST, size[1], seed=1)
        points = {name: list(measure(program, size, test, 1.0 if arguments.quick else arguments.seconds))
                  for name, program in programs.items()}
        least = {name: {f"{time:g} s": least_within(found, time) for time in TIMES}
                 for name, found in points.items()}
        name = f"{size[0]:,} x {size[1]}"
        cases[name] = {"least": least, "points": points}
        print_markdown(f"{name}: least test RMSE within",
                       ["program", *(f"{time:g} s" for time in TIMES)],
                       [[name, *errors.values()] for name, errors in least.items()])
        write_json(arguments.json, NAME, cases, arguments.quick)
    if arguments.plot:
        draw(cases, arguments.plot)


if __name__ == "__main__":
    main()
