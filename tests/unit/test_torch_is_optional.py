"""Without PyTorch, fctree.torch says what to install."""

import subprocess
import sys


def test_the_extra_is_named():
    code = """
import sys
import fctree
sys.modules["torch"] = None  # as if it were not installed
try:
    import fctree.torch
except ImportError as error:
    assert '.[torch]' in str(error), error
else:
    raise SystemExit("imported")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
