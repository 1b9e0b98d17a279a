"""Names of ops in two profiles of one program: a rebuilt model numbers the same ops differently.

If a model is built twice in one process, its layers are numbered on (``dense_1`` becomes ``dense_2``), and TensorFlow
appends numbers of its own (``adam_1``, ``MatMul_1``).
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from tfprof_nb.analysis.events.names import MOST_SCOPES

_NUMBERS = re.compile(r"(?:\d+[._])*")  # of a name read from its end

_Names: TypeAlias = "dict[str, _Names]"
_Path = tuple[str, ...]


def renumbered(names: Iterable[str], like: Iterable[str]) -> dict[str, str]:
    """Return each name as another profile has it.

    Names are compared part by part (``model/dense_2/MatMul``). If both profiles have equally many parts of one kind in
    a place (``dense`` and ``dense_1``, ``dense_2`` and ``dense_3``), these are paired in the order of their numbers;
    otherwise they keep their names.

    Examples
    --------
    >>> renumbered(["net_1/dense_2/Relu", "net_1/dense_3/Relu"], ["net/dense/Relu", "net/dense_1/Relu"])
    {'net_1/dense_2/Relu': 'net/dense/Relu', 'net_1/dense_3/Relu': 'net/dense_1/Relu'}
    """
    names = list(names)
    parts: dict[_Path, str] = {}
    _pair(_tree(names), _tree(like), (), parts)
    return {name: "/".join(parts[path[: k + 1]] for k in range(len(path))) for name in names if (path := _path(name))}


def _path(name: str) -> _Path:
    return tuple(name.split("/", MOST_SCOPES))


def _tree(names: Iterable[str]) -> _Names:
    tree: _Names = {}
    for name in names:
        at = tree
        for part in _path(name):
            at = at.setdefault(part, {})
    return tree


def _pair(mine: _Names, theirs: _Names, above: _Path, parts: dict[_Path, str]) -> None:
    """Collect, by the path to it, how the other profile calls each part of my names."""
    there = _by_kind(theirs)
    for kind, numbered in _by_kind(mine).items():
        same = there.get(kind, [])
        for name, called in zip(numbered, same if len(same) == len(numbered) else numbered, strict=True):
            parts[*above, name] = called
            _pair(mine[name], theirs.get(called, {}), (*above, name), parts)


def _by_kind(names: Iterable[str]) -> dict[str, list[str]]:
    """Group names by what precedes their numbers, in the order of the numbers."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(names, key=_numbers):
        kinds.setdefault(_without_numbers(name), []).append(name)
    return kinds


def _numbers(name: str) -> list[tuple[int, str]]:
    """Return what sorts like the numbers at a name's end, which may be too long for Python's `int`."""
    digits = (number.lstrip("0") for number in re.findall(r"\d+", name[len(_without_numbers(name)) :]))
    return [(len(each), each) for each in digits]


def _without_numbers(name: str) -> str:
    numbers = _NUMBERS.match(name[::-1])
    return name[: len(name) - numbers.end()] if numbers else name
