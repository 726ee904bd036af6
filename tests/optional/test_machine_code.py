"""The machine code in a build with CUDA: for each target, and what it should be made of."""

import re
import shutil
import subprocess

import pytest
from fctree._native import matrix

pytestmark = [
    pytest.mark.skipif(not matrix.build_config()["cuda"], reason="this build has no CUDA"),
    pytest.mark.skipif(shutil.which("cuobjdump") is None, reason="cuobjdump is not on the path"),
]


def dump(*arguments):
    done = subprocess.run(["cuobjdump", *arguments, matrix.__file__], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cuobjdump: {done.stderr.strip()}")
    return done.stdout


def test_each_target_has_its_code():
    targets = set(re.findall(r"\.(sm_\d+)\.cubin", dump("--list-elf")))
    assert targets == {"sm_80", "sm_90"}
    assert set(re.findall(r"\.(sm_\d+)\.ptx", dump("--list-ptx"))) == {"sm_90"}


def test_matrix_units_and_asynchronous_copies_are_used():
    if shutil.which("nvdisasm") is None:
        pytest.skip("nvdisasm is not on the path")
    for target, product in (("sm_80", "DMMA"), ("sm_90", "DMMA.16x8x4")):
        code = dump("--dump-sass", "--gpu-architecture", target)
        kernel = next(part for part in code.split("Function :") if "gram_kernelId" in part[:200])
        for instruction in (product, "LDGSTS", "STG.E.EF.128", "LDS"):
            assert instruction in kernel, f"{target}: {instruction}"
