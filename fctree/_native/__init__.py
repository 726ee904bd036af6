"""The compiled modules: thin bindings of the C++ core in ``native/``, no algorithm."""

from importlib.util import find_spec
from pathlib import Path

if find_spec(f"{__name__}.core") is None:
    _package = Path(__file__).resolve().parent.parent
    raise ImportError(
        f"{_package} has no compiled modules for this version of Python: it is fctree's source, not an "
        f"installed package. Start Python in a folder other than {_package.parent} to import what `pip install "
        "fctree` has installed (there, run `pytest` instead of `python -m pytest`), or compile in place with "
        "`python setup.py build_ext --inplace`."
    )
