"""Files made by hand whose container, header or values nobody would write: a ValueError."""

import copy
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from fctree import FCODTRegressor, load_model
from fctree.persistence.archive import HEADER_NAME, array_name
from fctree.persistence.model_file import FORMAT_VERSION
from robustness.forged_model_files import (
    MODELS,
    NONSENSE,
    file_of,
    npy,
    parts_of,
    refused,
    resealed,
    sealed,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.fixture
def header(path):
    """The header of an unfitted estimator, which has no arrays."""
    header, arrays = parts_of(FCODTRegressor(), path)
    assert arrays == []
    return header


def test_versions_and_classes(header, path):
    later = {**header, "format_version": FORMAT_VERSION + 1, "fctree_version": "9.8", "new": 1}
    refused(path, file_of(later, []), "fctree 9.8 in version .* install a newer fctree")
    for version in (0, -1, True, 1.0, "1", None, []):
        refused(path, file_of({**header, "format_version": version}, []), "format version")
    for name in ("Pipeline", "ObliqueTree", "os.system", None, 1, [], {}):
        refused(path, file_of({**header, "class": name}, []), "does not have")
    refused(path, file_of({**header, "format": "other"}, []), "header is not")
    for entry in header:
        refused(path, file_of({k: v for k, v in header.items() if k != entry}, []), "header|format")
    refused(path, file_of({**header, "more": 1}, []), "entries")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"format": NaN}',
        b'{"format": 1, "format": 1}',
        b"[" * 100_000,
        b"1" * 10_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_headers_that_are_none(text, path):
    refused(path, file_of(text, []))


def test_members(header, path):
    text = json.dumps(header)
    refused(path, sealed(lambda archive: None), "header.json' is missing")
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = sealed(lambda a: [a.writestr(HEADER_NAME, text) for _ in range(2)])
    refused(path, twice, "two members")
    deflated = sealed(lambda a: a.writestr(HEADER_NAME, text, zipfile.ZIP_DEFLATED))
    refused(path, deflated, "compressed as it must not be")
    refused(path, file_of(header, [np.zeros(3)]), r"\[0\] belong to no value")
    strange = sealed(lambda a: (a.writestr(HEADER_NAME, text), a.writestr("x", "")))
    refused(path, strange, "arrays/0.npy' is missing, beside 'x'")

    def encrypted(archive):
        archive.writestr(HEADER_NAME, text)
        archive.getinfo(HEADER_NAME).flag_bits |= 1

    refused(path, sealed(encrypted), "encrypted")

    content = file_of(header, [])
    at = content.rindex(b"PK\x05\x06") + 16  # where the archive's directory begins, and by that its members
    outside = resealed(content[:at] + len(content).to_bytes(4, "little") + content[at + 4 :])
    refused(path, outside, "points outside of the file")
    with pytest.raises(ValueError, match="cannot load a model"):
        load_model(io.BytesIO(outside))

    def overlapping(archive):  # members that would be read many times
        archive.writestr(HEADER_NAME, text)
        archive.writestr(array_name(0), npy(np.zeros(1000)))
        for index in (1, 2):
            member = copy.copy(archive.getinfo(array_name(0)))
            member.filename = array_name(index)
            archive.filelist.append(member)

    refused(path, sealed(overlapping), "larger than the file")


def test_nested_values(header, path):
    header["attributes"]["note"] = note = json.loads("[" * 32 + "1" + "]" * 32)
    path.write_bytes(file_of(header, []))
    assert load_model(path).note == note
    header["attributes"]["note"] = [note]
    refused(path, file_of(header, []), "nested more than 32 deep")


@pytest.mark.parametrize("code, arrays, most", [
    ({"type": "array", "number": 0}, [np.zeros(3)], 8),
    ({"type": "array list", "values": 0, "offsets": 1}, [np.zeros(3), np.array([0, 1, 3])], 1),
])
def test_arrays_used_often(code, arrays, most, header, path):
    """Each use costs memory again."""
    header["attributes"]["note"] = [code] * most
    path.write_bytes(file_of(header, arrays))
    assert len(load_model(path).note) == most
    header["attributes"]["note"] = [code] * (most + 1)
    refused(path, file_of(header, arrays), f"array 0 is used by more than {most} value")


def test_compressed_arrays(header, path):
    """Arrays may be deflated, but not claim more bytes than that could give, or be damaged."""
    member = npy(np.zeros(1 << 17))
    text = json.dumps({**header, "attributes": {**header["attributes"], "note": {"type": "array", "number": 0}}})

    def written(archive, compression=zipfile.ZIP_DEFLATED):
        archive.writestr(HEADER_NAME, text)
        archive.writestr(array_name(0), member, compression)

    path.write_bytes(sealed(written))
    np.testing.assert_array_equal(load_model(path).note, np.zeros(1 << 17))
    assert path.stat().st_size < 1 << 14
    refused(path, sealed(lambda archive: written(archive, zipfile.ZIP_BZIP2)), "compressed as it must not be")
    member = npy(np.zeros(1 << 17, dtype=np.int64))  # as offsets they would ask for far more than their own size
    refused(path, sealed(written), "compressed as it must not be")
    member = npy(np.zeros(1 << 17))
    content = sealed(written)
    # The size that the archive's directory claims, beside the same number in front of the member.
    size = len(member).to_bytes(4, "little")
    at = content.rindex(size)
    refused(path, resealed(content[:at] + (1 << 30).to_bytes(4, "little") + content[at + 4 :]), "inside the file")
    # An array that is longer than its member, and the same claimed of the member.
    member = npy_claiming((1 << 17,), data=np.random.default_rng(0).bytes(1 << 19))
    content = sealed(written)
    at = content.rindex(len(member).to_bytes(4, "little"))
    size = (len(member) + (1 << 19)).to_bytes(4, "little")
    refused(path, resealed(content[:at] + size + content[at + 4 :]), "shorter than its array")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        at = archive.getinfo(array_name(0)).header_offset + 60
    refused(path, resealed(content[:at] + b"\xff" * 20 + content[at + 20 :]))


@pytest.mark.parametrize("name", MODELS)
def test_arrays_that_are_missing(name, path):
    header, arrays = parts_of(MODELS[name], path)
    path.write_bytes(file_of(header, arrays))
    load_model(path)
    refused(path, file_of(header, arrays[:-1]), "missing")
    refused(path, file_of(header, []), "missing")
    refused(path, file_of(header, [*arrays, arrays[0]]), "belong to no value")


class Trap:
    """Leaves a file behind if it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_nothing_is_unpickled(header, path, tmp_path):
    trap = np.array([Trap(str(tmp_path / "sprung")), 1], dtype=object)
    header["attributes"]["note"] = {"type": "array", "number": 0}
    refused(path, file_of(header, [npy(trap, allow_pickle=True)]), "not allowed")
    refused(path, file_of(header, [pickle.dumps(trap)]))
    assert not (tmp_path / "sprung").exists()
    pickle.loads(pickle.dumps(trap))  # the trap works
    assert (tmp_path / "sprung").exists()


def npy_claiming(shape, descr="<f8", data=b""):
    buffer = io.BytesIO()
    entries = {"shape": shape, "fortran_order": False, "descr": descr}
    np.lib.format.write_array_header_1_0(buffer, entries)
    return buffer.getvalue() + data


@pytest.mark.parametrize(
    "member",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x03\x00" + bytes(100),
        npy(np.zeros(3))[:-1],
        npy(np.zeros(3)) + b"\0",
        npy_claiming((1 << 60,)),
        npy_claiming((1 << 40, 1 << 40)),
        npy_claiming((-1, -8), data=bytes(64)),
        npy_claiming((2,), descr="<f8,<f8", data=bytes(32)),
        npy_claiming((1 << 50,), descr="<U0"),
        npy_claiming((2,), descr="|b1", data=b"\x01\x02"),
        npy_claiming((1,), descr="<U1", data=b"\xff\xff\xff\xff"),
        npy_claiming((1,), descr=">U1", data=b"\x00\x11\x00\x00"),
    ],
    ids=lambda member: repr(member[-30:]),
)
def test_arrays_that_are_none(member, header, path):
    header["attributes"]["note"] = {"type": "array", "number": 0}
    refused(path, file_of(header, [member]))


@pytest.mark.parametrize("order, version", [("C", (1, 0)), ("F", (1, 0)), ("C", (2, 0))])
def test_arrays_of_each_order_and_version(order, version, header, path):
    array = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], order=order)
    header["attributes"]["note"] = {"type": "array", "number": 0}
    path.write_bytes(file_of(header, [npy(array, version=version)]))
    np.testing.assert_array_equal(load_model(path).note, array)


@pytest.mark.parametrize("name", ["predict", "__class__", "__dict__", "a b", "alpha", "tree_", ""])
def test_names_of_attributes(name, header, path):
    header["attributes"][name] = 1
    refused(path, file_of(header, []))


def test_parameters(header, path):
    refused(path, file_of({**header, "params": {"new_parameter": 1}}, []), "new_parameter")
    refused(path, file_of({**header, "params": []}, []), "object")
    del header["params"]["alpha"]  # as if it were younger than the file
    path.write_bytes(file_of(header, []))
    assert load_model(path).get_params() == FCODTRegressor().get_params()


@pytest.mark.parametrize("code", NONSENSE, ids=str)
def test_values_that_are_none(code, header, path):
    refused(path, file_of({**header, "attributes": {"note": code}}, []), "attribute note")
    nested = {"type": "tuple", "items": [[code]]}
    refused(path, file_of({**header, "attributes": {"note": nested}}, []), "attribute note")


def file_with_stream(stream, path, change):
    """A file whose random_state has the state that ``change`` makes of this one's."""
    header, arrays = parts_of(FCODTRegressor(random_state=stream), path)
    items = header["params"]["random_state"]["state"]["items"]
    change({pair[0]: pair for pair in items})
    return file_of(header, arrays)


@pytest.mark.parametrize("state_of", [np.random.RandomState, np.random.Generator])
@pytest.mark.parametrize("position", [-1, 625, 1 << 31, 1 << 70, 1.0, None, "0"])
def test_random_streams_never_read_outside_of_their_buffers(state_of, position, path):
    def move_mersenne(entries):
        inner = {pair[0]: pair for pair in entries["state"][1]["items"]}
        inner["pos"][1] = position

    def move_philox(entries):
        entries["buffer_pos"][1] = position

    for kind, change in (("MT19937", move_mersenne), ("Philox", move_philox)):
        stream = state_of(getattr(np.random, kind)(1))
        refused(path, file_with_stream(stream, path, change), "outside of its buffer")


def test_states_that_are_none(path):
    def rename(entries):
        entries["bit_generator"][1] = "PCG64"

    def unknown(entries):
        entries["bit_generator"][1] = "Popen"

    def empty(entries):
        entries["state"][1] = {"type": "dict", "items": []}

    def text(entries):
        entries["state"][1] = "0"

    for change in (rename, unknown, empty, text):
        for kind in ("MT19937", "SFC64"):
            stream = np.random.Generator(getattr(np.random, kind)(1))
            refused(path, file_with_stream(stream, path, change), "random stream|state")


def test_results_of_no_fit_are_refused(tmp_path):
    """A model that one attribute makes look fitted has to be."""
    header, _ = parts_of(FCODTRegressor(), tmp_path / "model")
    header["attributes"]["encoder_"] = None
    refused(tmp_path / "forged", file_of(header, []), match="has encoder_, but is not fitted")


def test_metadata_requests(header, path):
    def requests(*items):
        return {"type": "dict", "items": [list(item) for item in items]}

    weighted = requests(("fit", requests(("sample_weight", True))))
    forged = [
        (None, "not a dict"),
        ([], "not a dict"),
        (requests(("owner", requests())), "a method 'owner'"),
        (requests((1, requests())), "a method 1"),
        (requests(("fit", None)), "of fit are not a dict"),
        (requests(("fit", requests(("X", True)))), "no argument 'X'"),
    ]
    forged += [
        (requests(("fit", requests(("sample_weight", alias)))), "request of sample_weight for fit is")
        for alias in (1, 1.0, "", "a b", "$UNUSED$", [], requests())
    ]
    for code, message in forged:
        header["attributes"]["_metadata_request"] = code
        refused(path, file_of(header, []), message)
    header["attributes"]["_metadata_request"] = weighted
    path.write_bytes(file_of(header, []))
    assert load_model(path).get_metadata_routing().fit.requests == {"sample_weight": True}
