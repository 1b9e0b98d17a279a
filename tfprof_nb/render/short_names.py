"""Short forms of names that slashes divide: cut at slashes, and different for different names."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tfprof_nb._units import shorten

_CUT = "…/"


def short_names(names: Sequence[str], limit: int, trim: Callable[[str], str] = str) -> list[str]:
    """Return a text of at most ``limit`` characters for each name; different names never get the same text.

    The end of a name is kept as far as it fits, and where several names have the same end, a part in which they differ.

    Parameters
    ----------
    names
        The names, with slashes between their parts.
    trim
        Drops what a name that is too long loses first.

    Examples
    --------
    >>> short_names(["call/net/block/dense_4/MatMul", "net/block/dense_5/MatMul", "VarHandleOp"], 18)
    ['…/dense_4/MatMul', '…/dense_5/MatMul', 'VarHandleOp']
    >>> short_names(["call/net/dense/MatMul"], 16, lambda name: name.removeprefix("call/"))
    ['net/dense/MatMul']
    >>> short_names(["a_long_scope/left/dense/MatMul", "a_long_scope/right/dense/MatMul"], 16)
    ['…/left/…/MatMul', '…/right/…/MatMul']
    >>> short_names(["volta_sgemm_128x64_nn_splitK", "volta_sgemm_128x32_nn_splitK"], 20)
    ['volta_…8x64_n…splitK', 'volta_…8x32_n…splitK']
    """
    known = list(dict.fromkeys(names))
    if all(len(name) <= limit for name in known):
        return list(names)
    trimmed = {name: trim(name) for name in known}
    forms = {name: _forms(name, trimmed[name], limit) for name in known}
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
    short |= _apart({name: trimmed[name] for name in stuck}, limit, set(short.values()))
    return [short[name] for name in names]


def _apart(names: dict[str, str], limit: int, taken: set[str]) -> dict[str, str]:
    """Cut names without telling slashes so that they show where they begin to differ; number those still alike."""
    groups: dict[str, list[str]] = {}
    for text in names.values():
        groups.setdefault(shorten(text, limit), []).append(text)
    shared = {text: _shared(group) for group in groups.values() for text in group}
    head = limit // 3
    short = {
        name: f"{text[:head]}…{shorten(text[max(shared[text] - 2, 0) :], max(1, limit - head - 1))}"
        for name, text in names.items()
    }
    counts = Counter(short.values())
    alike = [name for name, text in short.items() if counts[text] > 1 or text in taken or len(text) > limit]
    return short | {name: _numbered(names[name], limit, number) for number, name in enumerate(alike, 1)}


def _shared(texts: Sequence[str]) -> int:
    """Return the length of the start that texts share."""
    first, last = min(texts), max(texts)
    return next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _numbered(name: str, limit: int, number: int) -> str:
    mark = f" #{number}"
    return f"{shorten(name, max(1, limit - len(mark)))}{mark}"


def _forms(name: str, trimmed: str, limit: int) -> Iterator[str]:
    """Yield texts that fit, the most telling first."""
    fitting = dict.fromkeys(text for text in _cuts(name, trimmed, limit) if 0 < len(text) <= limit)
    yield from fitting or [shorten(trimmed, limit)]


def _cuts(name: str, trimmed: str, limit: int) -> Iterator[str]:
    """Yield the trimmed name, the whole name, then what is left of cuts at slashes: ends, then single parts."""
    yield trimmed
    yield name
    parts = trimmed.split("/")
    last = parts[-1]
    starts = (_CUT, f"{parts[0]}/{_CUT}")
    # The last part and the one around it tell less than the next one, as an op tells less than its layer.
    if len(parts) > 3 and len(_CUT + "/".join(parts[-3:])) > limit:
        yield f"{_CUT}{parts[-3]}/{_CUT}{last}"
    for start in starts:
        ends = ("/".join(parts[k:]) for k in range(max(1, len(parts) - limit), len(parts)))  # more parts do not fit
        yield next((start + end for end in ends if len(start + end) <= limit), "")
    for k in range(len(parts) - 2, -1, -1):
        yield from (f"{start}{parts[k]}/{_CUT}{last}" for start in starts)
    if len(parts) > 1:
        yield _CUT + shorten(last, max(1, limit - len(_CUT)))
