"""The rate at which this machine fills histograms: the floor under training boosted trees.

`histogram_floor.cpp` is compiled with the system's compiler and run in a process of its own. A
tree of depth m needs the histograms of its levels 0 .. m - 1. Filled from all rows they cost
n d m updates a tree; where the larger child of each pair is its parent less its sibling, about
n d (1 + (m - 1) / 2).
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("histogram_floor.cpp")


def measure_floor(n_samples, n_features, bins, depth, threads, repeats=9):
    """Updates per second of each level, {"packed": [..], "float": [..]}; None without a compiler.

    `packed` is one 64-bit integer add a row and feature, `float` a gradient and a count.
    """
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "histogram_floor"
        subprocess.run([compiler, "-O3", "-march=native", "-std=c++17", "-pthread", SOURCE, "-o",
                        program], check=True)
        sizes = (n_samples, n_features, bins, depth, threads, repeats)
        child = subprocess.run([program, *map(str, sizes)], check=True, capture_output=True,
                               text=True)
    return json.loads(child.stdout)


def floor_seconds(rates, n_samples, n_features, rounds):
    """(seconds of full passes, seconds with siblings by subtraction) of all rounds.

    The faster kind of histogram counts at each level.
    """
    best = [max(pair) for pair in zip(rates["packed"], rates["float"], strict=True)]
    passes = [n_samples * n_features / rate for rate in best]
    halves = passes[:1] + [seconds / 2 for seconds in passes[1:]]
    return rounds * sum(passes), rounds * sum(halves)
