"""The host's side of whole calls on a device, which is imitated: slabs, batches and memory.

``imitation`` has the runtime's functions, in the host's memory, and launches that run the device's
programs by the emulation.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[2] / "native"
COMPILER = shlex.split(os.environ.get("CXX", "g++"))


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="there is no C++ compiler")
def test_calls_on_an_imitated_device(tmp_path):
    program = tmp_path / "calls"
    flags = ["-std=c++17", "-O1", "-w", "-pthread", f"-I{HERE / 'imitation'}", f"-I{NATIVE}"]
    done = subprocess.run([*COMPILER, *flags, str(HERE / "imitation" / "calls.cpp"), "-o", str(program)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stdout, done.stdout[:2000] + done.stderr[:2000]
