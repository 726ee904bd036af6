"""Saving and loading a model."""

from __future__ import annotations

import io
import json
import os
from typing import IO, Any

from fctree._parameters import fitted_attributes
from fctree._version import __version__
from fctree.persistence.archive import read_archive, read_from, write_archive, write_to
from fctree.persistence.encoding import Decoder, Encoder
from fctree.persistence.metadata_requests import ATTRIBUTE, plain_requests, set_requests
from fctree.persistence.registry import ESTIMATORS, STORED_CLASSES
from fctree.persistence.version_1 import upgraded

FORMAT = "fctree model"
FORMAT_VERSION = 2
_HEADER_ENTRIES = {"format", "format_version", "fctree_version", "class", "params", "attributes"}


def save_model(estimator: Any, path: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write an estimator of fctree, fitted or not, to a file.

    The file holds only text and numbers (``docs/guide/model_files.md`` describes them). Unlike a pickle, it
    can be loaded from an untrusted source and by later versions of fctree. It is written to a temporary
    file next to `path` and then renamed, so an existing file is unchanged if writing fails.

    Parameters
    ----------
    estimator : estimator of fctree
        Estimator to save; not a pipeline and not a subclass. Save preprocessing steps separately.
    path : str, path-like or binary file
        File to write; no suffix is added, and an existing file is replaced. In an open file, such as
        `io.BytesIO`, the model is written at the current position.

    Raises
    ------
    TypeError
        For other objects, and for estimators with attributes that a file cannot hold, such as
        functions; the message names the attribute. Parameters and attributes may be None, booleans,
        numbers, text, NumPy arrays and scalars, random states, and lists, tuples and dicts of
        these; sets and ranges are stored as lists, columns of data frames as arrays.
    ValueError
        If attributes were changed and no longer describe a model.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_model

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import CurvatureTreeRegressor, load_model, save_model
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = CurvatureTreeRegressor(max_depth=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "diabetes.fctree")
    ...     save_model(tree, path)
    ...     loaded = load_model(path)
    >>> bool((loaded.predict(X) == tree.predict(X)).all())
    True
    """
    file: Any = path if hasattr(path, "write") else os.fsdecode(path)
    header, arrays = _describe(estimator)
    # What a file could not be loaded from must not replace one that could.
    _rebuild(header, arrays)
    text = json.dumps(header, ensure_ascii=True, allow_nan=False, indent=1)
    if isinstance(file, str):
        write_archive(file, text.encode("ascii"), arrays)
        return
    content = io.BytesIO()
    write_to(content, text.encode("ascii"), arrays)
    file.write(content.getbuffer())


def load_model(path: str | os.PathLike[str] | IO[bytes]) -> Any:
    """Read an estimator that `save_model` wrote.

    Nothing in the file is executed. Its digest is checked first, then all of its content.

    Parameters
    ----------
    path : str, path-like or binary file
        File to read; an open file is read from the current position to the end.

    Returns
    -------
    estimator : estimator of fctree
        Estimator with the parameters and attributes of the saved one; on the same machine its predictions
        are identical.

    Raises
    ------
    ValueError
        If the file was truncated or altered, has another format or a later version of this one, or does not
        describe a model; the message states which.
    OSError
        If it cannot be read (`FileNotFoundError`, `PermissionError`, `IsADirectoryError`).

    See Also
    --------
    save_model
    """
    file: Any = path if hasattr(path, "read") else os.fsdecode(path)
    try:
        text, arrays = read_archive(file) if isinstance(file, str) else read_from(io.BytesIO(file.read()))
        return _rebuild(_parse(text), arrays)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # Any other error means content that no reader foresaw.
        what = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"cannot load a model from {file!r}: {what}{error}") from error


def _describe(estimator):
    """The header, as what JSON can hold, and the arrays."""
    cls = type(estimator)
    entry = ESTIMATORS.get(cls.__name__)
    if entry is None or entry.cls is not cls:
        remedy = ""
        if hasattr(estimator, "steps"):
            remedy = (
                ". Of a pipeline save the last step, save_model(pipeline[-1], path), and store "
                "what comes before it apart: its parameters and fitted arrays, or by joblib"
            )
        if hasattr(estimator, "to_local"):
            remedy = ". Of a fitted estimator of fctree.dask save the plain one, save_model(model.to_local(), path)"
        raise TypeError(
            f"save_model takes the estimators of fctree itself ({', '.join(ESTIMATORS)}), not a "
            f"{cls.__module__}.{cls.__qualname__}{remedy}"
        )
    encoder = Encoder(STORED_CLASSES)
    params = estimator.get_params(deep=False)
    attributes = fitted_attributes(estimator)
    if ATTRIBUTE in attributes:
        attributes[ATTRIBUTE] = plain_requests(estimator)
    for name in attributes:
        if not _may_be_attribute(cls, name):
            raise TypeError(f"the attribute {name!r} cannot be stored under this name")
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "fctree_version": __version__,
        "class": cls.__name__,
        "params": {
            name: encoder.encode(value, f"the parameter {name}") for name, value in params.items()
        },
        "attributes": {
            name: encoder.encode(value, f"the attribute {name}")
            for name, value in attributes.items()
        },
    }
    return header, encoder.arrays


def _parse(text):
    """The header as a dict of dicts; its values are left to `Decoder`."""
    header = json.loads(
        text.decode("ascii"), parse_constant=_refuse_constant, object_pairs_hook=_without_doubles
    )
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("its header is not that of a model of fctree")
    version = header.get("format_version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version is {version!r}")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"it was written by fctree {header.get('fctree_version')} in version {version} of the "
            f"format, and this is fctree {__version__}, which reads versions up to "
            f"{FORMAT_VERSION}: install a newer fctree"
        )
    if header.keys() != _HEADER_ENTRIES:
        raise ValueError(f"its header has the entries {sorted(header)}")
    return header


def _refuse_constant(name):
    raise ValueError(f"its header holds {name}, which is not JSON")


def _without_doubles(pairs):
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("its header has the same entry twice")
    return mapping


def _rebuild(header, arrays):
    """The estimator that `_describe` gave these for."""
    decoder = Decoder(arrays, STORED_CLASSES)
    params = _decode_all(decoder, header["params"], "parameter")
    attributes = _decode_all(decoder, header["attributes"], "attribute")
    decoder.check_all_used()
    name = header["class"] if isinstance(header["class"], str) else None
    if header["format_version"] == 1:
        name, params, attributes = upgraded(name, params, attributes)
    entry = ESTIMATORS.get(name)
    if entry is None:
        raise ValueError(
            f"it holds a {header['class']!r} of fctree {header['fctree_version']}, a class that "
            f"this fctree, {__version__}, does not have"
        )
    # Parameters that are younger than the file take their defaults.
    unknown = sorted(params.keys() - entry.cls().get_params(deep=False).keys())
    if unknown:
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}")
    for attribute in attributes:
        if attribute in params or not _may_be_attribute(entry.cls, attribute):
            raise ValueError(f"{name} cannot have an attribute {attribute!r}")
    estimator = entry.cls(**params)
    if ATTRIBUTE in attributes:
        set_requests(estimator, attributes.pop(ATTRIBUTE))
    vars(estimator).update(attributes)
    entry.check(estimator)
    return estimator


def _decode_all(decoder, codes, kind):
    if not isinstance(codes, dict):
        raise ValueError(f"the {kind}s of its header must be an object")
    values = {}
    for name, code in codes.items():
        try:
            values[name] = decoder.decode(code)
        except ValueError as error:
            raise ValueError(f"the {kind} {name}: {error}") from error
    return values


def _may_be_attribute(cls, name):
    """Whether an instance can have it without hiding what its class defines."""
    return name.isidentifier() and not name.startswith("__") and not hasattr(cls, name)
