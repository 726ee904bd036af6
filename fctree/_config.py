"""Report of what was built and what is in use."""

from __future__ import annotations

from typing import Any

from fctree._native import matrix
from fctree._version import __version__


def show_config() -> dict[str, Any]:
    """Print and return the build configuration of fctree.

    Returns
    -------
    config : dict
        ``version`` (str), ``compiler`` (str), ``openmp`` (bool), ``simd`` (dict: ``built``, the instruction
        sets compiled in, and ``in_use``, the one chosen for this processor; set the environment variable
        ``FCTREE_SIMD`` to ``baseline`` or ``avx2`` before the import to lower it), ``eigen`` (str, its
        version) and ``cuda`` (bool).

    Examples
    --------
    >>> import fctree
    >>> config = fctree.show_config()  # doctest: +ELLIPSIS
    fctree ...
    >>> sorted(config)
    ['compiler', 'cuda', 'eigen', 'openmp', 'simd', 'version']
    """
    config = {"version": __version__, **matrix.build_config()}
    simd = config["simd"]
    lines = [
        f"fctree {config['version']}",
        f"  compiler  {config['compiler']}",
        f"  OpenMP    {'yes' if config['openmp'] else 'no'}",
        f"  SIMD      {simd['in_use']} in use, built: {', '.join(simd['built'])}",
        f"  Eigen     {config['eigen']}",
        f"  CUDA      {'yes' if config['cuda'] else 'no'}",
    ]
    print("\n".join(lines))
    return config
