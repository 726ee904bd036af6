"""The container: a zip of a JSON header and npy arrays that ends with a digest of itself.

NumPy opens it like any ``.npz`` file. Only arrays of floats that are almost all zeros are compressed: most files ask for little more
memory than their size, and none for more than a thousand times as much. The archive's comment, the last bytes of the
file, carries the SHA-256 digest of all bytes before the digest: cutting, extending or altering the file anywhere is noticed
before anything in it is interpreted.
"""

import errno
import hashlib
import math
import os
import secrets
import shutil
import stat
import zipfile
import zlib

import numpy as np
from numpy.lib import format as npy

from fctree._zeros import is_mostly_zero

HEADER_NAME = "header.json"
MARK = b"fctree model, SHA-256 of all bytes before these 64: "

_ARRAY_KINDS = "biufcmMUS"  # of dtypes: bytes that mean the same in every process
_DIGEST_LENGTH = 64
_COMMENT_LENGTH = len(MARK) + _DIGEST_LENGTH
_END_RECORD_LENGTH = 22  # of a zip file, without the comment
_CHUNK = 1 << 20
_MOST_COMPRESSED = 1100  # times: deflate can do no more than 1032


def is_storable(dtype):
    """Whether arrays of this type can be members."""
    return dtype.kind in _ARRAY_KINDS and dtype.itemsize > 0


def array_name(index):
    """The member that holds array number ``index``."""
    return f"arrays/{index}.npy"


def write_archive(path, header, arrays):
    """Write a file of a header (bytes) and arrays that `is_storable`, all of it or nothing: a file that was
    there stays until then."""
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target) or not os.path.basename(path):  # a name that ends in a slash is that of a folder
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"{path!r} is not a regular file")
    # In the same folder: a file cannot be renamed onto another file system.
    scratch = os.path.join(folder, f".fctree-{secrets.token_hex(8)}.tmp")
    try:
        with open(scratch, "x+b") as file:
            write_to(file, header, arrays)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, scratch)
        os.replace(scratch, target)
    except BaseException:
        if os.path.exists(scratch):
            os.unlink(scratch)
        raise


def write_to(file, header, arrays):
    """Write a header and arrays to an empty binary file that is open for reading and writing."""
    _write_members(file, header, arrays)
    digest = _digest(file)
    file.seek(-_DIGEST_LENGTH, os.SEEK_END)
    file.write(digest)


def _write_members(file, header, arrays):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        # A ZipInfo of its own has a fixed date: equal models give equal files.
        archive.writestr(zipfile.ZipInfo(HEADER_NAME), header)
        for index, array in enumerate(arrays):
            member = zipfile.ZipInfo(array_name(index))
            if is_mostly_zero(array):
                member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as stream:
                npy.write_array(stream, array, allow_pickle=False)
        archive.comment = MARK + b"0" * _DIGEST_LENGTH


def _digest(file):
    """The digest of all bytes but the last 64, as 64 hexadecimal digits."""
    remaining = file.seek(0, os.SEEK_END) - _DIGEST_LENGTH
    file.seek(0)
    digest = hashlib.sha256()
    while remaining > 0:
        chunk = file.read(min(_CHUNK, remaining))
        if not chunk:
            break
        digest.update(chunk)
        remaining -= len(chunk)
    return digest.hexdigest().encode()


def read_archive(path):
    """The header (bytes) and the arrays of a file; ValueError if it is not what `write_archive` writes, or
    was altered since."""
    # Before it is opened: opening a pipe would wait for somebody to write to it.
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError("it is not a regular file")
    with open(path, "rb") as file:
        return read_from(file)


def read_from(file):
    """The header (bytes) and the arrays of an open binary file."""
    _check_digest(file)
    try:
        return _read_members(file)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"the zip archive is not valid: {error}") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # which is what positions before the file give
            raise
        raise ValueError("the zip archive points outside of the file") from error


def _check_digest(file):
    size = file.seek(0, os.SEEK_END)
    end_length = _END_RECORD_LENGTH + _COMMENT_LENGTH
    file.seek(max(0, size - end_length))
    end = file.read()
    if end[_END_RECORD_LENGTH:-_DIGEST_LENGTH] != MARK:
        file.seek(0)
        start = file.read(4)
        if start == b"PK\x03\x04":
            raise ValueError(
                "the file was cut short or extended, or is a zip archive of another program: "
                "the mark of fctree is not at its end"
            )
        raise ValueError("it is not a model file of fctree")
    if _digest(file) != end[-_DIGEST_LENGTH:]:
        raise ValueError("the file was altered: its content does not match its SHA-256 digest")


def _read_members(file):
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        members = {}
        for member in archive.infolist():
            name = member.filename
            if name in members:
                raise ValueError(f"it has two members {name!r}")
            deflated = member.compress_type == zipfile.ZIP_DEFLATED and name != HEADER_NAME
            if not (deflated or member.compress_type == zipfile.ZIP_STORED):
                raise ValueError(f"member {name!r} is compressed as it must not be")
            if member.file_size > member.compress_size * (_MOST_COMPRESSED if deflated else 1):
                raise ValueError(f"member {name!r} does not lie inside the file")
            members[name] = member
        if sum(member.compress_size for member in members.values()) > size:
            raise ValueError("its members are larger than the file")
        if HEADER_NAME not in members:
            raise ValueError(f"member {HEADER_NAME!r} is missing")
        header = archive.read(members.pop(HEADER_NAME))
        arrays = []
        for index in range(len(members)):
            name = array_name(index)
            if name not in members:
                unknown = ", ".join(sorted(map(repr, members)))
                raise ValueError(f"member {name!r} is missing, beside {unknown}")
            member = members.pop(name)
            with archive.open(member) as stream:
                arrays.append(_read_array(stream, member))
    return header, arrays


def _read_array(stream, member):
    name = member.filename
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"member {name!r} has version {version} of the npy format")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read_header(stream)
    if not is_storable(dtype):
        raise ValueError(f"member {name!r} holds values of type {dtype}, which is not allowed")
    if dtype.kind != "f" and member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"member {name!r} is compressed as it must not be")
    n_bytes = math.prod(shape) * dtype.itemsize
    if member.file_size - stream.tell() != n_bytes:
        raise ValueError(f"member {name!r} does not have the length that its shape asks for")
    raw = np.empty(n_bytes, dtype=np.uint8)
    view = memoryview(raw)
    for begin in range(0, n_bytes, _CHUNK):
        length = min(_CHUNK, n_bytes - begin)
        part = stream.read(length)
        if len(part) < length:
            raise ValueError(f"member {name!r} is shorter than its array")
        view[begin : begin + length] = part
    order = "F" if fortran_order else "C"
    if n_bytes == 0:
        return np.empty(shape, dtype=dtype, order=order)
    check_bytes(raw, dtype, f"member {name!r}")
    return raw.view(dtype).reshape(shape, order=order)


def check_bytes(raw, dtype, name):
    """Raise ValueError for bytes (a uint8 array) that are no value of ``dtype``.

    Only two types have such bytes; compiled code trusts that it never meets them.
    """
    if dtype.kind == "b" and raw.max(initial=0) > 1:
        raise ValueError(f"{name} has bytes that are neither True nor False")
    if dtype.kind == "U":
        characters = raw.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if characters.max(initial=0) > 0x10FFFF:
            raise ValueError(f"{name} has characters that do not exist")
