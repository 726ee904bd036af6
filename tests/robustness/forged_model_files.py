"""Model files made by hand, with the digest that their content asks for.

A digest tells of accidents; these files were made on purpose.
"""

import hashlib
import io
import json
import re
import zipfile

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKClassifier,
    TreeNTKRegressor,
    load_model,
    save_model,
)
from fctree.persistence.archive import HEADER_NAME, MARK, array_name

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
y = X[:, 0] + np.abs(X[:, 1])
CLASSES = np.searchsorted([0.0, 1.0], y)

MODELS = {
    "oblique": FCODTRegressor(max_depth=2).fit(X, y),
    "oblique classes": FCODTClassifier(max_depth=2).fit(X, np.array(["a", "b", "c"])[CLASSES]),
    "boosting": SymmetricBoostingRegressor(max_iter=3, max_depth=2, posterior_samples=2).fit(X, y),
    "boosting classes": SymmetricBoostingClassifier(max_iter=3, max_depth=2).fit(X, CLASSES),
    "soft": SoftTreeRegressor(n_trees=2, depth=2, max_epochs=2, random_state=0).fit(X, y),
    "soft classes": SoftTreeClassifier(n_trees=2, depth=2, max_epochs=2, random_state=0).fit(
        X, CLASSES
    ),
    "curved": CurvatureBoostingRegressor(max_iter=3, max_depth=2, calibration_fraction=0.3, random_state=0).fit(X, y),
    "forest": CurvatureForestRegressor(n_estimators=2, max_depth=2, random_state=0).fit(X, y),
    "forest classes": CurvatureForestClassifier(n_estimators=2, max_depth=2, random_state=0).fit(X, CLASSES),
    "kernel": TreeNTKRegressor(alpha=1.0).fit(X, y),
    "kernel classes": TreeNTKClassifier(alpha=1.0).fit(X, CLASSES),
}

# What stands for no value.
NONSENSE = [
    {},
    {"type": None},
    {"type": "unknown"},
    {"type": "float", "value": "1.0"},
    {"type": "float", "value": None},
    {"type": "float"},
    {"type": "array", "number": 0},
    {"type": "array", "number": -1},
    {"type": "array", "number": True},
    {"type": "array list", "values": 0, "offsets": 0},
    {"type": "numpy text", "value": 1},
    {"type": "numpy scalar", "dtype": "O", "bytes": "00" * 8},
    {"type": "numpy scalar", "dtype": "nothing", "bytes": ""},
    {"type": "numpy scalar", "dtype": "<f8", "bytes": "00"},
    {"type": "numpy scalar", "dtype": "<f8", "bytes": "zz"},
    {"type": "numpy scalar", "dtype": "|b1", "bytes": "02"},
    {"type": "object array", "shape": [3], "items": [1]},
    {"type": "object array", "shape": [-1, -1], "items": [1]},
    {"type": "object array", "shape": [1 << 62, 1 << 62, 0], "items": []},
    {"type": "tuple", "items": {}},
    {"type": "dict", "items": [[1]]},
    {"type": "dict", "items": [[[], 1]]},
    {"type": "dict", "items": [[1, 1], [1, 2]]},
    {"type": "object", "class": "FCODTRegressor", "fields": {"depth": 3}},
    {"type": "object", "class": "SoftTreeRegressor", "fields": {}},
    {"type": "object", "class": "ObliqueTree", "fields": {}},
    {"type": "object", "class": "ObliqueTree", "fields": None},
    {"type": "object", "class": "SymmetricTrees", "fields": {"split_feature": 1}},
    {"type": "random stream", "class": "Random", "state": None},
    {"type": "random stream", "class": "Generator", "state": None},
]


def refused(path, content, match=""):
    """Asserts that a file with this content is refused as it has to be."""
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        load_model(path)
    assert type(caught.value) is ValueError
    named, why = str(caught.value).split(f"{str(path)!r}: ", 1)  # the path holds words of the test's name
    assert named.endswith("from ") and re.search(match, why), why


def sealed(write):
    """A zip file that ``write(archive)`` fills, with the mark and the digest at its end."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        write(archive)
        archive.comment = MARK + b"0" * 64
    return resealed(buffer.getvalue())


def resealed(content):
    """The file with the digest that its other bytes have."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def npy(array, **options):
    """The bytes of an npy member."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def file_of(header, arrays):
    """A file with this header (JSON or bytes) and these arrays (or bytes in their place)."""

    def write(archive):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        archive.writestr(HEADER_NAME, text)
        for index, array in enumerate(arrays):
            archive.writestr(array_name(index), array if isinstance(array, bytes) else npy(array))

    return sealed(write)


def parts_of(model, path):
    """The header and the arrays of the model's file, to be changed."""
    save_model(model, path)
    with np.load(path) as content:
        header = json.loads(content[HEADER_NAME])
        arrays = [content[name] for name in content.files if name != HEADER_NAME]
    return header, arrays


class Forgery:
    """A model's header and arrays, and ways to change what is at a path of attributes."""

    def __init__(self, name, path):
        self.path = path
        self.header, self.arrays = parts_of(MODELS[name], path)

    def _code(self, where):
        attribute, *fields = where.split(".")
        code = self.header["attributes"][attribute]
        for field in fields:
            code = code["fields"][field] if field.isidentifier() else code[int(field)]
        return code

    def change_array(self, where, change):
        code = self._code(where)
        number = code["number" if "number" in code else "values"]
        # The array may be part of other values, which stay as they are.
        self.arrays.append(np.array(change(self.arrays[number].copy())))
        code["number" if "number" in code else "values"] = len(self.arrays) - 1

    def set(self, where, value):
        *parents, last = where.split(".")
        attributes = self.header["attributes"]
        entry = self._code(".".join(parents))["fields"] if parents else attributes
        entry[last] = value

    def remove(self, where):
        *parents, last = where.split(".")
        attributes = self.header["attributes"]
        del (self._code(".".join(parents))["fields"] if parents else attributes)[last]

    def refused(self, match):
        used = set(_numbers(self.header))
        renumbered = {old: new for new, old in enumerate(sorted(used))}
        arrays = [self.arrays[number] for number in sorted(used)]
        refused(self.path, file_of(_renumber(self.header, renumbered), arrays), match)


_NUMBERS = ("number", "values", "offsets")


def _numbers(node):
    if isinstance(node, dict):
        named = node.get("type") in ("array", "array list")
        for key, value in node.items():
            yield from [value] if named and key in _NUMBERS else _numbers(value)
    elif isinstance(node, list):
        for value in node:
            yield from _numbers(value)


def _renumber(node, numbers):
    if isinstance(node, dict):
        named = node.get("type") in ("array", "array list")
        return {
            key: numbers[value] if named and key in _NUMBERS else _renumber(value, numbers)
            for key, value in node.items()
        }
    return [_renumber(value, numbers) for value in node] if isinstance(node, list) else node


def put(index, value):
    """The change that sets an element."""

    def change(array):
        array[index] = value
        return array

    return change


def as_type(dtype):
    return lambda array: array.astype(dtype)


def cut(*slices):
    return lambda array: array[slices]
