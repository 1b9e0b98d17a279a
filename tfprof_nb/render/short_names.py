"""Short forms of names that slashes divide, such as those of ops: cut at slashes, and no two names get the same.

In: names. Out: texts of at most a given length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tfprof_nb._units import shorten

# What TensorFlow puts before the names of ops that run inside a function, and of those that compute gradients.
_CALLS = ("StatefulPartitionedCall", "PartitionedCall")
_GRADIENTS = "gradient_tape"
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
    forms = {name: _forms(name, limit) for name in known}
    short = {name: next(forms[name]) for name in known}
    while same := {text for text, count in Counter(short.values()).items() if count > 1}:
        short |= {name: next(forms[name]) for name, text in short.items() if text in same}
    return [short[name] for name in names]


def _forms(name: str, limit: int) -> Iterator[str]:
    """Yield ever less telling texts that fit; at last numbered ones, which don't end."""
    parts = name.split("/")
    while len(parts) > 1 and parts[0] in _CALLS:
        parts = parts[1:]
    fitting = (text for text in _cuts(name, parts, limit) if len(text) <= limit)
    seen = dict.fromkeys(fitting) if len(name) > limit or len(parts) > 1 else {}
    yield from seen or [shorten(name, limit)]
    number = 2
    while True:
        mark = f" #{number}"
        yield f"{shorten(name, max(1, limit - len(mark)))}{mark}"
        number += 1


def _cuts(name: str, parts: list[str], limit: int) -> Iterator[str]:
    """Yield the name, and what is left when it is cut at slashes: longer ends first, then single parts and the last."""
    yield name
    yield "/".join(parts)
    last = parts[-1]
    starts = [f"{parts[0]}/{_CUT}", _CUT] if parts[0] == _GRADIENTS else [_CUT, f"{parts[0]}/{_CUT}"]
    for start in starts:
        ends = ("/".join(parts[k:]) for k in range(1, len(parts)))
        yield next((start + end for end in ends if len(start + end) <= limit), "")
    for k in range(len(parts) - 2, -1, -1):
        yield from (f"{start}{parts[k]}/{_CUT}{last}" for start in starts)
    yield _CUT + shorten(last, max(1, limit - len(_CUT)))
