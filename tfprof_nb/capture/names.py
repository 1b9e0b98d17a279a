"""Record what kind of object the names of the profiled code stand for, so that advice need not go by their spelling.

Neither values nor texts of objects are recorded, and no code of the user's runs: classes, instance dictionaries and
attributes of NumPy's and TensorFlow's own types are looked at, nothing else.
"""

import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tfprof_nb.capture.graphs.source_lines import MAGICS, is_users
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import NameFacts, NamesSection

_Scope = tuple[str, Mapping[str, Any], Sequence[str]]
"""A file, the globals of its code, and the names of these that code uses."""
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,2}")
_MAX_NAMES, _MAX_FUNCTIONS, _MAX_MEMBERS = 400, 100, 40
_CONTAINERS = (list, tuple, dict, set, frozenset, str, bytes)
# Kinds by the classes that objects descend from: parts of the module's name, and the names of the classes.
_KERAS, _TENSORFLOW = ("keras", "tf_keras"), ("tensorflow",)
_KINDS = (
    (_KERAS, ("Model",), "model"),
    (_KERAS, ("Layer", "Operation"), "layer"),
    (_KERAS, ("Optimizer", "BaseOptimizer", "OptimizerV2"), "optimizer"),
    (_KERAS, ("Callback",), "callback"),
    (_KERAS, ("Metric",), "metric"),
    (_KERAS, ("Loss",), "loss"),
    (_KERAS, ("PyDataset", "Sequence"), "keras dataset"),
    (_KERAS, ("KerasVariable", "Variable"), "variable"),
    (_TENSORFLOW, ("Model",), "model"),
    (_TENSORFLOW, ("Layer",), "layer"),
    (_TENSORFLOW, ("DatasetV2", "DatasetV1"), "dataset"),
    (_TENSORFLOW, ("IteratorBase", "OwnedIterator", "Iterator"), "iterator"),
    (_TENSORFLOW, ("Variable", "BaseResourceVariable"), "variable"),
    (_TENSORFLOW, ("Tensor", "EagerTensor", "RaggedTensor", "SparseTensor"), "tensor"),
    (_TENSORFLOW, ("Function", "ConcreteFunction"), "tf function"),
    (_TENSORFLOW, ("BaseSession", "Session"), "session"),
    (("numpy",), ("ndarray",), "array"),
    (("pandas",), ("DataFrame", "Series"), "frame"),
)


@contextmanager
def names(text: str = "") -> Iterator[Gather]:
    """Record the names of the code that runs, when the block begins and when it ends.

    Parameters
    ----------
    text
        The profiled cell; without one, the code is that of the user's function, or file, that called.
    """
    recorded: NamesSection = {"main": "", "start": [], "end": []}
    scopes: list[_Scope] = []
    with suppress(Exception):  # whatever an object does to being looked at, the capture goes on
        scopes = _running(text)
        recorded["main"] = scopes[0][0] if scopes else ""
        recorded["start"] = _facts(scopes)
    try:
        yield lambda: recorded if recorded["start"] or recorded["end"] else {}
    finally:
        with suppress(Exception):
            before = {(one["file"], one["name"]): one for one in recorded["start"]}
            after = _facts(scopes)
            recorded["end"] = [one for one in after if before.get((one["file"], one["name"])) != one]


def _running(text: str) -> list[_Scope]:
    """Return the scope of the code that called, and those of functions that only a function of it knows by name."""
    frame: types.FrameType | None = inspect.currentframe()
    while frame and (not is_users(frame.f_code.co_filename) or frame.f_code.co_filename.startswith(MAGICS)):
        frame = frame.f_back
    if frame is None:
        return []
    file, namespace, used = frame.f_code.co_filename, frame.f_globals, _DOTTED.findall(text)
    own = [] if frame.f_locals is namespace else [*frame.f_locals.values()]
    inner = [code for value in own if isinstance(value, types.FunctionType) for code in _codes(value)]
    rest = [(file if scope is namespace else code.co_filename, scope, [*_names_in(code)]) for code, scope in inner]
    return [(file, namespace, used or [*_names_in(frame.f_code)]), *rest]


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that code uses, with that of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _facts(scopes: Sequence[_Scope]) -> list[NameFacts]:
    """Return the facts on the names of scopes, and of the user's functions that these reach."""
    found = dict[tuple[str, str], NameFacts]()
    waiting, (main, namespace, _) = [*scopes], scopes[0]
    # Code that advice writes uses modules: under which names, the whole namespace tells.
    modules = [name for name, value in list(namespace.items()) if isinstance(value, types.ModuleType)]
    waiting.append((main, namespace, modules))
    seen = set[types.CodeType]()
    while waiting and len(found) < _MAX_NAMES:
        file, scope, used = waiting.pop()
        for name in dict.fromkeys(part for one in used for part in (one.partition(".")[0], one)):
            known, value = _value(scope, name)
            if not known or (file, name) in found:
                continue
            found[file, name] = _fact(file, name, value)
            for inner, part in _members(value):
                found.setdefault((file, f"{name}.{inner}"), _fact(file, f"{name}.{inner}", part))
            for code, of_module in _codes(value):
                if code not in seen and len(seen) < _MAX_FUNCTIONS:
                    seen.add(code)
                    own_file = main if of_module is namespace else code.co_filename
                    waiting.append((own_file, of_module, [*_names_in(code)]))
    return [*found.values()][:_MAX_NAMES]


def _value(scope: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    """Return whether a name is bound, and to what; instance dictionaries tell this of attributes."""
    first, *rest = name.split(".")
    if first not in scope:
        return False, None
    value = scope[first]
    for part in rest:
        own = _own(value)
        if part not in own:
            return False, None
        value = own[part]
    return True, value


def _own(value: Any) -> Mapping[str, Any]:
    """Return the instance dictionary of an object, or of a module, without running code of its class."""
    if isinstance(value, type) or any("__dict__" in vars(one) and _computes(one) for one in type(value).__mro__):
        return {}
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if type(own) is dict else {}


def _computes(owner: type) -> bool:
    return not isinstance(vars(owner)["__dict__"], types.GetSetDescriptorType | types.MemberDescriptorType)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object of a class of the user's keeps under names."""
    if any(_is_of_user(one) for one in type(value).__mro__):
        yield from [(name, one) for name, one in _own(value).items()][:_MAX_MEMBERS]


def _is_of_user(owner: type) -> bool:
    module = sys.modules.get(vars(owner).get("__module__") or "")
    file = _own(module).get("__file__") if isinstance(module, types.ModuleType) else None
    return vars(owner).get("__module__") == "__main__" or (isinstance(file, str) and is_users(file))


def _codes(value: Any) -> Iterator[tuple[types.CodeType, Mapping[str, Any]]]:
    """Yield the code of the user's functions and methods, with their namespaces, that a name stands for."""
    if isinstance(value, types.MethodType):
        value = value.__func__
    wrapped = _own(value).get("_python_function") if not isinstance(value, type | types.FunctionType) else value
    owner = value if isinstance(value, type) else type(value)
    members = vars(owner).values() if _is_of_user(owner) else ()
    for one in (wrapped, *members):
        if isinstance(one, types.FunctionType) and is_users(one.__code__.co_filename):
            yield one.__code__, one.__globals__


def _fact(file: str, name: str, value: Any) -> NameFacts:
    kind = _kind(value)
    fact = NameFacts(name=name, file=file, type=_type_of(value), kind=kind)
    with suppress(Exception):
        if kind == "array":
            numpy = sys.modules["numpy"]
            fact["shape"] = [int(size) for size in numpy.ndarray.shape.__get__(value)]
            fact["dtype"] = str(numpy.ndarray.dtype.__get__(value))
        elif type(value).__name__ == "EagerTensor" and kind == "tensor":
            fact["shape"], fact["dtype"] = [int(size) for size in value.shape], str(value.dtype.name)
        elif type(value) in _CONTAINERS:
            fact["length"] = len(value)
        for code, _ in _codes(value) if not isinstance(value, type) else ():
            fact["defined_in"], fact["line"] = code.co_filename, code.co_firstlineno
            break
    return fact


def _kind(value: Any) -> str:
    """Return what an object is, by its class and those that it descends from."""
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        return "function"
    if isinstance(value, types.MethodType):
        return "method"
    if isinstance(value, types.GeneratorType):
        return "generator"
    for owner in type(value).__mro__:
        package = str(owner.__module__).partition(".")[0]
        for packages, classes, kind in _KINDS:
            if package in packages and owner.__name__ in classes:
                return kind
    return type(value).__name__ if type(value).__module__ == "builtins" else "object"


def _type_of(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return str(_own(value).get("__name__", "module"))
    owner = value if isinstance(value, type) else type(value)
    return f"{owner.__module__}.{owner.__qualname__}"
