"""What an event's name says: which op ran, of which type, for which framework; and parts of op names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Objects

MOST_SCOPES = 100
"""How many levels of a name's scopes are told apart; real names have some ten."""


class Category(IntEnum):
    """The kind of operation that a name stands for."""

    UNKNOWN = 0
    TENSORFLOW = 1
    JAX = 2
    TF_DATA = 3
    MEMCPY_H2D = 4
    MEMCPY_D2H = 5
    MEMCPY_D2D = 6
    MEMCPY_H2H = 7
    PYTORCH = 8


class Op(NamedTuple):
    """One parsed name."""

    category: Category
    op_name: str
    op_type: str


@dataclass(frozen=True, eq=False)
class ParsedNames:
    """Parsed names as columns, one entry per name.

    Attributes
    ----------
    category
        Codes of `Category`.
    op_name, op_type
        Texts. An unknown name is kept whole, with an empty type.
    """

    category: npt.NDArray[np.int8]
    op_name: Objects
    op_type: Objects


_TF_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_TF_TYPE = re.compile(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = re.compile(r"[a-z_][a-z0-9_]*(\[.*\])?")
_PYTORCH_NAME = re.compile(r"(?:aten|prims?|c10d|fbgemm|inductor|quantized|torchrec|torchvision)::(\w[\w.]*)")
_NUMBER_SUFFIX = re.compile(r"_\d+$")
_GENERATED = re.compile(r"^__(?:inference|forward|backward)_(.+?)_\d+$")
_CALLS = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")
# TensorFlow writes MEMCPYHtoD, CUPTI and ROCTracer write MemcpyH2D; P2P goes from device to device.
_MEMCPY = re.compile(r"memcpy(h|d|p)(?:to|2)(h|d|p)", re.IGNORECASE)
_MEMCPY_OPS = {
    "hd": (Category.MEMCPY_H2D, "MemcpyHToD"),
    "dh": (Category.MEMCPY_D2H, "MemcpyDToH"),
    "dd": (Category.MEMCPY_D2D, "MemcpyDToD"),
    "pp": (Category.MEMCPY_D2D, "MemcpyDToD"),
    "hh": (Category.MEMCPY_H2H, "MemcpyHToH"),
}


def parse_tf_op(text: str) -> Op:
    """Parse the name of an event, or the value of a ``tf_op``, ``annotation`` or ``level 0`` stat.

    The usual form is ``name:Type``. Iterators of tf.data have the type ``Dataset`` and keep their whole name.

    Examples
    --------
    >>> parse_tf_op("model/dense/MatMul_1:MatMul")
    Op(category=<Category.TENSORFLOW: 1>, op_name='model/dense/MatMul_1', op_type='MatMul')
    >>> parse_tf_op("model/dense/MatMul_1:").op_type
    'MatMul'
    >>> parse_tf_op("MemcpyH2D").category.name
    'MEMCPY_H2D'
    """
    name, colon, op_type = text.partition(":")
    if not colon:
        return _parse_memcpy(text)
    if name == "Iterator":
        return Op(Category.TF_DATA, text, "Dataset")
    if _TF_NAME.fullmatch(name) and _TF_TYPE.fullmatch(op_type):
        return Op(Category.TENSORFLOW, name, op_type)
    if pytorch := _PYTORCH_NAME.fullmatch(text):
        return Op(Category.PYTORCH, text, pytorch[1])
    derived = op_type or _NUMBER_SUFFIX.sub("", name.rpartition("/")[2])
    if _JAX_TYPE.fullmatch(derived):
        return Op(Category.JAX, name, derived.partition("[")[0])
    if not op_type:
        return Op(Category.TENSORFLOW, name, derived)
    return Op(Category.UNKNOWN, text, "")


def without_calls(op_name: str) -> str:
    """Return an op's name as in its own function, without the nodes that called the function.

    Examples
    --------
    >>> without_calls("StatefulPartitionedCall/PartitionedCall_1/model/dense/MatMul")
    'model/dense/MatMul'
    >>> without_calls("StatefulPartitionedCall")
    'StatefulPartitionedCall'
    """
    return _CALLS.sub("", op_name)


def function_name(generated: str) -> str:
    """Return the name of the Python function for which TensorFlow generated a function; other names as they are.

    Examples
    --------
    >>> function_name("__inference_train_step_42"), function_name("MatMul")
    ('train_step', 'MatMul')
    """
    return _GENERATED.sub(r"\1", generated)


def parse_names(names: Objects | Iterable[str]) -> ParsedNames:
    """Parse names, such as `Host.names` or the categories of a text stat; repeated names cost a look-up."""
    known: dict[str, Op] = {}
    ops = [known.get(name) or known.setdefault(name, parse_tf_op(name)) for name in names]
    return ParsedNames(
        np.array([op.category for op in ops], dtype=np.int8),
        np.array([op.op_name for op in ops], dtype=object),
        np.array([op.op_type for op in ops], dtype=object),
    )


def _parse_memcpy(text: str) -> Op:
    match = _MEMCPY.match(text)
    ends = "".join(match.groups()).lower() if match else ""
    category, op_type = _MEMCPY_OPS.get(ends, (Category.UNKNOWN, ""))
    return Op(category, text, op_type)
