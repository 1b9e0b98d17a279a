"""What a cell can reach and change in Python: kept before it runs, and put back afterwards, bit for bit.

Followed are the names that its code uses, the functions of the user that it calls with the names that those use, and
the attributes and elements of what they hold. Containers and objects keep their identity: their contents are put back.
"""

import contextlib
import io
import random
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb._errors import TfprofError
from tfprof_nb._memory import free_bytes
from tfprof_nb.capture.benchmark_input.pipelines import is_dataset
from tfprof_nb.capture.graphs.source_lines import is_users

# Their objects hold what a cell does not change, or what `framework_state` keeps.
_FOREIGN = frozenset(
    [
        "tensorflow",
        "IPython",
        "ipykernel",
        "ipywidgets",
        "traitlets",
        "zmq",
        "asyncio",
        "threading",
        "logging",
        "concurrent",
        "matplotlib",
        "tfprof_nb",
        "_thread",
        "weakref",
        "ctypes",
        "typing",
        "re",
        "inspect",
        "abc",
        "jupyter_client",
        "multiprocessing",
        "bqplot",
        "anywidget",
    ]
)
_PLAIN = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    type(None),
    type(Ellipsis),
    range,
    slice,
    CodeType,
    BuiltinFunctionType,
)
_CONTAINERS = (dict, list, set, deque, bytearray)
_SIMPLE_ITERATORS = frozenset(("list_iterator", "tuple_iterator", "range_iterator", "str_ascii_iterator", "count"))
_EVERYTHING = frozenset(("globals", "eval", "exec", "vars", "locals", "get_ipython"))
_OF_THE_SHELL = frozenset(("In", "Out", "get_ipython", "exit", "quit", "_oh", "_ih", "_dh"))
_MISSING = object()
Restore = Callable[[], None]


class Place(NamedTuple):
    """Where an object was met: what its holder calls it, and the dict, list or cell that can hold another instead."""

    name: str
    holder: Any = None
    key: Any = None

    def put(self, value: object) -> None:
        """Let the holder hold another object, until it is put back."""
        if isinstance(self.holder, CellType):
            self.holder.cell_contents = value
        else:
            self.holder[self.key] = value


class State:
    """What some code can reach in a namespace, but by the names that it makes itself.

    Attributes
    ----------
    datasets, iterators
        Datasets of tf.data, and iterators of Python that can be copied, with a place of each.
    native_iterators, tables
        Iterators and lookup tables of TensorFlow, whose state lies outside of Python.
    problems
        Why what the code uses cannot be put back.
    bindings
        The namespace as it was.
    """

    def __init__(
        self, namespace: dict[str, Any], codes: Iterable[CodeType], made: frozenset[str] = frozenset()
    ) -> None:
        self.datasets = list[tuple[Place, Any]]()
        self.iterators = list[tuple[Place, Any]]()
        self.native_iterators, self.tables, self.problems = list[Any](), list[Any](), list[str]()
        self._namespace, self._seen, self.bindings = namespace, dict[int, Any](), dict(namespace)
        self._keepers, self.bytes = list[Callable[[], Restore]](), 0
        self._restores = list[Restore]()
        self._keep_dict(namespace)
        self._walk(self._roots(namespace, set().union(*map(names_in, codes)) - made))

    def keep(self, more_bytes: int = 0) -> None:
        """Copy what can change.

        Raises
        ------
        TfprofError
            If the copies do not fit into memory.
        """
        needed, free = self.bytes + more_bytes, free_bytes()
        if needed > free:
            raise TfprofError(
                f"What the cell can change takes {_units.size(needed)}, and {_units.size(free)} of memory are free for "
                "the copies that a trial puts back. Delete what the notebook no longer needs (del), then try again."
            )
        self._restores = [keeper() for keeper in self._keepers]

    def put_back(self) -> None:
        """Put everything back."""
        for restore in self._restores:
            restore()

    def _roots(self, namespace: dict[str, Any], names: set[str]) -> Iterator[tuple[Place, Any]]:
        if names & _EVERYTHING:
            names = {name for name in namespace if not name.startswith("_")}
        for name in sorted(names & set(namespace) - _OF_THE_SHELL):
            yield Place(f"`{name}`", namespace, name), namespace[name]

    def _walk(self, roots: Iterable[tuple[Place, Any]]) -> None:
        waiting = list(roots)
        while waiting:
            place, thing = waiting.pop()
            if isinstance(thing, _PLAIN) or id(thing) in self._seen:
                continue
            self._seen[id(thing)] = thing
            waiting += self._inside(place, thing)

    def _inside(self, place: Place, thing: Any) -> Iterable[tuple[Place, Any]]:
        kind = type(thing)
        if isinstance(thing, np.ndarray):
            return self._array(place, thing)
        if isinstance(thing, _CONTAINERS):
            return self._container(place, thing)
        if isinstance(thing, tuple | frozenset):
            return [(Place(place.name), each) for each in thing]
        if isinstance(thing, FunctionType):
            return self._function(place, thing)
        if isinstance(thing, MethodType):
            return [(Place(place.name), thing.__self__), (Place(place.name), thing.__func__)]
        if isinstance(thing, partial):
            return [(Place(place.name), each) for each in (thing.func, *thing.args, *thing.keywords.values())]
        if isinstance(thing, CellType):
            return self._cell(place, thing)
        if isinstance(thing, ModuleType):
            return self._module(thing)
        if isinstance(thing, type):
            return self._class(place, thing)
        if kind.__module__.partition(".")[0] == "pandas":
            return self._pandas(thing)
        if is_dataset(thing):
            self.datasets.append((place, thing))
            return []
        if (generator := _generator_of_random_numbers(thing)) is not None:
            self._keepers.append(partial(_kept_generator, *generator))
            return []
        return self._native(place, thing) or self._iterator(place, thing) or self._object(place, thing)

    def _array(self, place: Place, array: Any) -> list[tuple[Place, Any]]:
        if array.flags.writeable:
            self.bytes += array.nbytes
            self._keepers.append(partial(_kept_array, array))
        if array.dtype.hasobject:
            return [(Place(place.name), each) for each in array.flat]
        return []

    def _container(self, place: Place, held: Any) -> Iterable[tuple[Place, Any]]:
        if isinstance(held, dict):
            self._keep_dict(held)
            return [(Place(f"{place.name}[{key!r:.40}]", held, key), each) for key, each in list(held.items())]
        self._keepers.append(partial(_kept_container, held))
        if isinstance(held, bytearray):
            return []
        if isinstance(held, list):
            return [(Place(f"{place.name}[{k}]", held, k), each) for k, each in enumerate(held)]
        return [(Place(place.name), each) for each in held]

    def _keep_dict(self, held: dict[Any, Any]) -> None:
        self._keepers.append(partial(_kept_dict, held))

    def _function(self, place: Place, function: FunctionType) -> Iterable[tuple[Place, Any]]:
        self._keepers.append(partial(_kept_attributes, function, ("__code__", "__defaults__", "__kwdefaults__")))
        yield Place(place.name), function.__dict__
        for each in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            yield Place(place.name), each
        for cell in function.__closure__ or ():
            yield Place(place.name), cell
        if is_users(function.__code__.co_filename):
            names = function.__globals__
            if names is not self._namespace and id(names) not in self._seen:
                self._seen[id(names)] = names
                self._keep_dict(names)
            yield from self._roots(names, names_in(function.__code__))

    def _cell(self, place: Place, cell: CellType) -> Iterable[tuple[Place, Any]]:
        self._keepers.append(partial(_kept_cell, cell))
        with contextlib.suppress(ValueError):  # an empty cell
            yield Place(place.name, cell), cell.cell_contents

    def _module(self, module: ModuleType) -> Iterable[tuple[Place, Any]]:
        names = vars(module)
        if not _is_users_module(module):
            return []
        self._keep_dict(names)
        used = {name for name in names if not name.startswith("__")}
        return self._roots(names, used)

    def _class(self, place: Place, owner: type) -> Iterable[tuple[Place, Any]]:
        if owner.__module__ != "__main__" and not _is_users_module(sys.modules.get(owner.__module__)):
            return []
        self._keepers.append(partial(_kept_class, owner))
        inside = [each for name, each in vars(owner).items() if not name.startswith("__") or callable(each)]
        inside = [getattr(each, "__func__", getattr(each, "fget", None) or each) for each in inside]
        return [(Place(f"{place.name}"), each) for each in (*inside, *owner.__bases__)]

    def _pandas(self, frame: Any) -> list[tuple[Place, Any]]:
        if hasattr(frame, "_update_inplace"):
            size = frame.memory_usage(deep=False)
            self.bytes += int(getattr(size, "sum", lambda: size)())
            self._keepers.append(partial(_kept_frame, frame))
        return []

    def _native(self, place: Place, thing: Any) -> list[tuple[Place, Any]] | None:
        """Note an object whose state TensorFlow holds; None for others."""
        name, module = type(thing).__name__, type(thing).__module__
        if not module.startswith("tensorflow."):
            return None
        if name == "OwnedIterator":
            self.native_iterators.append(thing)
        elif name in ("MutableHashTable", "DenseHashTable"):
            self.tables.append(thing)
        elif name.endswith("SummaryWriter"):
            self.problems.append(f"{place.name} writes to files that are open already: make the writer in the cell")
        written = getattr(thing, "python_function", None)  # of a tf.function
        if module.startswith("tensorflow.python.trackable.data_structures"):  # a list or dict of a tf.Module
            return [(Place(place.name), getattr(thing, "__wrapped__", None))]
        return [(Place(place.name), written)]

    def _iterator(self, place: Place, thing: Any) -> list[tuple[Place, Any]] | None:
        """Note an object that is used up; None for others."""
        name = type(thing).__name__
        if isinstance(thing, GeneratorType):
            self.problems.append(f"{place.name} is a generator, and nothing puts back what a run takes from it")
        elif isinstance(thing, io.IOBase):
            self._file(place, thing)
        elif not isinstance(thing, Iterator) or hasattr(thing, "__dict__"):
            return None
        elif name in _SIMPLE_ITERATORS and place.holder is not None:
            self.iterators.append((place, thing))
        else:
            self.problems.append(f"{place.name} ({name}) is used up by a run, and nothing puts back what it took")
        return [(place, None)]

    def _file(self, place: Place, file: Any) -> None:
        if isinstance(file, io.StringIO | io.BytesIO):
            self._keepers.append(partial(_kept_memory_file, file))
        elif file.closed or file in (sys.stdout, sys.stderr, sys.stdin):
            return
        elif file.writable():
            self.problems.append(f"{place.name} is a file that is open for writing")
        elif file.seekable():
            self._keepers.append(partial(_kept_position, file))
        else:
            self.problems.append(f"{place.name} is a stream, and nothing puts back what a run reads of it")

    def _object(self, place: Place, thing: Any) -> Iterable[tuple[Place, Any]]:
        if type(thing).__module__.partition(".")[0] in _FOREIGN:
            return
        slots = [name for kind in type(thing).__mro__ for name in _slots(kind)]
        if slots:
            self._keepers.append(partial(_kept_attributes, thing, tuple(slots)))
            yield from ((Place(f"{place.name}.{name}"), getattr(thing, name, None)) for name in slots)
        held = getattr(thing, "__dict__", None)
        if isinstance(held, dict):
            self._keep_dict(held)
            for name, each in list(held.items()):
                yield Place(f"{place.name}.{name}", held, name), each
        yield Place(place.name), type(thing)


def names_in(code: CodeType) -> set[str]:
    """Return the names of variables and attributes that code uses, with that of functions in it."""
    return set(code.co_names).union(*(names_in(each) for each in code.co_consts if isinstance(each, CodeType)))


def _is_users_module(module: ModuleType | None) -> bool:
    """Whether a module has a file, which is the user's: those built into Python have none."""
    file = vars(module).get("__file__") if module else None
    return bool(file) and is_users(file)


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    if kind.__module__ != "__main__":
        return []
    return [name for name in ([slots] if isinstance(slots, str) else slots) if not name.startswith("__")]


def _generator_of_random_numbers(thing: Any) -> tuple[Callable[[], Any], Callable[[Any], None]] | None:
    if isinstance(thing, random.Random):
        return thing.getstate, thing.setstate
    if isinstance(thing, np.random.RandomState):
        return thing.get_state, thing.set_state
    bits = thing.bit_generator if isinstance(thing, np.random.Generator) else thing
    if isinstance(bits, np.random.BitGenerator):
        return lambda: bits.state, lambda state: setattr(bits, "state", state)
    return None


def _kept_generator(get: Callable[[], Any], put: Callable[[Any], None]) -> Restore:
    return partial(put, get())


def _kept_array(array: Any) -> Restore:
    kept = array.copy()

    def restore() -> None:
        array.flags.writeable = True
        array[...] = kept

    return restore


def _kept_dict(held: dict[Any, Any]) -> Restore:
    kind = OrderedDict if isinstance(held, OrderedDict) else dict  # the methods of a subclass may do more
    kept = list(held.items())

    def restore() -> None:
        now = list(held.items())
        if len(now) != len(kept) or any(a is not c or b is not d for (a, b), (c, d) in zip(now, kept, strict=True)):
            kind.clear(held)
            kind.update(held, kept)

    return restore


def _kept_container(held: Any) -> Restore:
    kind = next(each for each in (list, set, deque, bytearray) if isinstance(held, each))
    kept = kind(held) if kind is not deque else list(held)
    put: Any = {list: list.extend, set: set.update, deque: deque.extend, bytearray: bytearray.extend}[kind]

    def restore() -> None:
        same = len(held) == len(kept) and (
            held == kept if kind in (set, bytearray) else all(a is b for a, b in zip(held, kept, strict=True))
        )
        if not same:
            kind.clear(held)
            put(held, kept)

    return restore


def _kept_attributes(thing: Any, names: tuple[str, ...]) -> Restore:
    kept = {name: getattr(thing, name, _MISSING) for name in names}

    def restore() -> None:
        for name, value in kept.items():
            if getattr(thing, name, _MISSING) is value:
                continue
            if value is _MISSING:
                object.__delattr__(thing, name)
            else:
                object.__setattr__(thing, name, value)

    return restore


def _kept_cell(cell: CellType) -> Restore:
    try:
        kept = cell.cell_contents
    except ValueError:  # empty
        return lambda: None
    return lambda: setattr(cell, "cell_contents", kept)


def _kept_class(owner: type) -> Restore:
    kept = dict(vars(owner))

    def restore() -> None:
        now: Mapping[str, Any] = vars(owner)
        for name in [name for name in now if name not in kept]:
            type.__delattr__(owner, name)
        for name, value in kept.items():
            if now.get(name, _MISSING) is not value:
                type.__setattr__(owner, name, value)

    return restore


def _kept_frame(frame: Any) -> Restore:
    kept = frame.copy()
    return lambda: frame._update_inplace(kept.copy())  # noqa: SLF001 - pandas' own way to replace what a frame holds


def _kept_memory_file(file: Any) -> Restore:
    text, at = file.getvalue(), file.tell()

    def restore() -> None:
        file.seek(0)
        file.truncate()
        file.write(text)
        file.seek(at)

    return restore


def _kept_position(file: Any) -> Restore:
    at = file.tell()
    return lambda: file.seek(at) and None
