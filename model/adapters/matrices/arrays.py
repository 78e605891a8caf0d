"""Arrays of NPZ and NPY files: their headers are looked at before a number is read, and nothing is ever unpickled."""

import io
import math
import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np

from model.adapters.matrices.problem import MatrixError

_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, KeyError)
_NO_HEADER = (
    ValueError,
    EOFError,
    SyntaxError,
    tokenize.TokenError,
    TypeError,
    MemoryError,
    RecursionError,
    KeyError,
    OverflowError,
)


def unpacked(data: bytes, limit: int) -> dict[str, Any]:
    """The arrays of an NPZ by name. What it unpacks to is known before it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            if (size := sum(entry.file_size for entry in entries)) > limit:
                raise MatrixError("unpacks", given=size, limit=limit)
            if not entries:
                raise _no_arrays(archive.namelist())
            names = [entry.filename.removesuffix(".npy") for entry in entries]
            return {name: array(archive.read(entry), name[:80]) for name, entry in zip(names, entries, strict=True)}
    except MatrixError:
        raise
    except _DAMAGED as error:
        raise MatrixError("npz", reason=first_line(error)) from None


def _no_arrays(names: list[str]) -> MatrixError:
    """What an archive is that holds no array: one of torch.save, an empty NPZ, or any other ZIP."""
    if any(name.rpartition("/")[2] == "data.pkl" for name in names):
        return MatrixError("pickle")
    given = ", ".join(repr(name[:40]) for name in names[:3]) or "nothing"
    return MatrixError("no_arrays", given=given)


def array(data: bytes, name: str) -> Any:
    """The array of an NPY file whose header agrees with its length."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, columns_first, dtype = reader(stream)
    except _NO_HEADER as error:
        raise MatrixError("array", array=name, reason=first_line(error)) from None
    if dtype.hasobject:
        raise MatrixError("objects", array=name)
    given, needed = len(data) - stream.tell(), math.prod(shape) * dtype.itemsize
    if given < needed or min(shape, default=0) < 0:
        raise MatrixError("array", array=name, reason=f"{given:,} of {needed:,} bytes")
    try:
        flat = np.frombuffer(data, dtype, math.prod(shape), stream.tell())
        return flat.reshape(shape, order="F" if columns_first else "C")
    except (ValueError, TypeError, OverflowError) as error:
        raise MatrixError("array", array=name, reason=first_line(error)) from None


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
