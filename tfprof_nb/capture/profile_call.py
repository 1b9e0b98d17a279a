"""Record one call: every eager tensor and variable during its life, and every op that Python runs."""

import gc
import itertools
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof_nb.capture.tensorflow import tensorflow


class Change(NamedTuple):
    """An allocation (``sign`` 1) or deallocation (-1) of a tensor or variable.

    Tensors with the same ``buffer`` share memory: it is the address, or a unique negative number if that is unknown.
    """

    sign: int
    serial: int
    buffer: int
    bytes: int


class EagerOp(NamedTuple):
    """An op or tf.function that Python ran: ``made`` has its outputs' serials, ``at`` the number of changes so far."""

    name: str
    input_shapes: list[list[int]]
    output_shapes: list[list[int]]
    made: list[int]
    at: int


@dataclass(frozen=True, eq=False)
class CallRecord:
    """What happened during a call, in order.

    Attributes
    ----------
    changes
        Allocations and deallocations of tensors and variables.
    ops
        Ops, in the order in which they ended.
    shared
        Serials of tensors that share memory which existed before the call: they add none.
    """

    changes: list[Change] = field(default_factory=list)
    ops: list[EagerOp] = field(default_factory=list)
    shared: set[int] = field(default_factory=set)


@contextmanager
def recorded_call() -> Iterator[CallRecord]:
    """Record the ops of this thread, and the tensors of all threads, while the block runs.

    Everything is appended to lists, which is safe with threads and garbage collection.
    """
    tensorflow()
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.framework import op_callbacks

    watch = _Watch()
    pywrap_tfe.TFE_Py_SetEagerTensorProfiler(watch)
    op_callbacks.add_op_callback(watch.ran)
    try:
        yield watch.record
        gc.collect()  # what only a reference cycle holds does not count as kept
        watch.count_variables()
    finally:
        op_callbacks.remove_op_callback(watch.ran)
        pywrap_tfe.TFE_Py_SetEagerTensorProfiler(None)
        watch.alive.clear()


class _Watch:
    """Receives every eager tensor and op from TensorFlow."""

    def __init__(self) -> None:
        self.record = CallRecord()
        # Living objects by id: a reference that reports their end, and their allocation.
        self.alive: dict[int, tuple[weakref.ref[Any], Change]] = {}
        self._handles: dict[int, weakref.ref[Any]] = {}
        self._variables = _addresses_of_variables()
        self._serials = itertools.count()

    def created(self, tensor: Any) -> None:
        """Called by TensorFlow with every new eager tensor, while it is constructed."""
        if tensor.dtype.name == "resource":
            self._handles[id(tensor)] = weakref.ref(tensor)
        elif tensor.dtype.name != "variant":
            change = self._made(tensor, _address(tensor), _size(tensor))
            if change.buffer in self._variables.values():  # ops read variables without a callback
                self.record.shared.add(change.serial)

    def ran(
        self,
        op_type: str | bytes,
        inputs: Sequence[Any],
        attrs: Any,  # noqa: ARG002  (TensorFlow passes it)
        outputs: Sequence[Any],
        op_name: str | None = None,  # noqa: ARG002
        graph: Any = None,
    ) -> None:
        """Called by TensorFlow after every op, also after those that are only traced into a graph."""
        if graph is not None:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        made = [self.alive[id(output)][1] for output in outputs if id(output) in self.alive]
        if name == "AssignVariableOp":
            made += self._assigned(*inputs[:2])
        there_before = self._there_before(inputs)
        self.record.shared.update(
            change.serial for change in made if name == "ReadVariableOp" or change.buffer in there_before
        )
        serials = [change.serial for change in made]
        self.record.ops.append(EagerOp(name, _shapes(inputs), _shapes(outputs), serials, len(self.record.changes)))

    def count_variables(self) -> None:
        """Count the variables that a tf.function made while it was traced, and initialised itself."""
        for variable in living_variables():
            known = self._handles.get(id(variable.handle))
            if known is not None and known() is variable.handle and id(variable.handle) not in self.alive:
                self._made(variable.handle, 0, _size(variable))

    def _there_before(self, inputs: Sequence[Any]) -> set[int]:
        """Return the addresses of an op's inputs that existed before the call, or share such memory."""
        known = [self.alive.get(id(tensor)) for tensor in inputs]
        return {
            made[1].buffer if made else _address(tensor)
            for tensor, made in zip(inputs, known, strict=True)
            if made is None or made[1].serial in self.record.shared
        } - {0}

    def _assigned(self, handle: Any, value: Any) -> list[Change]:
        """Record that a variable got a value: if this call made the variable, it now holds the value's memory."""
        self._variables.pop(id(handle), None)
        known = self._handles.get(id(handle))
        if known is None or known() is not handle:
            return []
        if id(handle) in self.alive:
            self._ended(id(handle))
        buffer = self.alive[id(value)][1].buffer if id(value) in self.alive else 0
        return [self._made(handle, buffer, _size(value))]

    def _made(self, owner: Any, buffer: int, size: int) -> Change:
        serial, key = next(self._serials), id(owner)
        change = Change(1, serial, buffer or -1 - serial, size)
        self.alive[key] = weakref.ref(owner, lambda _: self._ended(key)), change
        self.record.changes.append(change)
        return change

    def _ended(self, key: int) -> None:
        if ended := self.alive.pop(key, None):
            self.record.changes.append(ended[1]._replace(sign=-1))


def living_variables() -> list[Any]:
    """Return all variables of the process."""
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

    # Not isinstance, which asks the object: some objects import modules when they are asked.
    return [each for each in gc.get_objects() if issubclass(type(each), BaseResourceVariable)]


def _addresses_of_variables() -> dict[int, int]:
    """Return the addresses of variables, by the id of their handle."""
    addresses = {}
    for variable in living_variables():
        with suppress(Exception):  # variables of graphs, and variables without a value
            addresses[id(variable.handle)] = _address(variable.value())
    return {handle: address for handle, address in addresses.items() if address}


def _address(tensor: Any) -> int:
    """Return the address of a tensor's numbers in the host's memory; 0 if it is elsewhere or unknown."""
    if "CPU" not in (getattr(tensor, "backing_device", None) or ""):
        return 0
    try:
        return int(np.asarray(memoryview(tensor)).__array_interface__["data"][0])
    except (BufferError, TypeError, ValueError):  # strings, variables, bfloat16 and smaller
        return 0


def _size(tensor: Any) -> int:
    """Return the bytes of a tensor's numbers; for strings, of their text."""
    if tensor.dtype.name == "string":
        return sum(map(len, np.ravel(tensor.numpy())))
    return int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)  # a variable's shape can be unknown


def _shapes(tensors: Sequence[Any]) -> list[list[int]]:
    return [list(tensor.shape) for tensor in tensors]
