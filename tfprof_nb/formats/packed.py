"""Results as bytes, and back, without pickle: plain values and frames, as JSON with raw arrays behind it.

The layout is ``magic (8 bytes), SHA-256 of the rest (32), length of the JSON (8), JSON, arrays``. What is read runs
nothing and takes no more memory than the bytes and the objects that they spell out.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

_MAGIC = b"tfprofr1"
_HEAD = struct.Struct("<8s32sQ")
# By numpy's names: what else it takes for a name of a type can be code.
_NUMBERS = {np.dtype(kind).str: np.dtype(kind) for kind in ("?", *"bhiqBHIQ", *"efd")}
_MASKED = frozenset({"Int8", "Int16", "Int32", "Int64", "UInt64", "Float64", "boolean"})
_MOST_OBJECTS = 100_000  # of a column of mixed objects: each is a JSON value of its own


class UnpackableError(ValueError):
    """A value of a kind that is not packed, or bytes that were not packed here."""


def pack(value: object) -> bytes:
    """Return a value as bytes.

    Parameters
    ----------
    value
        None, bool, int, float, str; numpy's numbers and arrays; DataFrames; lists, tuples and dicts of these.

    Raises
    ------
    UnpackableError
        It holds something else.

    Examples
    --------
    >>> unpack(pack({"a": (1, float("inf")), "b": [None, "text"]}))
    {'a': (1, inf), 'b': [None, 'text']}
    """
    arrays = _Arrays()
    try:
        text = json.dumps(_packed(value, arrays)).encode()
    except (RecursionError, TypeError, OverflowError) as error:
        raise UnpackableError(str(error)) from None
    text += b" " * (-len(text) % 8)
    rest = b"".join([struct.pack("<Q", len(text)), text, *arrays.parts])
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def unpack(data: bytes) -> Any:
    """Return the value that bytes from `pack` stand for.

    Raises
    ------
    UnpackableError
        The bytes are damaged, or were not made by `pack`.
    """
    if len(data) < _HEAD.size:
        raise UnpackableError("too short")
    magic, checksum, length = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if magic != _MAGIC or hashlib.sha256(memoryview(data)[40:]).digest() != checksum or length > len(body):
        raise UnpackableError("damaged")
    try:
        return _unpacked(json.loads(bytes(body[:length])), _Behind(body[length:]))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise UnpackableError(f"not made by pack: {type(error).__name__}") from None


class _Arrays:
    """The arrays behind the JSON, which refers to them by type, place and length."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, array: npt.NDArray[Any]) -> list[Any]:
        """Append an array of numbers; return the reference to it."""
        if array.dtype.str not in _NUMBERS or array.ndim != 1:
            raise UnpackableError(f"an array of {array.dtype}")
        raw = np.ascontiguousarray(array).tobytes()
        reference = [array.dtype.str, self.size, len(array)]
        self.parts += [raw, bytes(-len(raw) % 8)]
        self.size += len(raw) + -len(raw) % 8
        return reference


def _packed(value: Any, arrays: _Arrays) -> Any:
    """Return JSON for a value: simple values as they are, others as a list that begins with their kind."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic):
        return ["scalar", arrays.add(np.array([value]))]
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return [type(value).__name__, [_packed(each, arrays) for each in value]]
    if type(value) is dict:
        return ["dict", [[_packed(key, arrays), _packed(each, arrays)] for key, each in value.items()]]
    if isinstance(value, np.ndarray):
        return _packed_objects(value, arrays) if value.dtype == object else ["array", arrays.add(value)]
    if isinstance(value, pd.DataFrame) and not value.attrs:
        columns = [_packed_column(value.iloc[:, place], arrays) for place in range(value.shape[1])]
        return ["frame", _packed_index(value.columns, arrays), columns, _packed_index(value.index, arrays)]
    raise UnpackableError(f"a {type(value).__name__}")


def _packed_objects(values: npt.NDArray[np.object_], arrays: _Arrays) -> list[Any]:
    if values.ndim == 1 and all(type(value) is str for value in values):
        codes, texts = pd.factorize(values)
        return ["texts", [str(text) for text in texts], arrays.add(codes)]
    if values.ndim != 1 or len(values) > _MOST_OBJECTS:
        raise UnpackableError("an array of many objects")
    return ["objects", [_packed(value, arrays) for value in values]]


def _packed_column(column: Any, arrays: _Arrays) -> list[Any]:
    """Return JSON for a `Series`, or an `Index` of one level."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return _packed(column.to_numpy(), arrays)  # type: ignore[no-any-return]
    if str(dtype) == "str":  # since pandas 3
        codes, texts = pd.factorize(column)
        return ["str", [str(text) for text in texts], arrays.add(codes)]
    if str(dtype) in _MASKED:
        values = column.to_numpy(dtype.numpy_dtype, na_value=0)
        return ["masked", str(dtype), arrays.add(values), arrays.add(column.isna().to_numpy(bool))]
    raise UnpackableError(f"a column of {dtype}")


def _packed_index(index: Any, arrays: _Arrays) -> list[Any]:
    if isinstance(index, pd.MultiIndex):
        levels = [_packed_index(level, arrays) for level in index.levels]
        return ["levels", levels, [arrays.add(np.asarray(codes)) for codes in index.codes], list(index.names)]
    if isinstance(index, pd.RangeIndex):
        return ["range", index.start, index.stop, index.step, _packed(index.name, arrays)]
    return ["index", _packed_column(index, arrays), _packed(index.name, arrays)]


def _unpacked(node: Any, data: _Behind) -> Any:
    if not isinstance(node, list):
        if isinstance(node, dict):
            raise UnpackableError("an object")
        return node
    kind, *parts = node
    return _READERS[kind](data, *parts)


class _Behind:
    """The bytes of the arrays. All that are read together have no more bytes than there are."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._left = data, len(data)

    def array(self, reference: list[Any]) -> npt.NDArray[Any]:
        """Return a copy of an array."""
        name, at, count = reference
        dtype = _NUMBERS[name]
        self._left -= count * dtype.itemsize
        if min(at, count, self._left) < 0:
            raise UnpackableError("arrays beyond the end")
        return np.frombuffer(self._data, dtype, count, at).copy()


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _texts(data: _Behind, texts: list[str], reference: list[Any]) -> npt.NDArray[np.object_]:
    found: npt.NDArray[np.object_] = _objects([*map(str, texts), np.nan])[data.array(reference)]
    return found  # a missing text's code is -1, the last


def _frame(data: _Behind, columns: Any, values: list[Any], index: Any) -> pd.DataFrame:
    names, rows = _unpacked(columns, data), _unpacked(index, data)
    if not values and len(rows):
        raise UnpackableError("rows of nothing")
    series = [pd.Series(_unpacked(value, data), rows, **_as_it_is(value)) for value in values]
    return pd.DataFrame(dict(enumerate(series)), index=rows).set_axis(names, axis=1)


def _index(data: _Behind, values: list[Any], name: Any) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(_unpacked(values, data), name=_unpacked(name, data), **_as_it_is(values))
    return index


def _as_it_is(values: list[Any]) -> dict[str, Any]:
    """Return what keeps pandas from taking an array of objects for one of texts."""
    return {"dtype": object} if values[0] in ("texts", "objects") else {}


def _masked(data: _Behind, name: str, values: list[Any], mask: list[Any]) -> Any:
    if name not in _MASKED:
        raise UnpackableError(name)
    dtype = pd.api.types.pandas_dtype(name)
    column = dtype.construct_array_type()(data.array(values), data.array(mask))  # type: ignore[union-attr, call-arg]
    if column.dtype != dtype:
        raise UnpackableError(name)
    return column


_READERS: dict[str, Callable[..., Any]] = {
    "scalar": lambda data, reference: data.array(reference)[0],
    "list": lambda data, items: [_unpacked(item, data) for item in items],
    "tuple": lambda data, items: tuple(_unpacked(item, data) for item in items),
    "dict": lambda data, items: {_unpacked(key, data): _unpacked(value, data) for key, value in items},
    "array": lambda data, reference: data.array(reference),
    "texts": _texts,
    "objects": lambda data, items: _objects([_unpacked(item, data) for item in items]),
    "str": lambda data, texts, codes: pd.array(_texts(data, texts, codes), dtype="str"),
    "masked": _masked,
    "frame": _frame,
    "levels": lambda data, levels, codes, names: pd.MultiIndex(
        [_unpacked(level, data) for level in levels], [data.array(each) for each in codes], names=names
    ),
    "range": lambda data, start, stop, step, name: pd.RangeIndex(start, stop, step, name=_unpacked(name, data)),
    "index": _index,
}
