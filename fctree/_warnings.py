"""Warnings that point at the line of the user."""

import sys
import warnings

_LIBRARIES = ("fctree", "sklearn", "joblib")


def warn(message, category=UserWarning):
    """Warn of the line that called fctree, itself or by scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
