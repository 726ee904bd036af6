"""The list of every public name, for the reference: what is in an ``__all__`` is in it."""

import ast
from pathlib import Path

import fctree

PACKAGE = Path(fctree.__file__).resolve().parent
TITLES = {
    "oblique": "One tree",
    "ensembles": "Ensembles of curvature trees",
    "symmetric": "Symmetric boosting",
    "soft": "Soft trees",
    "torch": "Soft trees as a layer of PyTorch",
    "kernel_ridge": "Regression and classification with tree kernels",
    "kernels": "Tree kernels",
    "plotting": "Pictures and text",
    "inspection": "Inspection",
    "datasets": "Simulated data",
    "callbacks": "Callbacks",
    "persistence": "Model files",
    "export": "Models for other programs",
    "dask": "Many machines",
    "fctree": "Arrays of a tree, configuration",
}


def exported(path):
    """The names in a module's ``__all__``, without importing it: some need optional libraries."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def sections():
    """Titles and names, as paths from ``fctree``: the shortest that a name can be imported from."""
    paths = [*PACKAGE.glob("[!_]*/__init__.py"), *PACKAGE.glob("[!_]*.py")]
    modules = {path.parent.name if path.stem == "__init__" else path.stem: exported(path) for path in paths}
    top = [name for name in exported(PACKAGE / "__init__.py") if name != "__version__" and name not in modules]
    listed = {name for names in modules.values() for name in names}
    modules["fctree"] = [name for name in top if name not in listed]
    order = [*TITLES, *sorted(modules.keys() - TITLES.keys())]
    return {
        TITLES.get(module, module): [name if name in top else f"{module}.{name}" for name in modules[module]]
        for module in order
        if modules.get(module)
    }


def write_reference(path):
    """Writes the page that lists the names and has Sphinx make a page of each."""
    lines = ["Reference", "=========", "", "Every public name, by what it is for.", "", ".. currentmodule:: fctree"]
    for title, names in sections().items():
        lines += ["", title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names]
    path.write_text("\n".join([*lines, ""]))
