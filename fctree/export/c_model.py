"""C files of fitted models."""

from __future__ import annotations

from typing import Any

from fctree.export.c_file import CFile, as_comment
from fctree.export.description import describe


def to_c(model: Any, name: str = "predict") -> str:
    """Convert a fitted model to one C99 file that needs only the standard library.

    The file defines the thread-safe function ``void NAME(const double *x, double *out)``. `x` holds the columns
    of one sample, NaN where missing; `out` receives the predictions or the class probabilities. A category
    is passed as its index in ``model.encoder_.categories[column]``, which a comment lists; -1 is an unknown one.

    Parameters
    ----------
    model : fitted estimator
        A tree, forest, boosting or soft tree model.
    name : str, default="predict"
        Name of the function, and prefix of all other names in the file.

    Returns
    -------
    source : str
        Content of the file.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If `name` is not a valid name of a C function.
    NotFittedError
        If the model has not been fitted.

    Examples
    --------
    >>> from fctree import CurvatureTreeRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> from fctree.export import to_c
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> source = to_c(CurvatureTreeRegressor().fit(X, y), name="score")
    >>> "void score(const double *x, double *out) {" in source
    True
    """
    source = CFile(name)
    described = describe(model)
    table = described.table
    encode = None if table.is_identity else table.c(source)
    add_trees = described.scores.c(source)
    start, finish = described.link.c(source)
    if encode is None:
        lines = [f"{add_trees}(x, out);"]
    else:
        lines = [f"double z[{table.n_features}];", f"{encode}(x, z);", f"{add_trees}(z, out);"]
    body = "\n".join(f"  {line}" for line in [f"{start}(out);", *lines, f"{finish}(out);"])
    source.add(f"void {name}(const double *x, double *out);\n\n"
               f"void {name}(const double *x, double *out) {{\n{body}\n}}\n")  # fmt: skip
    return f"{_comment(model, described, name)}\n#include <math.h>\n\n{source.text()}"


def _comment(model, described, name):
    link, table = described.link, described.table
    kind = "predictions" if link.classes is None else "probabilities"
    lines = [
        f"{type(model).__name__} of fctree.",
        f"   {name}(x, out): x has {table.n_columns} columns of a sample, NaN where missing;",
        f"   out takes {link.n_predictions} {kind}.",
    ]
    if link.classes is not None:
        lines.append(f"   Classes: {', '.join(ascii(v) if isinstance(v, str) else str(v) for v in link.classes)}.")
    if table.categories:
        lines += ["   Numbers of categories, -1 for others:", *table.c_comment()]
    return as_comment(lines)
