"""Find the Keras models that a function may run: among its callers, and what it refers to."""

import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

# How far models are looked for, among how many values of a list or an object, and in whose objects they are not.
_DEPTH, _MOST_HELD = 2, 100
_NOT_USERS = ("builtins", "tensorflow", "keras", "numpy", "pandas", "functools")


def models_of(owners: Iterable[Any]) -> Iterator[Any]:
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
