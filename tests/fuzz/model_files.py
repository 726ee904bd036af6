"""Mutated model files: whatever is in one, it is refused or gives a model that can be used.

A case is a file of some estimator that is changed where its structure is (values of the header,
arrays, members) or where it lies (bits, length), with the digest that its content asks for or the
one that it had.
"""

import copy
import hashlib
import io
import json
import os
import pickle
import struct
import tempfile
import zipfile
import zlib
from functools import cache

import numpy as np
import pandas as pd
from fctree import export_text, load_model, save_model
from fctree.persistence.archive import HEADER_NAME, MARK, array_name
from robustness.forged_model_files import NONSENSE, npy, parts_of

from estimators import SMALL, classifies, public_estimators, small
from fuzz.hostile_data import pick
from fuzz.outcomes import Refused, check_predictions, outcome

_EXTREMES = [0, 1, -1, 2, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63),
             2**64, 10**30]
_WORDS = ["", "logistic", "erf", "cuda", "poisson", "decision_list", "loo", "all", "ntk", "\0"]
_VALUES = [None, True, False, 0.5, -0.5, 1e308, -1e308, 5e-324, [], [1], *_EXTREMES, *_WORDS,
           {"type": "float", "value": "nan"}, {"type": "float", "value": "inf"},
           {"type": "float", "value": "-inf"}, {"type": "tuple", "items": []},
           {"type": "dict", "items": [[3, 2], [2, 1]]},
           {"type": "numpy scalar", "dtype": "<i8", "bytes": "ff" * 8},
           {"type": "numpy scalar", "dtype": "<f8", "bytes": "ff" * 8}, *NONSENSE]
_DTYPES = ["<f8", "<f4", "<i8", "<i4", "<u8", ">f8", ">i8", "|b1", "|u1", "<c16", "<U4", "|S3",
           "<M8[s]", "<f2"]


TABLE = pd.DataFrame({
    "few": pd.Categorical(["a", "b", None, "c"] * 12),
    "many": pd.Categorical([f"word {i % 9}" for i in range(48)]),
    "number": np.where(np.arange(48) % 7 == 0, np.nan, np.linspace(-1, 1, 48)),
})


@cache
def base_models():
    """Headers, their text and arrays of small models of every estimator, of different kinds."""
    chance = np.random.default_rng(0)
    X = chance.standard_normal((40, 3))
    y = X[:, 0] + np.abs(X[:, 1])
    several = np.column_stack([y, -X[:, 2]])
    labels = np.searchsorted([0.0, 1.0], y)
    words = np.array(["a", "b", "c"])[labels]
    table = TABLE.iloc[:40]
    variants = [{}, {"loss": "poisson", "posterior_samples": 0}, {"posterior_samples": 2},
                {"batch_norm": False, "fit_intercept": False}, {"leaf_model": "constant"}]
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for cls in public_estimators().values():
            parts.append(parts_of(small(cls), os.path.join(folder, "model")))
            targets = (labels, words, labels > 0) if classifies(cls) else (y, several)
            tried = [(target, {}) for target in targets]
            tried += [(targets[0] if classifies(cls) else np.abs(y), other) for other in variants]
            for target, parameters in tried:
                model = small(cls, **parameters)
                fitted, _ = outcome(model.fit, X, target)
                if not isinstance(fitted, Refused):
                    parts.append(parts_of(model, os.path.join(folder, "model")))
            model = small(cls, categorical_features="from_dtype").fit(table, targets[0])
            parts.append(parts_of(model, os.path.join(folder, "model")))
    for _, arrays in parts:
        _ENCODED.update((id(array), _encoded(array)) for array in arrays)
    return [(header, json.dumps(header), arrays) for header, arrays in parts]


prepare = base_models
_ENCODED = {}  # members of arrays that are unchanged, by the arrays' id


def _encoded(member):
    """The bytes of a member, and their checksum."""
    content = member if isinstance(member, bytes) else npy(member)
    return content, zlib.crc32(content)


def _archive(text, arrays):
    """The result of `file_of`, in a tenth of its time."""
    members = [(HEADER_NAME, (text, zlib.crc32(text)))]
    members += [(array_name(index), _ENCODED.get(id(array)) or _encoded(array))
                for index, array in enumerate(arrays)]
    local, central, offset = [], [], 0
    for name, (content, checksum) in members:
        name, size = name.encode(), len(content)
        sizes = (checksum, size, size, len(name), 0)
        part = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, *sizes) + name + content
        central.append(struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 33, *sizes, 0, 0, 0, 0,
                                   offset) + name)
        local.append(part)
        offset += len(part)
    directory, n = b"".join(central), len(members)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, n, n, len(directory), offset, len(MARK) + 64)
    return _sealed_again(b"".join([*local, directory, end, MARK, b"0" * 64]))


def _change_header(node, chance):
    """Replaces, removes, moves or adds one entry somewhere inside of a JSON value."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = pick(chance, keys)
    inner = node[key]
    if isinstance(inner, (dict, list)) and inner and chance.random() < 0.85:
        _change_header(inner, chance)
        return
    kind = chance.random()
    if kind < 0.15:
        del node[key]
    elif kind < 0.3:
        node[key] = copy.deepcopy(node[pick(chance, keys)])
    elif kind < 0.4 and type(inner) in (int, float):
        node[key] = inner + pick(chance, [1, -1, 0.5])
    elif kind < 0.45 and isinstance(node, list):
        node.append(copy.deepcopy(inner))
    else:
        node[key] = copy.deepcopy(pick(chance, _VALUES))


def _extreme(dtype, chance):
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = [limits.min, limits.max, limits.max // 2, 0, 1, -1, 2, 7, 2**31]
        return min(max(pick(chance, near), limits.min), limits.max)
    if dtype.kind == "f":
        return pick(chance, [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 0.5])
    return np.zeros((), dtype=dtype)[()]


def _change_array(array, arrays, chance):
    """An array of other values, another shape, type or order, or another member."""
    kind = pick(chance, ["values"] * 4 + ["swap", "short", "long", "axes", "type", "order",
                                           "empty", "other", "raw"])
    if kind == "values" and array.size and array.dtype.kind in "iufb":
        array = array.copy()
        for _ in range(chance.integers(1, 4)):
            array.flat[chance.integers(array.size)] = _extreme(array.dtype, chance)
        return array
    if kind == "swap" and array.size > 1:
        flat = array.ravel().copy()
        i, j = chance.integers(flat.size, size=2)
        flat[[i, j]] = flat[[j, i]]
        return flat.reshape(array.shape)
    if kind == "short" and array.ndim:
        return array[: chance.integers(len(array) + 1)].copy()
    if kind == "long" and array.ndim:
        return np.concatenate([array] * int(chance.integers(2, 4)))
    if kind == "axes":
        shapes = [(array.size,), (1, *array.shape), (*array.shape, 1), array.shape[::-1]]
        return array.reshape(pick(chance, shapes))
    if kind == "type":
        with np.errstate(all="ignore"):
            changed, _ = outcome(array.astype, pick(chance, _DTYPES))
        return array if isinstance(changed, Refused) else changed
    if kind == "order":
        return np.asfortranarray(array)
    if kind == "empty":
        return np.zeros((0, *array.shape[1:]), dtype=array.dtype)
    if kind == "raw":
        return _change_member(npy(array), chance)
    return pick(chance, arrays)


def _change_member(content, chance):
    """The bytes of an npy member with another shape or type in its text, or other bits."""
    text = [(b"(", b"(9"), (b"(", b"(0, "), (b",)", b", 99999999999)"), (b"<f8", b"<f4"),
            (b"<i8", b"|O"), (b"False", b"True"), (b"<i8", b"<f8")]
    if chance.random() < 0.7:
        old, new = pick(chance, text)
        changed = content.replace(old, new, 1)
        return changed[: len(content)] if chance.random() < 0.5 else changed
    return _flip(content, chance)


def _change_zip(content, chance):
    """The same members in another archive: another order, twice, compressed, renamed, more of them."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    kind = chance.integers(6)
    if kind == 0:
        members = [members[i] for i in chance.permutation(len(members))]
    elif kind == 1:
        members.append(pick(chance, members))
    elif kind == 2:
        members.append((pick(chance, ["../x", "arrays/", "a" * 300, "arrays/99.npy"]), b"0" * 50))
    elif kind == 3:
        at = chance.integers(len(members))
        members[at] = (members[at][0].swapcase(), members[at][1])
    elif kind == 4:
        del members[chance.integers(len(members))]
    buffer = io.BytesIO()
    how = pick(chance, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=how)
        archive.comment = MARK + b"0" * 64
    return buffer.getvalue()


def _change_text(header, chance):
    """The header as JSON that Python would not write, or not JSON at all."""
    text = json.dumps(header)
    kind = chance.integers(8)
    if kind == 0:
        deep = 10 ** int(chance.integers(1, 6))
        text = text[:-1] + ', "deep": ' + "[" * deep + "]" * deep + "}"
    elif kind == 1:
        text = text.replace(": ", ": " + pick(chance, ["NaN, ", "1e999", "-", "9" * 5000]), 1)
    elif kind == 2:
        text = text[:-1] + ', "class": "FCODTRegressor"}'
    elif kind == 3:
        text = text[: chance.integers(len(text))]
    elif kind == 4:
        text = text.replace('"', '\\ud800"', int(chance.integers(1, 4)))
    elif kind == 5:
        return text.encode(pick(chance, ["utf-16", "utf-32", "utf-8-sig"]))
    return _flip(text.encode(), chance) if kind > 5 else text.encode()


def _exchange(header, chance):
    """The class of another model, or some of its entries."""
    other, _, _ = pick(chance, base_models())
    kind = chance.integers(3)
    if kind == 0:
        header["class"] = other["class"]
    else:
        part = "params" if kind == 1 else "attributes"
        names = list(other[part])
        if names and isinstance(header.get(part), dict):
            name = pick(chance, names)
            header[part][name] = copy.deepcopy(other[part][name])


def _flip(content, chance):
    content = bytearray(content)
    for _ in range(chance.integers(1, 6)):
        content[chance.integers(len(content))] ^= 1 << chance.integers(8)
    return bytes(content)


def _sealed_again(content):
    """The content with its mark and a digest that fits."""
    at = content.rfind(MARK)
    if at < 0:
        return content
    body = content[: at + len(MARK)]
    return body + hashlib.sha256(body).hexdigest().encode()


def mutated_file(chance):
    """The bytes of a changed file."""
    _, text, arrays = pick(chance, base_models())
    header, arrays = json.loads(text), list(arrays)
    for _ in range(pick(chance, [1, 1, 1, 2, 3])):
        if chance.random() < 0.1:
            _exchange(header, chance)
        elif arrays and chance.random() < 0.1:
            i, j = chance.integers(len(arrays), size=2)
            arrays[i], arrays[j] = arrays[j], arrays[i]
        elif arrays and chance.random() < 0.5:
            at = chance.integers(len(arrays))
            if isinstance(arrays[at], np.ndarray):
                plain = [array for array in arrays if isinstance(array, np.ndarray)]
                arrays[at] = _change_array(arrays[at], plain, chance)
        else:
            _change_header(header, chance)
    text = _change_text(header, chance) if chance.random() < 0.05 else json.dumps(header).encode()
    content = _archive(text, arrays)
    if chance.random() < 0.05:
        content = _change_zip(content, chance)
    if chance.random() < 0.05:
        content = _flip(content, chance)
    if chance.random() < 0.05:
        content = content[: chance.integers(len(content))]
    return _sealed_again(content) if chance.random() < 0.9 else content


def run_case(chance, folder):
    """Loads a mutated file and uses the model if there is one."""
    path = os.path.join(folder, "model")
    with open(path, "wb") as file:
        file.write(mutated_file(chance))
    model, _ = outcome(load_model, path)
    if isinstance(model, Refused):
        assert type(model.error) in (ValueError, MemoryError), model.error
        return
    n_features = getattr(model, "n_features_in_", 3)
    X = chance.standard_normal((5, min(n_features, 100)))
    # What is in a forged model need not be finite.
    for rows in (X, TABLE.iloc[3:9], X[:, :1]):
        check_predictions(model, rows, must_accept=False, warned=True)
    for name in dir(type(model)):
        if name.startswith("staged_"):
            outcome(lambda own=name: [len(stage) for stage in getattr(model, own)(X)])
        elif (name.endswith("_") and name[0] != "_") or name.startswith("get_"):
            value, _ = outcome(getattr, model, name, None)
            if callable(value) and "routing" not in name:
                outcome(value)
    for name in ("trees_", "tree_"):
        trees = getattr(model, name, None)
        if trees is not None:
            outcome(trees.apply, X)
            outcome(repr, trees)
    outcome(export_text, model)
    outcome(save_model, model, path + " again")
    outcome(lambda: pickle.loads(pickle.dumps(model)))
    _train_on(chance, model, X)


def _train_on(chance, model, X):
    """Fits go on from what a file says, with few rounds: work is the parameters' wish."""
    names = model.get_params(deep=False)
    outcome(model.set_params, **{name: value for name, value in SMALL.items() if name in names})
    y = chance.integers(2, size=len(X))
    if chance.random() < 0.7:
        y = np.resize(getattr(model, "classes_", y), len(X))
    if "warm_start" in names and chance.random() < 0.7:
        outcome(model.set_params, warm_start=True)
    if hasattr(model, "partial_fit") and chance.random() < 0.5:
        outcome(model.partial_fit, X, y)
    outcome(model.fit, X, y)
    outcome(model.predict, X)
