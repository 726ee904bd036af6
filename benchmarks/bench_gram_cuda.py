"""How near are Gram matrices on a GPU to what its memory and its arithmetic allow?

One call on a machine with a GPU builds fctree, checks it and times it:

    python benchmarks/bench_gram_cuda.py --build EIGEN --test

  grid      tree_ntk (perfect trees, depth 3, scale 2) of many samples against the floor
            max(bytes written / copy bandwidth, operations / rate of products), both measured here,
            and against torch (eager, compiled), CuPy and jax
  batch     many small matrices in one call against a loop of single calls
  others    a path over depths, products with vectors, output in the host's memory, landmarks

Needs torch. Medians of a few rounds; clocks are left as they are found.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from gram_cuda_methods import PEERS, forget, installed, normalised, ours, product
from report import add_arguments, print_table, seconds_text, write_json

NAME = "bench_gram_cuda"
ROOT = Path(__file__).resolve().parent.parent
DEPTH = 3
SANITIZED = """
import numpy as np
from fctree.kernels import relu_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path
for dtype in (np.float32, np.float64):
    X = np.random.default_rng(0).standard_normal((2, 201, 13)).astype(dtype)
    Y = X[:, :131, :].copy()
    for other in (None, Y):
        tree_ntk(X, other, device="cuda")
        tree_ntk(X, other, architecture={1: 1, 2: 2}, device="cuda")
        relu_ntk(X, other, device="cuda")
        tree_ntk_path(X, other, depths=[1, 4], device="cuda")
        tree_ntk_matvec(X, other, np.ones((2, 201 if other is None else 131), dtype), device="cuda")
"""


def build(eigen):
    """Compiles fctree where it lies, with CUDA."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL,
                   env={**os.environ, "EIGEN_INCLUDE_DIR": str(eigen), "FCTREE_CUDA": "1"})
    print(f"built in {time.perf_counter() - start:.0f} s", flush=True)


def run_tests():
    """The tests that need a device; their last lines."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p",
                           "no:cacheprovider", "tests/optional/test_gpu.py"],
                          cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    tail = done.stdout.splitlines()[-40:]
    print("\n".join(tail), flush=True)
    return {"returncode": done.returncode, "tail": tail}


def run_sanitizers():
    """compute-sanitizer's verdict on a run of every kernel."""
    if shutil.which("compute-sanitizer") is None:
        return None
    verdicts = {}
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        leaks = ["--leak-check=full"] if tool == "memcheck" else []
        done = subprocess.run(["compute-sanitizer", "--tool", tool, *leaks, sys.executable, "-c",
                               SANITIZED], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})
        verdicts[tool] = (done.stdout + done.stderr).splitlines()[-8:]
        print(tool, *verdicts[tool], sep="\n  ", flush=True)
    return verdicts


def seconds_of(call, rounds):
    """Median seconds of a call, the device idle before and after."""
    import torch

    call()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure_ceilings(rounds):
    """Copy bandwidth (bytes read and written) and rates of products, by the libraries there."""
    import torch

    source = torch.empty(2**32, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    ceilings = {"copy_bytes_per_s": 2 * source.numel() / seconds_of(
        lambda: target.copy_(source), rounds)}
    ceilings["write_bytes_per_s"] = source.numel() / seconds_of(lambda: target.fill_(1), rounds)
    del source, target
    torch.backends.cuda.matmul.allow_tf32 = False
    for name in ("float32", "float64"):
        a = torch.randn(12288, 12288, device="cuda", dtype=getattr(torch, name))
        out = torch.empty_like(a)
        seconds = seconds_of(lambda a=a, out=out: torch.mm(a, a, out=out), rounds)
        ceilings[f"product_flops_{name}"] = 2 * len(a) ** 3 / seconds
        forget()
    return ceilings


def error_of(K, X):
    """Largest difference of some rows from float64 on the processor, of the largest entry."""
    from fctree.kernels import tree_ntk

    rows = np.linspace(0, len(X) - 1, 64).astype(int)
    exact = tree_ntk(X[rows].astype(float), X.astype(float), depth=DEPTH, n_jobs=-1)
    found = K[rows.tolist()].cpu().numpy()
    return float(np.abs(found - exact).max() / exact.max())


def compare_grid(n, widths, ceilings, rounds):
    """One row a width and type. jax, which keeps the memory that it has once had, takes its turn last."""
    import torch

    cases = [(name, d, np.random.default_rng(0).standard_normal((n, d)).astype(name))
             for name in ("float32", "float64") for d in widths]
    rows = []
    for name, d, X in cases:
        x = torch.as_tensor(X, device="cuda")
        rate = ceilings[f"product_flops_{name}"]
        writing = n * n * X.itemsize / ceilings["copy_bytes_per_s"]
        row = {"n": n, "d": d, "dtype": name, "seconds": {},
               # The matrix is symmetric: half of the products are enough.
               "floor": max(writing, n * n * d / rate),
               "floor_all_products": max(writing, 2 * n * n * d / rate)}
        call = ours(x, DEPTH)
        row["seconds"]["fctree"] = seconds_of(call, rounds)
        row["error"] = error_of(call(), X)
        del call
        forget()
        row["seconds"]["product alone"] = seconds_of(product(x), rounds)
        forget()
        for peer, (library, make) in PEERS.items():
            if peer != "jax":
                row["seconds"][peer] = time_peer(library, make, x, rounds)
        rows.append(row)
    for row, (_, _, X) in zip(rows, cases, strict=True):
        x = torch.as_tensor(X, device="cuda")
        row["seconds"]["jax"] = time_peer(*PEERS["jax"], x, rounds)
        print_row(add_ratios(row))
    return rows


def time_peer(library, make, x, rounds):
    """Seconds of a peer; NaN where it is not installed or has no memory for this."""
    if not installed(library):
        return float("nan")
    try:
        return seconds_of(make(x, DEPTH), rounds)
    except Exception as error:  # each library has its own for memory that is short
        print(f"{make.__name__}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        return float("nan")
    finally:
        forget()


def add_ratios(row):
    """fctree against the floor and the fastest peer."""
    seconds = row["seconds"]
    row["share_of_floor"] = row["floor"] / seconds["fctree"]
    peers = {k: v for k, v in seconds.items() if k in PEERS and np.isfinite(v)}
    row["fastest_peer"] = min(peers, key=peers.get) if peers else None
    row["peer_over_fctree"] = min(peers.values()) / seconds["fctree"] if peers else float("nan")
    return row


def print_row(row):
    print_table(f"{row['n']} x {row['d']} {row['dtype']}: {row['share_of_floor']:.0%} of the floor "
                f"({seconds_text(row['floor'])}), {row['peer_over_fctree']:.1f} times faster than "
                f"{row['fastest_peer']}, error {row['error']:.1e}", ("method", "seconds"),
                [(k, seconds_text(v)) for k, v in row["seconds"].items()])


def compare_batch(n_problems, rounds):
    """Many matrices of 128 x 128 from 20 features in one call, and one by one."""
    import torch
    from fctree.kernels import tree_ntk

    rows = []
    for name in ("float32", "float64"):
        x = torch.randn(n_problems, 128, 20, device="cuda", dtype=getattr(torch, name))
        out = torch.empty(n_problems, 128, 128, device="cuda", dtype=x.dtype)
        together = seconds_of(lambda x=x, out=out: tree_ntk(x, device="cuda", out=out), rounds)

        def one_by_one(x=x, out=out):
            for problem, matrix in zip(x, out, strict=True):
                tree_ntk(problem, device="cuda", out=matrix)

        single = seconds_of(one_by_one, 1)
        u = torch.stack([normalised(p) for p in x[:100]])
        rows.append({"dtype": name, "n_problems": n_problems, "together": together,
                     "one by one": single, "ratio": single / together,
                     "torch.bmm of 100, per problem": seconds_of(
                         lambda u=u: torch.bmm(u, u.transpose(1, 2)), rounds) / 100})
        forget()
    print_table(f"{n_problems} matrices of 128 x 128", ("type", "together", "one by one", "ratio"),
                [(r["dtype"], seconds_text(r["together"]), seconds_text(r["one by one"]),
                  r["ratio"]) for r in rows])
    return rows


def compare_others(n, rounds):
    """Further measurements on a device."""
    import torch
    from fctree import TreeNTKRegressor
    from fctree.kernels import tree_ntk, tree_ntk_matvec, tree_ntk_path

    rows = []
    for name in ("float32", "float64"):
        X = np.random.default_rng(0).standard_normal((n, 20)).astype(name)
        x = torch.as_tensor(X, device="cuda")
        v = torch.randn(n, 3, device="cuda", dtype=x.dtype)
        small, host = x[: n // 4].contiguous(), np.empty((n // 2, n // 2), name)
        calls = {
            "product with 3 vectors": lambda x=x, v=v: tree_ntk_matvec(x, None, v, device="cuda"),
            "29 depths of a quarter": lambda x=small: tree_ntk_path(
                x, depths=range(1, 30), device="cuda"),
            "half, into host memory": lambda X=X, host=host: tree_ntk(
                X[: n // 2], device="cuda", out=host),
        }
        for what, call in calls.items():
            rows.append({"what": what, "dtype": name, "n": n, "seconds": seconds_of(call, rounds)})
            forget()
    X = np.random.default_rng(1).standard_normal((4 * n, 20))
    y = np.abs(X[:, :5]).sum(axis=1) + X[:, 5] * X[:, 6]
    model = TreeNTKRegressor(alpha=1.0, scale=0.1, solver="nystrom", device="cuda", random_state=0)
    start = time.perf_counter()
    model.fit(X, y)
    rows.append({"what": f"landmarks, {4 * n} samples, {model.n_iter_} iterations",
                 "dtype": "float64", "n": 4 * n, "seconds": time.perf_counter() - start})
    print_table("others (20 features)", ("what", "seconds"),
                [(f"{r['what']}, {r['dtype']}", seconds_text(r["seconds"])) for r in rows])
    return rows


def device_facts():
    import torch

    properties = torch.cuda.get_device_properties(0)
    return {"name": properties.name, "memory_gib": properties.total_memory / 2**30,
            "multiprocessors": properties.multi_processor_count, "torch": torch.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    parser.add_argument("--build", metavar="EIGEN", type=Path, help="build fctree first, with the "
                        "headers of Eigen in this folder")
    parser.add_argument("--test", action="store_true", help="run the tests that need a GPU")
    parser.add_argument("--sanitize", action="store_true", help="run under compute-sanitizer")
    parser.add_argument("--only", nargs="*", choices=("grid", "batch", "others"),
                        default=["grid", "batch", "others"])
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--widths", nargs="+", type=int, default=[10, 100, 784])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.build:
        build(arguments.build.resolve())
    sys.path.insert(0, str(ROOT))
    from fctree._native import matrix

    if matrix.why_no_device():
        raise SystemExit(f"no GPU to measure: {matrix.why_no_device()}")
    results = {"device": device_facts()}
    if arguments.test:
        results["tests"] = run_tests()
    if arguments.sanitize:
        results["sanitizers"] = run_sanitizers()
    n = 8000 if arguments.quick else arguments.n
    results["ceilings"] = measure_ceilings(arguments.rounds)
    print(results["ceilings"], flush=True)
    if "batch" in arguments.only:
        results["batch"] = compare_batch(1000 if arguments.quick else 10_000, arguments.rounds)
        write_json(arguments.json, NAME, results, arguments.quick)
    if "others" in arguments.only:
        results["others"] = compare_others(n, arguments.rounds)
        write_json(arguments.json, NAME, results, arguments.quick)
    if "grid" in arguments.only:
        results["grid"] = compare_grid(n, arguments.widths, results["ceilings"], arguments.rounds)
    write_json(arguments.json, NAME, results, arguments.quick)


if __name__ == "__main__":
    main()
