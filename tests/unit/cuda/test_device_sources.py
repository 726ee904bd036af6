"""CUDA's compiler takes the sources for devices, in builds without CUDA too."""

import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[3] / "native"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the path")
@pytest.mark.parametrize("source", sorted(NATIVE.glob("cuda/*.cu")), ids=lambda source: source.name)
def test_sources_compile(source, tmp_path):
    # Faults are those of the source: optimising would take most of the time.
    done = subprocess.run(["nvcc", "-ptx", "-arch=compute_80", "-Xcicc", "-O0", "-std=c++17", "-DFCTREE_CUDA",
                           "-DFCTREE_ISA=on_device", f"-I{NATIVE}", str(source), "-o", str(tmp_path / "code.ptx")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
