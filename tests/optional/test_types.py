"""Types that a program which uses fctree sees."""

from pathlib import Path

import fctree
import pytest

api = pytest.importorskip("mypy.api")


def test_fit_keeps_its_type_behind_scikit_learns_check(tmp_path, monkeypatch):
    folder = Path(fctree.__file__).parents[1]
    if folder.name != "site-packages":  # which mypy finds by itself, and refuses to be told of
        monkeypatch.setenv("MYPYPATH", str(folder))
    program = tmp_path / "program.py"
    program.write_text(
        "from fctree import CurvatureTreeRegressor\n"
        "reveal_type(CurvatureTreeRegressor().fit([[0.0]], [0.0]))\n"
        "CurvatureTreeRegressor().fit([[0.0]])\n"
    )
    options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    found = api.run([*options, str(program)])[0]
    assert 'Revealed type is "fctree.oblique.curvature.CurvatureTreeRegressor"' in found, found
    assert 'Missing positional argument "y"' in found
