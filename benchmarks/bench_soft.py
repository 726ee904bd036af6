"""Does conditional computation pay, and where?

  passes     forward and backward of a batch of 256 (10 trees, 50 features, float32) by depth and
             gamma: conditional, our own dense kernel (smooth step and logistic), and the best of
             several dense layers in torch
  training   seconds an epoch of an estimator by depth, in the first epochs and afterwards; what
             updating all rows costs against those that a batch touches
  inference  a trained model against a hard tree walk with the same products
  memory     what a pass holds for the batch, by depth and gamma

Passes are measured as they are at the start of training: products <w, x> of deviation 1. The
clock is processor time on one thread, which other programs disturb least, or with
``--clock wall`` the time on two.
"""

import argparse
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import SoftTreeRegressor
from fctree._native import soft
from report import add_arguments, number_text, print_table, warn_if_busy, write_json

NAME = "bench_soft"
N_TREES, N_FEATURES, BATCH = 10, 50, 256


def best_of(calls, clock, repeats):
    """Best seconds of each call in turns."""
    timer = time.process_time if clock == "cpu" else time.perf_counter
    best = dict.fromkeys(calls, np.inf)
    for _ in range(repeats + 1):
        for name, call in calls.items():
            call()
            start = timer()
            call()
            best[name] = min(best[name], timer() - start)
    return best


def random_layer(depth, n=BATCH):
    rng = np.random.default_rng(depth)
    x = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    splits = rng.standard_normal((N_TREES, 2**depth - 1, N_FEATURES)) / np.sqrt(N_FEATURES)
    leaves = rng.standard_normal((N_TREES, 2**depth, 1))
    return x, splits.astype(np.float32), leaves.astype(np.float32)


class OurPass:
    """The compiled passes on one batch."""

    def __init__(self, arrays, kind, *, routing="smooth_step", gamma=1.0, n_threads=1):
        self.x, self.splits, self.leaves = arrays
        self.shape = {"routing": soft.Routing[routing].value, "gamma": gamma, "scale": 1.0}
        self.native = soft.new_pass(np.float32, soft.PassKind[kind].value)
        self.n_threads = n_threads
        self.out = np.empty((len(self.x), 1), dtype=np.float32)
        self.by_out = np.ones_like(self.out)

    def forward(self):
        soft.forward(self.native, self.x, self.splits, self.leaves, self.out, self.shape,
                     self.n_threads)

    def both(self):
        self.forward()
        gradients = np.zeros_like(self.splits), np.zeros_like(self.leaves)
        soft.backward(self.native, self.splits, self.leaves, self.by_out, *gradients, None,
                      self.shape, self.n_threads)

    def reached(self):
        self.forward()
        return soft.reached_leaves(self.native) / len(self.x) / N_TREES


def torch_calls(arrays, args):
    import torch
    from soft_tree_peers import pass_calls

    torch.set_num_threads(args.n_threads)
    return pass_calls(*arrays, compiled=args.compiled)


def measure_passes(args):
    rows = []
    for depth in args.depths:
        arrays = random_layer(depth)
        ours = {
            f"conditional, gamma {gamma}": OurPass(arrays, "conditional", gamma=gamma,
                                                   n_threads=args.n_threads)
            for gamma in (1.0, 0.1)
        }
        if depth <= args.deepest_dense:
            ours["dense"] = OurPass(arrays, "dense", n_threads=args.n_threads)
            ours["dense logistic"] = OurPass(arrays, "dense", routing="logistic",
                                             n_threads=args.n_threads)
        calls = {name: (one.forward, one.both) for name, one in ours.items()}
        if depth <= args.deepest_dense:
            calls |= torch_calls(arrays, args)
        repeats = args.repeats if depth <= 8 else max(3, args.repeats // 3)
        forward = best_of({k: v[0] for k, v in calls.items()}, args.clock, repeats)
        both = best_of({k: v[1] for k, v in calls.items()}, args.clock, repeats)
        reached = {k: one.reached() for k, one in ours.items()}
        rows.append({"depth": depth, "forward_s": forward, "both_s": both, "reached": reached})
        show_passes(rows[-1])
    return rows


def show_passes(row):
    peers = [s for name, s in row["both_s"].items() if name.startswith("torch")]
    table = []
    for name, seconds in row["both_s"].items():
        ratio = min(peers) / seconds if peers else float("nan")
        table.append([name, 1e3 * row["forward_s"][name], 1e3 * seconds, ratio,
                      row["reached"].get(name, float("nan"))])
    print_table(f"depth {row['depth']}, batch of {BATCH}",
                ["", "forward ms", "both ms", "best torch / this", "leaves reached"], table)


def training_data(n=5_000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    return X, np.abs(X[:, :5]).sum(axis=1) + 0.1 * rng.standard_normal(n)


def epoch_seconds(settings, args, first_epochs, last_epochs):
    """Best seconds of an epoch among the first ones and among the last ones of a training."""
    timer = time.process_time if args.clock == "cpu" else time.perf_counter
    X, y = training_data()
    model = SoftTreeRegressor(max_epochs=1, random_state=0, n_jobs=args.n_threads, **settings)
    seconds = []
    for _ in range(last_epochs):
        start = timer()
        model.partial_fit(X, y)
        seconds.append(timer() - start)
    return {
        "first_s": min(seconds[:first_epochs]),
        "last_s": min(seconds[-first_epochs:]),
        "reached": [model.reachable_leaves_curve_[0], model.reachable_leaves_curve_[-1]],
        "loss": model.loss_curve_[-1],
    }


def measure_training(args):
    rows = []
    for depth in args.depths:
        for name, settings in {
            "gamma 1": {"gamma": 1.0},
            "gamma 0.1": {"gamma": 0.1},
            # A penalty too small to change a weight makes every row be updated.
            "gamma 1, all rows updated": {"gamma": 1.0, "l2_regularization": 1e-30},
            "logistic": {"routing": "logistic"},
        }.items():
            if name == "logistic" and depth > args.deepest_dense:
                continue
            found = epoch_seconds({"depth": depth, **settings}, args, 3, args.epochs)
            rows.append({"depth": depth, "settings": name, **found})
            print_table(f"depth {depth}, {name}: ms an epoch of 20 batches",
                        ["first", "last", "leaves first", "leaves last", "loss"],
                        [[number_text(1e3 * found["first_s"]), 1e3 * found["last_s"],
                          *found["reached"], found["loss"]]])
    return rows


def hard_walk(model, X):
    """A function that walks hard trees with the same products: one sample, one path."""
    state = model._state
    arrays = state["split_weights"], state["leaf_weights"]
    shape = {**model._shape(), "gamma": 1e-30}
    rule = model._standardization()
    return lambda: soft.predict(X, *arrays, shape, rule, model.n_jobs, 1)


def measure_inference(args):
    """A trained model as it is, and with gamma so small that each node is hard."""
    rows = []
    X, y = training_data(20_000)
    for depth in (4, 8, 10):
        for gamma in (1.0, 0.1):
            model = SoftTreeRegressor(depth=depth, gamma=gamma, max_epochs=args.epochs,
                                      random_state=0, n_jobs=args.n_threads).fit(X[:5000], y[:5000])
            best = best_of({"soft": lambda model=model: model._raw_predict(X),
                            "hard": hard_walk(model, X)}, args.clock, 5)
            rows.append({"depth": depth, "gamma": gamma, **best,
                         "reached": model.reachable_leaves(X).mean()})
    print_table("prediction of 20,000 samples", ["depth", "gamma", "soft ms", "hard ms", "ratio",
                                                  "leaves reached"],
                [[str(r["depth"]), r["gamma"], 1e3 * r["soft"], 1e3 * r["hard"],
                  r["soft"] / r["hard"], r["reached"]] for r in rows])
    return rows


def measure_memory(args):
    rows = []
    for depth in args.depths:
        for kind, gamma in (("conditional", 1.0), ("conditional", 0.1), ("dense", 1.0)):
            if kind == "dense" and depth > args.deepest_dense:
                continue
            one = OurPass(random_layer(depth), kind, gamma=gamma)
            one.both()
            n_bytes, leaves = soft.workspace_bytes(one.native), one.reached() * BATCH * N_TREES
            rows.append({"depth": depth, "kind": kind, "gamma": gamma, "bytes": n_bytes,
                         "reached_leaves": leaves, "bytes_a_leaf": n_bytes / leaves})
    print_table("memory of a pass", ["depth", "", "gamma", "KiB", "reached leaves", "bytes a leaf"],
                [[str(r["depth"]), r["kind"], r["gamma"], r["bytes"] / 1024, r["reached_leaves"],
                  r["bytes_a_leaf"]] for r in rows])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--parts", nargs="+",
                        default=["passes", "training", "inference", "memory"])
    parser.add_argument("--depths", nargs="+", type=int, default=[2, 4, 6, 8, 10, 12])
    parser.add_argument("--deepest-dense", type=int, default=10)
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu")
    parser.add_argument("--compiled", action="store_true", help="torch.compile too")
    args = parser.parse_args()
    args.n_threads = 1 if args.clock == "cpu" else 2
    args.repeats, args.epochs = (5, 10) if args.quick else (20, 40)
    if args.quick:
        args.depths = [d for d in args.depths if d <= 8]
    warn_if_busy()
    measures = {"passes": measure_passes, "training": measure_training,
                "inference": measure_inference, "memory": measure_memory}
    results = {"clock": args.clock, "n_threads": args.n_threads}
    for part in args.parts:
        results[part] = measures[part](args)
        write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
