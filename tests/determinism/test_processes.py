"""The same bytes in another process, and nearly the same on another instruction set.

A process of its own is started for each, because the instruction set is chosen once, when
the library is loaded (environment variable FCTREE_SIMD).
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import pickle, sys
import numpy as np
from fctree import FCODTRegressor, show_config
from fctree.datasets import make_ridge_exp

results = {}
for n_samples, n_features in ((6000, 10), (6000, 13), (6000, 31), (6000, 66), (133, 150)):
    X, y = make_ridge_exp(n_samples, n_features, random_state=n_features)
    model = FCODTRegressor(max_depth=3, min_samples_leaf=min(100, n_samples // 4), n_jobs=2).fit(X, y)
    arrays = {name: value for name, value in vars(model.tree_).items()
              if isinstance(value, np.ndarray)}
    results[n_features] = {**arrays, "prediction": model.predict(X), "leaf": model.apply(X)}
with open(sys.argv[1], "wb") as file:
    pickle.dump(results, file)
print(show_config()["simd"]["in_use"])
"""


def run(path, simd=None, threads="2"):
    """The arrays as fitted in a new process, and the instruction set it used."""
    environment = {**os.environ, "OMP_NUM_THREADS": threads}
    environment.pop("FCTREE_SIMD", None)
    if simd is not None:
        environment["FCTREE_SIMD"] = simd
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], env=environment,
                          capture_output=True, text=True, check=True, timeout=300)
    with open(path, "rb") as file:
        return pickle.load(file), done.stdout.split()[-1]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return run(tmp_path_factory.mktemp("reference") / "arrays.pickle")


@pytest.mark.parametrize("threads, simd", [("1", None), ("3", "mmx")])
def test_another_process_gives_the_same_bytes(reference, tmp_path, threads, simd):
    """That of an unknown instruction set, too, which is no crash."""
    results, in_use = run(tmp_path / "arrays.pickle", simd=simd, threads=threads)
    assert in_use == reference[1]
    for n_features, arrays in reference[0].items():
        for name, array in arrays.items():
            assert results[n_features][name].tobytes() == array.tobytes(), (n_features, name)


@pytest.mark.parametrize("simd", ["baseline", "avx2", "avx512"])
def test_instruction_sets_agree_to_rounding(reference, tmp_path, simd):
    results, in_use = run(tmp_path / "arrays.pickle", simd=simd)
    # An instruction set that this processor lacks is not used, whatever is asked for.
    order = ["baseline", "avx2", "avx512"]
    assert order.index(in_use) <= order.index(simd)
    assert simd != "baseline" or in_use == "baseline"
    for n_features, arrays in reference[0].items():
        other = results[n_features]
        for name in ("children_left", "children_right", "split_output"):
            np.testing.assert_array_equal(other[name], arrays[name])
        # Other orders of summation and fused products: roundings of 6000 terms, far
        # fewer than the 1e-9 allowed; but one sample within rounding of a cut may move.
        moved = np.mean(other["leaf"] != arrays["leaf"])
        assert moved <= 1 / 6000
        for name in ("coef", "intercept", "leaf_coef", "leaf_intercept", "value"):
            np.testing.assert_allclose(other[name], arrays[name], rtol=0, atol=1e-9, err_msg=name)
        same = other["leaf"] == arrays["leaf"]
        np.testing.assert_allclose(other["prediction"][same], arrays["prediction"][same],
                                   rtol=0, atol=1e-9)
