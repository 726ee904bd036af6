"""A bounded part of what soak.py runs for hours: the same cases in every run."""

import os

import pytest
from fuzz.soak import KINDS, fuzz

CASES = {"model_files": 1500, "hostile_calls": 500, "hostile_methods": 500}
SECONDS = 60


@pytest.mark.parametrize("kind", KINDS)
def test_no_crash_no_hang_no_other_error(kind):
    # Sanitizers take several times as long.
    share = 5 if os.environ.get("FCTREE_SANITIZED") else 1
    n_cases, failures = fuzz(kind, cases=CASES[kind] // share, seconds=SECONDS)
    assert not failures, "\n".join(failures)
    assert n_cases >= 10  # of a busy machine
