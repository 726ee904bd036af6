"""Values to JSON and arrays, and back.

None, booleans, integers, finite floats, text and lists are plain JSON. Everything else is an
object with a ``"type"``: the names are those of the methods ``_from_..`` of
`Decoder`. An array is the number of the member that holds it.
"""

import math
from itertools import pairwise

import numpy as np

from fctree._tables.frames import library_of
from fctree.persistence.archive import check_bytes, is_storable
from fctree.persistence.random_streams import STREAM_CLASSES, restore_stream, stream_state

_SCALAR_KINDS = "biufcmM"
_MOST_NESTED = 32
_MOST_BITS = 4096  # of an integer; JSON readers convert at quadratic cost
_MOST_USES = 8  # of one array: each costs a reader memory and time again


class Encoder:
    """Collects the ``arrays`` of the values that it encodes; ``stored_classes`` are by name."""

    def __init__(self, stored_classes):
        self.arrays = []
        self._numbers = {}
        self._n_uses = {}
        self._stored_classes = stored_classes

    def encode(self, value, where, nested=0):
        """``value`` as what JSON can hold; TypeError, in which ``where`` names it, if a model file cannot
        hold it."""
        if nested > _MOST_NESTED:
            raise TypeError(f"{where} is nested more than {_MOST_NESTED} deep")
        value = _as_stored(value)
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if value.bit_length() > _MOST_BITS:
                raise TypeError(f"{where} is an integer of more than {_MOST_BITS} bits")
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"type": "float", "value": repr(value)}
        if isinstance(value, np.generic):
            return self._numpy_scalar(value, where)
        if type(value) in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), where, nested)
        if type(value) in (list, tuple, dict):
            return self._collection(value, where, nested)
        if type(value) in STREAM_CLASSES.values():
            return self._random_stream(value, where, nested)
        stored = self._stored_classes.get(type(value).__name__)
        if stored is not None and stored.cls is type(value):
            fields = self._mapping(stored.fields_of(value), where, nested)
            return {"type": "object", "class": stored.cls.__name__, "fields": fields}
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise TypeError(f"{where} is of type {kind}, which a model file cannot hold")

    def _numpy_scalar(self, value, where):
        if type(value) is np.str_:
            return {"type": "numpy text", "value": str(value)}
        if value.dtype.kind not in _SCALAR_KINDS:
            raise TypeError(f"{where} is of type {value.dtype}, which a model file cannot hold")
        return {"type": "numpy scalar", "dtype": value.dtype.str, "bytes": value.tobytes().hex()}

    def _array(self, array, where, nested):
        if array.dtype == object:
            items = self._items(array.ravel(), where, nested)
            return {"type": "object array", "shape": list(array.shape), "items": items}
        if not is_storable(array.dtype):
            raise TypeError(
                f"{where} is an array of type {array.dtype}, which a model file cannot hold"
            )
        return {"type": "array", "number": self._number(array)}

    def _number(self, array):
        # An array that a model holds twice is written once. The list keeps arrays alive, so
        # that no other one can get the id of one that is gone.
        number = self._numbers.get(id(array))
        if number is None or self._n_uses[number] == _MOST_USES:
            number = self._numbers[id(array)] = len(self.arrays)
            self._n_uses[number] = 0
            self.arrays.append(array)
        self._n_uses[number] += 1
        return number

    def _items(self, values, where, nested):
        return [
            self.encode(item, f"{where}[{index}]", nested + 1) for index, item in enumerate(values)
        ]

    def _mapping(self, mapping, where, nested):
        return {
            name: self.encode(item, f"{where}.{name}", nested + 1) for name, item in mapping.items()
        }

    def _collection(self, value, where, nested):
        if type(value) is dict:
            items = [
                [
                    self.encode(key, f"a key of {where}", nested + 1),
                    self.encode(item, f"{where}[{key!r}]", nested + 1),
                ]
                for key, item in value.items()
            ]
            return {"type": "dict", "items": items}
        if type(value) is tuple:
            return {"type": "tuple", "items": self._items(value, where, nested)}
        if _is_ragged(value):
            # One member instead of one for each feature of wide data.
            offsets = np.cumsum([0, *map(len, value)], dtype=np.int64)
            return {
                "type": "array list",
                "values": self._number(np.concatenate(value, dtype=value[0].dtype)),
                "offsets": self._number(offsets),
            }
        return self._items(value, where, nested)

    def _random_stream(self, stream, where, nested):
        try:
            state = stream_state(stream)
        except TypeError as error:
            raise TypeError(f"{where} cannot be stored: {error}") from None
        return {
            "type": "random stream",
            "class": type(stream).__name__,
            "state": self.encode(state, where, nested + 1),
        }


def _as_stored(value):
    """Sets and ranges as lists, columns and indices of data frames as arrays, anything else as it is."""
    if type(value) in (set, frozenset):
        try:
            return sorted(value)  # whose own order may be another in the next process
        except TypeError:  # of names and numbers
            return sorted(value, key=repr)
    if type(value) is range:
        return list(value)
    if library_of(value) in ("pandas", "polars") and len(getattr(value, "shape", ())) == 1:
        return np.asarray(value)
    return value


def _is_ragged(values):
    """Whether these are arrays with one axis and one dtype, two or more of them."""
    return (
        len(values) > 1
        and all(type(item) is np.ndarray and item.ndim == 1 for item in values)
        and values[0].dtype.kind in _SCALAR_KINDS
        and all(item.dtype == values[0].dtype for item in values)
    )


class Decoder:
    """Rebuilds values from JSON and the arrays of a file."""

    def __init__(self, arrays, stored_classes):
        self._arrays = arrays
        self._stored_classes = stored_classes
        self._n_uses = [0] * len(arrays)

    def decode(self, code, nested=0):
        """The value that `Encoder.encode` gave this code for; ValueError for anything else."""
        if nested > _MOST_NESTED:
            raise ValueError(f"values are nested more than {_MOST_NESTED} deep")
        if isinstance(code, list):
            return [self.decode(item, nested + 1) for item in code]
        if not isinstance(code, dict):
            return code
        rebuild, expected = self._REBUILD.get(_text(code, "type"), (None, ()))
        if rebuild is None:
            raise ValueError(f"there is no type of value called {code['type']!r}")
        if code.keys() != {"type", *expected}:
            raise ValueError(f"a value of type {code['type']!r} has the entries {sorted(code)}")
        return rebuild(self, code, nested)

    def check_all_used(self):
        """Raise ValueError if some array of the file belongs to no value."""
        unused = [number for number, n_uses in enumerate(self._n_uses) if n_uses == 0]
        if unused:
            raise ValueError(f"the arrays {unused[:10]} belong to no value")

    def _take(self, number, most_uses=_MOST_USES):
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ValueError(f"array {number!r} is missing, there are {len(self._arrays)}")
        self._n_uses[number] += 1
        if self._n_uses[number] > most_uses:
            raise ValueError(f"array {number} is used by more than {most_uses} value(s)")
        return self._arrays[number]

    def _from_float(self, code, nested):
        if code["value"] not in ("nan", "inf", "-inf"):
            raise ValueError(f"{code['value']!r} is not a float that needs a type")
        return float(code["value"])

    def _from_numpy_text(self, code, nested):
        return np.str_(_text(code, "value"))

    def _from_numpy_scalar(self, code, nested):
        try:
            dtype = np.dtype(_text(code, "dtype"))
        except TypeError as error:
            raise ValueError(f"{code['dtype']!r} is not a type of NumPy") from error
        raw = np.frombuffer(bytes.fromhex(_text(code, "bytes")), dtype=np.uint8)
        if dtype.kind not in _SCALAR_KINDS or raw.size != dtype.itemsize:
            raise ValueError(f"a numpy scalar of type {dtype} has {raw.size} bytes")
        check_bytes(raw, dtype, "a numpy scalar")
        return raw.view(dtype)[0]

    def _from_array(self, code, nested):
        return self._take(code["number"])

    def _from_array_list(self, code, nested):
        # A list makes an array of each offset, so that it shares its members with no other.
        values, offsets = self._take(code["values"], 1), self._take(code["offsets"], 1)
        if (
            values.ndim != 1
            or offsets.ndim != 1
            or offsets.dtype != np.int64
            or len(offsets) < 2
            or offsets[0] != 0
            or offsets[-1] != len(values)
            or np.any(offsets[1:] < offsets[:-1])
        ):
            raise ValueError("the offsets of a list of arrays do not fit its values")
        return [values[begin:end] for begin, end in pairwise(offsets.tolist())]

    def _from_object_array(self, code, nested):
        items, shape = _list(code, "items"), _list(code, "shape")
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"an object array has the shape {shape}")
        if math.prod(shape) != len(items):
            raise ValueError(f"an object array of shape {shape} has {len(items)} items")
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = self.decode(item, nested + 1)
        return array.reshape(shape)

    def _from_tuple(self, code, nested):
        return tuple(self.decode(item, nested + 1) for item in _list(code, "items"))

    def _from_dict(self, code, nested):
        items = _list(code, "items")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in items):
            raise ValueError("the items of a dict must be pairs")
        pairs = [[self.decode(part, nested + 1) for part in pair] for pair in items]
        try:
            mapping = dict(pairs)
        except TypeError as error:
            raise ValueError(f"a dict has a key that cannot be one: {error}") from error
        if len(mapping) != len(pairs):
            raise ValueError("a dict has the same key twice")
        return mapping

    def _from_random_stream(self, code, nested):
        return restore_stream(_text(code, "class"), self.decode(code["state"], nested + 1))

    def _from_object(self, code, nested):
        name = _text(code, "class")
        if name not in self._stored_classes:
            raise ValueError(f"there is no stored class called {name!r}")
        if not isinstance(code["fields"], dict):
            raise ValueError(f"the fields of a {name} must be an object")
        fields = {key: self.decode(item, nested + 1) for key, item in code["fields"].items()}
        return self._stored_classes[name].rebuild(fields)

    _REBUILD = {
        "float": (_from_float, ("value",)),
        "numpy text": (_from_numpy_text, ("value",)),
        "numpy scalar": (_from_numpy_scalar, ("dtype", "bytes")),
        "array": (_from_array, ("number",)),
        "array list": (_from_array_list, ("values", "offsets")),
        "object array": (_from_object_array, ("shape", "items")),
        "tuple": (_from_tuple, ("items",)),
        "dict": (_from_dict, ("items",)),
        "random stream": (_from_random_stream, ("class", "state")),
        "object": (_from_object, ("class", "fields")),
    }


def _text(code, key):
    if not isinstance(code.get(key), str):
        raise ValueError(f"the entry {key!r} of a value must be text")
    return code[key]


def _list(code, key):
    if not isinstance(code[key], list):
        raise ValueError(f"the entry {key!r} of a value must be a list")
    return code[key]
