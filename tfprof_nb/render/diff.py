"""A change of code, line by line, with the part of each line that differs."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Literal, NamedTuple

_NAME_AT_END = re.compile(r"\w+$")


class DiffLine(NamedTuple):
    """One line of a diff: what is the same before, the part that differs, and what is the same behind."""

    sign: Literal["-", "+", " "]
    before: str
    changed: str
    behind: str

    @property
    def text(self) -> str:
        """The whole line."""
        return self.before + self.changed + self.behind


def diff(old: str, new: str) -> list[DiffLine]:
    """Compare two pieces of code line by line; indentation that all lines share is left out.

    Examples
    --------
    >>> [(line.sign, line.changed) for line in diff("x.map(f)", "x.map(f).cache()")]
    [('-', ''), ('+', '.cache()')]
    >>> [line.changed for line in diff("x.map(f).batch(2)", "x.map(f).cache().batch(2)")]
    ['', '.cache()']
    """
    before, after = _dedented(old.splitlines(), new.splitlines())
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [line for _, *block in matcher.get_opcodes() for line in _block(before, after, *block)]


def _block(before: list[str], after: list[str], first: int, last: int, start: int, end: int) -> Iterator[DiffLine]:
    """Yield the lines of a block: those removed, then those added; a line that only changed marks its part."""
    removed, added = before[first:last], after[start:end]
    if removed == added:
        yield from (DiffLine(" ", line, "", "") for line in removed)
        return
    pairs = [_parted(one, other) for one, other in zip_longest(removed, added)]
    yield from (DiffLine("-", *old) for old, _ in pairs if old is not None)
    yield from (DiffLine("+", *new) for _, new in pairs if new is not None)


def _parted(old: str | None, new: str | None) -> tuple[tuple[str, str, str] | None, tuple[str, str, str] | None]:
    """Divide two lines into what they begin and end with alike, and what differs in between."""
    if old is None or new is None:
        return (None if old is None else (old, "", "")), (None if new is None else (new, "", ""))
    head = len(_common([old, new]))
    head -= _broken_name(old[:head], [old[head:], new[head:]])
    tail = len(_common([old[head:][::-1], new[head:][::-1]]))
    tail -= _broken_name(old[::-1][:tail], [old[head : len(old) - tail][::-1], new[head : len(new) - tail][::-1]])
    inserted = new[head : len(new) - tail] if head + tail == len(old) else ""
    if inserted.endswith(".") and old[:head].endswith("."):  # `.cache()` was put there, and not `cache().`
        head, tail = head - 1, tail + 1
    return (old[:head], old[head : len(old) - tail], old[len(old) - tail :]), (
        new[:head],
        new[head : len(new) - tail],
        new[len(new) - tail :],
    )


def _broken_name(shared: str, following: Sequence[str]) -> int:
    """Return how many letters at the end of a shared text are of a name that goes on in one of the texts behind it.

    Examples
    --------
    >>> _broken_name("model.predict", ["(x)", "_on_batch(x)"]), _broken_name("f(", ["1)", "22)"])
    (7, 0)
    """
    goes_on = any(text[:1].isalnum() or text[:1] == "_" for text in following)
    name = _NAME_AT_END.search(shared) if goes_on else None
    return len(name[0]) if name else 0


def _dedented(*texts: list[str]) -> list[list[str]]:
    """Drop the indentation that all lines share."""
    filled = [line for lines in texts for line in lines if line.strip()]
    shared = _common([line[: len(line) - len(line.lstrip())] for line in filled])
    return [[line.removeprefix(shared) for line in lines] for lines in texts]


def _common(texts: list[str]) -> str:
    """The longest text with which all texts begin."""
    return "".join(
        letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    )
