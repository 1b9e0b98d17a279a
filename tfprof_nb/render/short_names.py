"""Short forms of names that slashes divide, such as those of ops: cut at slashes, and no two names get the same.

In: names. Out: texts of at most a given length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from tfprof_nb._units import shorten

# What TensorFlow puts before the names of ops that run inside a function.
_CALLS = ("StatefulPartitionedCall", "PartitionedCall")
_CUT = "…/"


def short_names(names: Sequence[str], limit: int) -> list[str]:
    """Return a text of at most ``limit`` characters for each name; different names never get the same text.

    The end of a name, its layer and op, is kept as far as it fits; where that is the same for several, so is what tells
    them apart.

    Examples
    --------
    >>> names = ["StatefulPartitionedCall/net/block/dense_4/MatMul", "net/block/dense_5/MatMul", "VarHandleOp"]
    >>> short_names(names, 18)
    ['…/dense_4/MatMul', '…/dense_5/MatMul', 'VarHandleOp']
    >>> short_names(["a_long_scope/left/dense/MatMul", "a_long_scope/right/dense/MatMul"], 16)
    ['…/left/…/MatMul', '…/right/…/MatMul']
    """
    known = list(dict.fromkeys(names))
    if all(len(name) <= limit for name in known):
        return list(names)
    forms = {name: _forms(name, limit) for name in known}
    short = {name: next(forms[name]) for name in known}
    stuck: list[str] = []
    while same := {text for text, count in Counter(short.values()).items() if count > 1}:
        for name in [name for name, text in short.items() if text in same]:
            form = next(forms[name], "")
            if form:
                short[name] = form
            else:
                stuck.append(name)
                del short[name]
    short |= {name: _numbered(name, limit, number) for number, name in enumerate(stuck, 1)}
    return [short[name] for name in names]


def _numbered(name: str, limit: int, number: int) -> str:
    mark = f" #{number}"
    return f"{shorten('/'.join(_inside(name)), max(1, limit - len(mark)))}{mark}"


def _forms(name: str, limit: int) -> Iterator[str]:
    """Yield ever less telling texts that fit."""
    parts = _inside(name)
    fitting = dict.fromkeys(text for text in _cuts(name, parts, limit) if 0 < len(text) <= limit)
    yield from fitting or [shorten("/".join(parts), limit)]


def _inside(name: str) -> list[str]:
    """Return the parts of a name without the calls that lead to it."""
    parts = name.split("/")
    calls = sum(1 for _ in takewhile(_CALLS.__contains__, parts[:-1]))
    return parts[calls:]


def _cuts(name: str, parts: list[str], limit: int) -> Iterator[str]:
    """Yield a name without calls, then what is left when it is cut at slashes: its end, then single parts."""
    yield "/".join(parts)
    yield name
    last = parts[-1]
    starts = (_CUT, f"{parts[0]}/{_CUT}")
    # An op and the scope right around it tell less than the layer that they are in.
    if len(parts) > 3 and len(_CUT + "/".join(parts[-3:])) > limit:
        yield f"{_CUT}{parts[-3]}/{_CUT}{last}"
    for start in starts:
        ends = ("/".join(parts[k:]) for k in range(max(1, len(parts) - limit), len(parts)))  # more parts do not fit
        yield next((start + end for end in ends if len(start + end) <= limit), "")
    for k in range(len(parts) - 2, -1, -1):
        yield from (f"{start}{parts[k]}/{_CUT}{last}" for start in starts)
    if len(parts) > 1:
        yield _CUT + shorten(last, max(1, limit - len(_CUT)))
