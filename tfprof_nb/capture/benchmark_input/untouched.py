"""Put back what running a pipeline changes: random states of Python, NumPy and TensorFlow, and variables it writes."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfprof_nb.capture.benchmark_input.stages import Function


@contextmanager
def untouched(functions: Sequence[Function]) -> Iterator[None]:
    """Leave random states, and the variables that the functions can write, as they were before the block."""
    from tensorflow.python.eager import context

    tensorflows = getattr(context.context(), "_rng", None)  # draws seeds of ops that have none
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the user's is the old one
    of_tensorflow = tensorflows.getstate() if tensorflows else None
    variables = [(handle, value) for function in functions for handle, value in _variables(function)]
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002
        if tensorflows:
            tensorflows.setstate(of_tensorflow)
        for handle, value in variables:
            _assign(handle, value)


def _variables(function: Function) -> Iterator[tuple[Any, Any]]:
    from tensorflow.python.ops import gen_resource_variable_ops

    for tensor in function.captured:
        held = getattr(tensor, "_handle_data", None) if tensor.dtype.name == "resource" else None
        if held is not None and len(held.shape_and_type) == 1:  # else it is a table or another resource
            yield tensor, gen_resource_variable_ops.read_variable_op(tensor, held.shape_and_type[0].dtype)


def _assign(handle: Any, value: Any) -> None:
    from tensorflow.python.ops import gen_resource_variable_ops

    gen_resource_variable_ops.assign_variable_op(handle, value)
