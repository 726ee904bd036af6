"""Values of a model file: whatever can be encoded comes back the same, type and bits."""

import json

import numpy as np
import pytest
from fctree.persistence.encoding import Decoder, Encoder
from fctree.persistence.registry import STORED_CLASSES
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**130), 2**130),
    st.floats(),
    st.text(st.characters()),  # lone surrogates included
)
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(endianness="?"),
    hnp.datetime64_dtypes(),
    hnp.timedelta64_dtypes(),
    hnp.unicode_string_dtypes(endianness="?", min_len=1),
    hnp.byte_string_dtypes(min_len=1),
)


@st.composite
def arrays(draw):
    """Arrays of all types and layouts: reversed, with gaps, in Fortran's order, empty, 0-d."""
    array = draw(
        hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    )
    layout = draw(st.sampled_from(["C", "F", "reversed", "gaps", "readonly"]))
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "reversed" and array.ndim:
        return array[::-1]
    if layout == "gaps" and array.ndim:
        return array[..., ::2]
    if layout == "readonly":
        array.flags.writeable = False
    return array


def object_array(items):
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array


scalars = hnp.arrays(
    st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(),
        hnp.floating_dtypes(),
        hnp.complex_number_dtypes(),
        hnp.datetime64_dtypes(),
        hnp.unicode_string_dtypes(),
    ),
    (),
).map(lambda array: array[()])
keys = st.one_of(plain, st.tuples(plain, st.integers()))
values = st.recursive(
    st.one_of(plain, arrays(), scalars),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.lists(inner, max_size=4).map(object_array),
        st.lists(hnp.arrays(np.float64, st.integers(0, 3)), max_size=4),
    ),
    max_leaves=8,
)


def through_json(value):
    encoder = Encoder(STORED_CLASSES)
    code = encoder.encode(value, "the value")
    decoder = Decoder(encoder.arrays, STORED_CLASSES)
    decoded = decoder.decode(json.loads(json.dumps(code, allow_nan=False)))
    decoder.check_all_used()
    return decoded


def assert_same(read, written):
    assert type(read) is type(written)
    if isinstance(written, (np.ndarray, np.generic)):
        assert (read.dtype, read.shape) == (written.dtype, written.shape)
        if written.dtype == object:
            assert_same(read.ravel().tolist(), written.ravel().tolist())
        else:
            assert read.tobytes() == written.tobytes()
    elif isinstance(written, dict):
        assert_same(list(read.items()), list(written.items()))
    elif isinstance(written, (list, tuple)):
        assert len(read) == len(written)
        for pair in zip(read, written, strict=True):
            assert_same(*pair)
    else:
        assert repr(read) == repr(written)  # tells -0.0 from 0.0, and nan is nan


@given(values)
@example([np.array([1.5], dtype=">f8"), np.array([], dtype=">f8")])  # as one member of the file
def test_values_come_back(value):
    assert_same(through_json(value), value)


@given(hnp.arrays(object, hnp.array_shapes(min_dims=0, min_side=0), elements=plain))
def test_object_arrays_keep_their_shape(array):
    assert_same(through_json(array), array)


@given(st.lists(hnp.arrays(np.float64, st.integers(0, 5)), min_size=2, max_size=9))
def test_lists_of_arrays_take_two_members(values):
    encoder = Encoder(STORED_CLASSES)
    encoder.encode(values, "the value")
    assert len(encoder.arrays) == 2
    assert_same(through_json(values), values)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["nan", "<f8", "O", "00" * 8, "RandomState", "ObliqueTree", "SFC64"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(
            lambda kind, entries: {"type": kind, **entries},
            st.sampled_from([*Decoder._REBUILD, "other"]),
            st.dictionaries(
                st.sampled_from(
                    ["value", "dtype", "bytes", "number", "values", "offsets", "shape", "items"]
                    + ["class", "state", "fields"]
                ),
                inner,
            ),
        ),
    ),
)


@given(json_values)
def test_any_json_is_a_value_or_a_value_error(code):
    try:
        Decoder([np.arange(3)], STORED_CLASSES).decode(code)
    except ValueError:
        pass


@pytest.mark.parametrize("kind", sorted(Decoder._REBUILD))
@given(entries=st.data())
def test_the_entries_of_each_type_may_hold_anything(kind, entries):
    _, names = Decoder._REBUILD[kind]
    code = {"type": kind, **{name: entries.draw(json_values) for name in names}}
    test_any_json_is_a_value_or_a_value_error.hypothesis.inner_test(code)
