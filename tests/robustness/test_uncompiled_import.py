"""A source tree that has not been compiled says so when it is imported."""

import shutil
import subprocess
import sys
from pathlib import Path

import fctree


def test_the_message_says_what_to_do(tmp_path):
    shutil.copytree(Path(fctree.__file__).parent, tmp_path / "fctree",
                    ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    done = subprocess.run([sys.executable, "-c", "import fctree"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"ImportError: {tmp_path.resolve() / 'fctree'} has no compiled modules")
    assert "setup.py build_ext --inplace" in message and "run `pytest`" in message
