"""The arguments that a function was traced for: a short text each, never the data of tensors or objects."""

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from tfprof_nb.capture.graphs.function_nodes import shape_text
from tfprof_nb.capture.sidecar import Interned

MAX_ARGUMENTS = 16
MAX_TEXT = 60
_PLAIN = (bool, int, float, str, type(None))


class Traced(NamedTuple):
    """An argument: its name (``batch[0]`` inside another), its kind, and a text that distinguishes it.

    ``kind`` is ``tensor``, ``value`` (of Python), ``object``, ``structure`` (the length of a list, tuple or dictionary)
    or ``other``.
    """

    name: str
    kind: str
    text: str


def signature(function: Any, objects: Interned[Hashable]) -> list[Traced]:
    """Return the arguments that a function of TensorFlow's runtime was traced for, if it knows them.

    Parameters
    ----------
    function
        TensorFlow's `AtomicFunction`.
    objects
        Numbers objects without a text: the same object has the same number in all functions of a program.
    """
    parameters = getattr(getattr(function, "function_type", None), "parameters", {})
    arguments = (
        argument for name, given in parameters.items() for argument in _arguments(name, given.type_constraint, objects)
    )
    return list(islice(arguments, MAX_ARGUMENTS))


def _arguments(name: str, given: Any, objects: Interned[Hashable]) -> Iterator[Traced]:
    """Yield an argument, and the arguments inside it if it is a structure."""
    inside = _inside(given)
    if inside is None:
        yield Traced(name[:MAX_TEXT], *_described(given, objects))
        return
    yield Traced(name[:MAX_TEXT], "structure", f"{type(given).__name__.lower()} of {len(inside)}")
    for key, part in inside.items():
        written = repr(key) if type(key) in _PLAIN else type(key).__name__
        yield from _arguments(f"{name}[{written}]", part, objects)


def _inside(given: Any) -> dict[Any, Any] | None:
    """Return the parts of a structure by index or key; None if it is not a structure."""
    from tensorflow.core.function.trace_type import default_types

    if isinstance(given, default_types.Dict):
        return dict(given.mapping)
    if isinstance(given, default_types.NamedTuple):
        return dict(zip(given.attribute_names, given.attributes.components, strict=True))
    if isinstance(given, default_types.List):
        return dict(enumerate(given.components_tuple.components))
    return dict(enumerate(given.components)) if isinstance(given, default_types.Tuple) else None


def _described(given: Any, objects: Interned[Hashable]) -> tuple[str, str]:
    import tensorflow as tf
    from tensorflow.core.function.trace_type import default_types

    if isinstance(given, tf.TensorSpec):
        return "tensor", f"{given.dtype.name}{shape_text(given.shape)}"[:MAX_TEXT]
    if isinstance(given, default_types.Literal):
        if type(given.value) in _PLAIN and len(text := repr(given.value)) <= MAX_TEXT:
            return "value", text
        return "value", _numbered(type(given.value).__name__, hash(given), objects)
    if isinstance(given, default_types.Weakref):
        there = given.placeholder_value(None)
        # An object that is gone differs from the object that took its place in memory.
        return "object", _numbered("object", id(given) if there is None else hash(given), objects)
    return "other", _numbered(type(given).__name__, repr(given), objects)


def _numbered(kind: str, identity: Hashable, objects: Interned[Hashable]) -> str:
    return f"{kind[: MAX_TEXT - 10]} #{objects.number((kind, identity))}"
