"""Collect the functions that run during a capture: their nodes, lines of code, shapes, operations and Keras layers.

While the capture records, each function that Python calls is only noted, once. All are described when it has ended.
"""

import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from tfprof_nb.capture.graphs.function_nodes import Argument
from tfprof_nb.capture.graphs.keras_layers import batch_of_keras
from tfprof_nb.capture.graphs.section import Root, section
from tfprof_nb.capture.graphs.session_nodes import SessionRuns, noting_sessions
from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import GraphsSection

# How far models are looked for, among how many values of a list or an object, and in whose objects they are not.
_DEPTH, _MOST_HELD = 2, 100
_NOT_USERS = ("builtins", "tensorflow", "keras", "numpy", "pandas", "functools")
MAX_FUNCTIONS = 200
_MAX_FRAMES = 100
_MAX_PIPELINE_STAGES = 50
_LIBRARIES = ("/tensorflow/python/", "/keras/src/")

Ran = dict[bytes, "_Call"]


@dataclass(eq=False)
class _Call:
    """A function that Python called, with what its first call showed.

    Attributes
    ----------
    handles
        TensorFlow's number of each argument, which identifies handles of variables.
    batch
        The batch size of the pipeline that feeds it, if any.
    owners
        The Keras models and Python functions among the callers.
    """

    function: Any
    arguments: list[Argument]
    handles: list[int]
    batch: int | None
    owners: list[Any]


@contextmanager
def graphs() -> Iterator[Gather]:
    """Note the functions and sessions that run while the block runs; yield what describes them afterwards."""
    ran: Ran = {}
    of_pipelines: set[Any] = set()
    sessions: dict[int, SessionRuns] = {}

    def describe() -> GraphsSection | None:
        roots = [_root(call) for call in ran.values()]
        content = section(roots, list(sessions.values()), complete=len(ran) < MAX_FUNCTIONS)
        sessions.clear()
        of_pipelines.clear()
        return content

    with _noting_calls(ran), _holding_functions(of_pipelines), noting_sessions(sessions):
        yield describe


@contextmanager
def _noting_calls(ran: Ran) -> Iterator[None]:
    """Note each function at its first call.

    Every call reads the function's name. Replacing that property, rather than wrapping the call, leaves no frame of
    ours in the traceback of a call that fails. With a TensorFlow that works differently, nothing is noted.
    """
    try:
        from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction

        original, calling = AtomicFunction.__dict__["name"], AtomicFunction.call_flat.__code__
    except (ImportError, AttributeError, KeyError):
        yield
        return

    def name(function: Any) -> bytes:
        own: bytes = function._name  # noqa: SLF001  (the property returns it)
        if own not in ran and len(ran) < MAX_FUNCTIONS:
            frame = sys._getframe(1)  # noqa: SLF001  (the documented way to see who calls)
            if frame.f_code is calling:
                ran[own] = _first_call(function, frame)
        return own

    with replaced(AtomicFunction, "name", property(name, doc=original.__doc__)):
        yield


@contextmanager
def _holding_functions(held: set[Any]) -> Iterator[None]:
    """Keep the functions of pipelines that are made meanwhile: TensorFlow drops them with their pipeline."""
    try:
        from tensorflow.python.data.ops.structured_function import StructuredFunctionWrapper

        original = StructuredFunctionWrapper.__dict__["function"]
    except (ImportError, KeyError):
        yield
        return

    def function(wrapper: Any) -> Any:
        own = original.fget(wrapper)
        if len(held) < MAX_FUNCTIONS:
            held.add(own)
        return own

    with replaced(StructuredFunctionWrapper, "function", property(function, doc=original.__doc__)):
        yield


def _first_call(function: Any, frame: FrameType) -> _Call:
    """Note what the callers hold, and only the shapes of tensors, so that this keeps none alive."""
    tensors: Sequence[Any] = frame.f_locals["args"]
    arguments = [Argument(tensor.shape, getattr(tensor, "_handle_data", None)) for tensor in tensors]
    handles = [getattr(tensor, "_id", -1) for tensor in tensors]
    held = list(_held_by_libraries(frame))
    batches = [size for own in held for size in _batch_sizes(own)]
    owners = [own["self"] for own in held if "self" in own and own["self"] is not function]
    return _Call(function, arguments, handles, next(iter(batches), None), owners)


def _held_by_libraries(frame: FrameType | None) -> Iterator[dict[str, Any]]:
    """Yield the local variables of the callers that belong to TensorFlow or Keras.

    Not those of the user's functions: Python keeps all locals that are read here until the caller returns.
    """
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        if any(library in frame.f_code.co_filename for library in _LIBRARIES):
            yield frame.f_locals
        frame = frame.f_back


def _batch_sizes(own: dict[str, Any]) -> Iterator[int]:
    """Yield the batch sizes that a caller's variables show."""
    arguments = own.get("args", ())
    for argument in arguments if isinstance(arguments, tuple) else ():
        yield from batch_of_pipeline(getattr(argument, "_dataset", None))
    keras = batch_of_keras(own.get("epoch_iterator"))
    if keras is not None:
        yield keras


def batch_of_pipeline(dataset: Any) -> Iterator[int]:
    """Yield the batch size of the last ``batch()`` in a tf.data pipeline."""
    for _ in range(_MAX_PIPELINE_STAGES):
        size = getattr(dataset, "_batch_size", None)
        if size is not None:
            yield int(size)
            return
        dataset = getattr(dataset, "_input_dataset", None)


def _root(call: _Call) -> Root:
    """Find the variables behind a call's handles, and the Keras models that it may run."""
    variables = {variable.handle._id: variable for variable in _variables(call.function)}  # noqa: SLF001
    named = [variables.get(handle) for handle in call.handles]
    name, models = call.function.name.decode(), list(_models_of(call.owners))
    return Root(name, call.arguments, named, call.batch, models, call.function)


def _variables(function: Any) -> list[Any]:
    """Return the variables that still live: to ask a graph for its own is an error where one was deleted."""
    graph = function._cached_graph  # noqa: SLF001  (`graph` would build one where there is none)
    variables = (reference() for reference in getattr(graph, "_weak_variables", ()))
    return [one for one in variables if one is not None and hasattr(one.handle, "_id")]


def _models_of(owners: Iterable[Any]) -> Iterator[Any]:
    """Yield the Keras models among the callers, and those that the called Python function refers to."""
    keras = sys.modules.get("keras")
    if keras is None:
        return
    seen: set[int] = set()
    for owner in owners:
        python = getattr(owner, "python_function", None)
        wrapped = inspect.unwrap(python) if callable(python) else None  # a method below tf.function, for one
        for found in [owner, *_referred_to_by(python, _DEPTH), *_referred_to_by(wrapped, _DEPTH)]:
            if isinstance(found, keras.Layer) and id(found) not in seen:
                seen.add(id(found))
                yield found


def _referred_to_by(one: Any, depth: int) -> Iterator[Any]:
    """Yield what a function refers to, and what the functions, objects and lists among that hold."""
    for found in [_owner(one), *_held_by(getattr(one, "__func__", one))]:
        yield found
        if depth:
            yield from _referred_to_by(getattr(found, "python_function", found), depth - 1)


def _owner(one: Any) -> Any:
    """Return the object whose method it is, also where tf.function stands above the method."""
    owner: Any = getattr(one, "__self__", None)
    return owner.target if type(owner).__name__ == "TfMethodTarget" else owner


def _held_by(one: Any) -> Iterator[Any]:
    """Yield what a partial or a list, or a function or an object of the user's, holds."""
    if isinstance(one, functools.partial):
        yield from (one.func, *one.args, *one.keywords.values())
    elif isinstance(one, list | tuple | dict):
        yield from islice(list(one.values()) if isinstance(one, dict) else one, _MOST_HELD)
    elif str(getattr(one, "__module__", "builtins")).startswith(_NOT_USERS) or isinstance(one, type | types.ModuleType):
        return
    elif isinstance(one, types.FunctionType):
        yield from (cell.cell_contents for cell in one.__closure__ or () if cell != types.CellType())
        yield from (one.__globals__.get(name) for name in one.__code__.co_names)
    else:
        yield from islice(list(getattr(one, "__dict__", {}).values()), _MOST_HELD)
