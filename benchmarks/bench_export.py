"""Do exported models predict what fctree predicts, and how fast are they?

Parts, chosen by `--only`:

accuracy  every family on the real sets of `--data`: the largest difference of ONNX models and C files
          from `predict`, and how many rows of a float32 model change a side of a split because their
          features were rounded to float32. Differences of regressors are relative to the prediction,
          or to the standard deviation of the predictions where that is larger; those of
          probabilities are absolute.
speed     ONNX Runtime, one thread, on models of fctree, CatBoost and LightGBM, beside each program's own
          `predict`, and the C file; one row and many rows.

Needs onnx, onnxruntime and a C compiler; a peer that is missing is named and left out.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
import onnx
import onnxruntime
from boosting_data import draw
from measure import interleave
from peers import peer
from real_data import REGRESSION_SETS, available, classification_sets, load_table, short_name
from report import add_arguments, print_markdown, seconds_text, warn_if_busy, write_json

import fctree
from fctree.export import to_c, to_onnx

NAME = "bench_export"
PARTS = ("accuracy", "speed")
FAMILIES = {
    "CurvatureTree": {},
    "FCODT": {},
    "CurvatureBoosting": {"max_iter": 100, "random_state": 0},
    "CurvatureForest": {"n_estimators": 30, "random_state": 0},
    "SymmetricBoosting": {"random_state": 0},
    "SoftTree": {"max_epochs": 20, "random_state": 0},
}
ROWS = {"one row": 1, "1,000 rows": 1000, "10,000 rows": 10_000}
TREES, DEPTH = 100, 6


def session(model):
    """ONNX Runtime with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # CatBoost's models make it warn of each call
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def compiled(source, folder, name="predict"):
    """The function of a C file."""
    path = Path(folder, f"{name}{time.time_ns()}.c")
    path.write_text(source)
    library = path.with_suffix(".so")
    subprocess.run(
        ["cc", "-std=c99", "-O2", "-fPIC", "-shared", path, "-o", library, "-lm"], check=True
    )
    function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes, function.restype = [ctypes.c_void_p] * 2, None
    return function


def predictions_of_c(function, X, n_outputs):
    X, out = np.ascontiguousarray(X, dtype=np.float64), np.empty((len(X), n_outputs))
    for i in range(len(X)):
        function(X.ctypes.data + i * X.strides[0], out.ctypes.data + i * out.strides[0])
    return out


def predictions(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict(X).reshape(len(X), -1)


def differences(found, expected, scale):
    """The largest difference of each row, in units of ``scale``."""
    return (np.abs(found - expected) / scale).max(axis=1)


def compare(model, X, folder):
    """Largest differences of the exports of one model, and rows that changed sides."""
    expected = predictions(model, X)
    X32 = X.astype(np.float32)
    same_input = predictions(model, X32.astype(np.float64))
    scale = 1.0
    if not hasattr(model, "predict_proba"):
        scale = np.maximum(np.abs(expected), expected.std(axis=0))
        scale = np.where(scale > 0.0, scale, 1.0)
    wide = session(to_onnx(model, dtype=np.float64)).run(None, {"X": X})[-1]
    single = session(to_onnx(model)).run(None, {"X": X32})[-1]
    c = predictions_of_c(compiled(to_c(model), folder), X, expected.shape[1])
    of_wide, of_c = differences(wide, expected, scale), differences(c, expected, scale)
    of_single = differences(single, same_input, scale)
    rounded = differences(single, expected, scale)
    return {
        "float64": float(of_wide.max()), "c": float(of_c.max()), "float32": float(of_single.max()),
        "rows": len(X),
        "float64_rows_above_1e-12": int(np.sum(of_wide > 1e-12)),
        "c_rows_above_1e-12": int(np.sum(of_c > 1e-12)),
        "float32_rows_above_1e-5": int(np.sum(of_single > 1e-5)),
        "float32_rows_above_1e-5_for_rounded_features": int(np.sum(rounded > 1e-5)),
        "float32_median_for_rounded_features": float(np.median(rounded)),
    }  # fmt: skip


def run_accuracy(args):
    if args.data is None:
        raise SystemExit("--only accuracy needs --data")
    sets = [*available(args.data, REGRESSION_SETS)[0], *classification_sets(args.data, "pmlb_")]
    sets = sets[::8] if args.quick else sets
    out = []
    for name in sets:
        task = "Classifier" if name.startswith("classification/") else "Regressor"
        X, y = load_table(args.data, name, args.max_rows, keep_missing=True)
        X = X[:, : args.max_features]
        train = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
        for family, parameters in FAMILIES.items():
            model = getattr(fctree, family + task)(**parameters).fit(X[train], y[train])
            with tempfile.TemporaryDirectory() as folder:
                found = compare(model, X[~train], folder)
            out.append({"set": short_name(name), "model": family + task, **found})
            print(short_name(name), family, found, flush=True)
    print_markdown(
        f"largest differences from predict, {len(sets)} sets, rows that were not trained on",
        ["model", "ONNX float64", "C", "ONNX float32", "rows beyond 1e-5 by rounded features"],
        [summary(out, model) for model in dict.fromkeys(r["model"] for r in out)],
    )
    return out


def summary(rows, model):
    own = [row for row in rows if row["model"] == model]
    n_rows = sum(row["rows"] for row in own)
    flipped = sum(row["float32_rows_above_1e-5_for_rounded_features"] for row in own)
    return [model, *(f"{max(row[kind] for row in own):.0e}" for kind in ("float64", "c", "float32")),
            f"{flipped:,} of {n_rows:,}"]  # fmt: skip


def peer_models(X, y):
    """(name, own predict, ONNX model, name of its input) of CatBoost and LightGBM."""
    try:
        from onnxmltools import convert_lightgbm
        from onnxmltools.convert.common.data_types import FloatTensorType

        cat = peer("CatBoost", rounds=TREES, depth=DEPTH, threads=None).fit(X, y)
        light = peer("LightGBM", rounds=TREES, threads=None, max_depth=DEPTH, num_leaves=2**DEPTH).fit(X, y)
    except ImportError as error:
        print(f"{error.name} is missing: peers are left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.onnx"))
        cat.save_model(path, format="onnx")
        yield "CatBoost", lambda A: cat.predict(A, thread_count=1), onnx.load(path), "features"
    kind = [("X", FloatTensorType([None, X.shape[1]]))]
    yield ("LightGBM", lambda A: light.predict(A, num_threads=1),
           convert_lightgbm(light, initial_types=kind), "X")  # fmt: skip


def run_speed(args):
    X, y = draw(10_000, args.features)
    models = {
        f"SymmetricBoosting, {TREES} trees of depth {DEPTH}": fctree.SymmetricBoostingRegressor(
            max_iter=TREES, max_depth=DEPTH, random_state=0
        ),
        f"CurvatureBoosting, {TREES} trees": fctree.CurvatureBoostingRegressor(
            max_iter=TREES, random_state=0
        ),
        f"CurvatureForest, {TREES} trees": fctree.CurvatureForestRegressor(
            n_estimators=TREES, random_state=0
        ),
        "CurvatureTree, depth 3": fctree.CurvatureTreeRegressor(),
        "SoftTree, 10 trees of depth 4": fctree.SoftTreeRegressor(max_epochs=10, random_state=0),
    }
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            model.fit(X, y)
            onnx_models = {"ONNX float32": to_onnx(model), "ONNX float64": to_onnx(model, dtype=np.float64)}
            function = compiled(to_c(model), folder)
            out += timed(name, model.predict, onnx_models, "X", function, X, args.repeats)
        for name, predict, model, feature_name in peer_models(X, y):
            label = f"{name}, {TREES} trees of depth {DEPTH}"
            out += timed(label, predict, {"ONNX float32": model}, feature_name, None, X, args.repeats)
    table = {}
    for row in out:
        cell = seconds_text(row["median_s"] / row["n_rows"])
        table.setdefault((row["model"], row["program"]), []).append(cell)
    print_markdown(
        f"time a row, {args.features} features, one thread",
        ["model", "program", *ROWS], [[*key, *cells] for key, cells in table.items()],
    )
    return out


def timed(name, predict, onnx_models, feature_name, function, X, repeats):
    """Timings of the programs of one model, in turns."""
    out = []
    for rows, n in ROWS.items():
        A = np.ascontiguousarray(X[:n])
        calls = {"predict": lambda A=A: predict(A)}
        for kind, model in onnx_models.items():
            run = session(model).run
            feed = {feature_name: A.astype(np.float32 if kind.endswith("32") else np.float64)}
            calls[kind] = lambda run=run, feed=feed: run(None, feed)
        if function is not None:
            calls["C"] = c_call(function, A)
        timings, _ = interleave(calls, repeats=repeats, batch=True)
        out += [{"model": name, "program": program, "rows": rows, "n_rows": len(A), **timing.as_dict()}
                for program, timing in timings.items()]  # fmt: skip
    return out


def c_call(function, A):
    """Calls for all rows, their addresses known; one output."""
    result = np.empty(1)
    addresses = [A.ctypes.data + i * A.strides[0] for i in range(len(A))]
    out = result.ctypes.data

    def call():
        for address in addresses:
            function(address, out)
        return result, A

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--data", type=Path, help="folder of the real sets")
    parser.add_argument("--max-rows", type=int, default=2000)
    parser.add_argument("--max-features", type=int, default=60)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    warn_if_busy()
    runs = {"accuracy": run_accuracy, "speed": run_speed}
    results = {part: runs[part](args) for part in args.only}
    write_json(args.json, NAME, results, args.quick)


if __name__ == "__main__":
    main()
