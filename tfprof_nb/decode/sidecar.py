"""Read the sidecar, ``<host>.tfprof.json.gz``, which the capture wrote beside a profile (``docs/sidecar.md``)."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.files import read
from tfprof_nb.formats.files import SIDECAR, sidecar_of
from tfprof_nb.formats.sidecar import SECTIONS, VERSION, CaptureSection, Section, Stopped

T = TypeVar("T")
_MOST_S = 10**7  # some months
_PLAIN: dict[Any, frozenset[type]] = {
    int: frozenset({int}),
    float: frozenset({int, float}),
    bool: frozenset({bool}),
    str: frozenset({str}),
    type(None): frozenset({type(None)}),
}


@dataclass(frozen=True)
class Sidecar:
    """The sections of one host's sidecar.

    Attributes
    ----------
    sections
        The sections by name; empty if there is no sidecar, or it cannot be read.
    note
        Why an existing sidecar was not read, or empty.
    damaged
        What is wrong with a section, by its name, for sections that were parsed.
    """

    sections: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    damaged: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, parse: Callable[[Any], T]) -> T:
        """Parse a section; if it is damaged, note that and parse None, as for a section that is missing."""
        try:
            section = self.sections.get(name)
            if section is not None:
                check(section, SECTIONS[Section(name)], name)
            return parse(section)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            self.damaged[name] = (
                f"The section {name} of the file *{SIDECAR} beside the profile is damaged ({type(error).__name__}: "
                f"{error}). Its content is missing here."
            )
            return parse(None)

    @property
    def notes(self) -> list[str]:
        """Why it was not read, the capture's own notes, and which of the parsed sections are damaged."""
        noted = self.read(Section.CAPTURE, read_notes)
        return [*([self.note] if self.note else []), *noted, *self.damaged.values()]


def read_sidecar(file: Path) -> Sidecar:
    """Return the sidecar of a profile's file. If it cannot be read, its note says why; no error is raised."""
    path = sidecar_of(file)
    if not path.is_file():
        return Sidecar()
    try:
        content = json.loads(read(path))
        version, sections = content.pop("version"), content
    except (OSError, BadProfileError, ValueError, AttributeError, KeyError, RecursionError, TypeError) as error:
        return Sidecar(note=f"{path.name} beside the profile is damaged ({error}). Its content is missing here.")
    if version != VERSION:
        return Sidecar(
            note=f"{path.name} beside the profile was written by another version of tfprof_nb (its format is "
            f"{version}, this version reads {VERSION}). Its content is missing here."
        )
    return Sidecar(sections)


def read_notes(section: CaptureSection | None) -> list[str]:
    """Return the capture's notes."""
    notes = [] if section is None else section.get("notes", [])
    if not isinstance(notes, list):
        raise TypeError("notes is not a list")
    return [str(note) for note in notes]


def read_stopped(section: CaptureSection | None) -> Stopped | None:
    """Return why and when the recording was ended, if it was."""
    stopped = section.get("stopped") if section else None
    if stopped and not 0 <= stopped["seconds"] < _MOST_S:
        raise ValueError("stopped.seconds is no length of a recording")
    return stopped


def check(value: Any, declared: Any, name: str) -> None:
    """Raise a `TypeError` or `ValueError`, which calls the value ``name``, if it is not what is declared.

    Parameters
    ----------
    value
        What `json.loads` returned.
    declared
        A `TypedDict` (an empty object is accepted, and keys that are not declared), or a type made of ``list``,
        ``tuple``, ``dict``, ``int`` (of 64 bits), ``float`` (finite), ``bool``, ``str`` and ``None``.

    Examples
    --------
    >>> check([1, None], list[float | None], "values")
    >>> check({"a": ["b", 2]}, dict[str, list[int]], "counts")
    Traceback (most recent call last):
    TypeError: counts.a: str instead of int
    """
    _check_all([value], declared, name)


def _check_all(values: Sequence[Any], declared: Any, name: str) -> None:
    """Check values of one declared type together: most lists are long, and of plain values."""
    if plain := _plain(declared):
        _check_plain(values, plain, name)
        return
    origin = dict if is_typeddict(declared) else get_origin(declared)
    _check_plain(values, frozenset({list if origin is tuple else origin}), name)
    if is_typeddict(declared):
        for key, kind, required in _keys(declared):
            if required and any(value and key not in value for value in values):
                raise KeyError(f"{name}.{key}")
            _check_all([value[key] for value in values if key in value], kind, f"{name}.{key}")
    elif origin is dict:
        for value in values:
            for key, one in value.items():
                _check_all([one], get_args(declared)[1], f"{name}.{key}")
    elif origin is list or get_args(declared)[-1] is ...:
        _check_all([one for value in values for one in value], get_args(declared)[0], name)
    else:
        kinds = get_args(declared)
        if any(len(value) != len(kinds) for value in values):
            raise ValueError(f"{name}: not all have {len(kinds)} items")
        for place, kind in enumerate(kinds):
            _check_all([value[place] for value in values], kind, name)


def _check_plain(values: Sequence[Any], allowed: frozenset[type | None], name: str) -> None:
    found = set(map(type, values))
    if wrong := found - allowed:
        expected = " or ".join(sorted(getattr(kind, "__name__", "") for kind in allowed))
        raise TypeError(f"{name}: {min(kind.__name__ for kind in wrong)} instead of {expected}")
    if int in found and any(abs(value) >> 62 for value in values if type(value) is int):
        raise ValueError(f"{name}: a number is too large")
    if float in found and not all(math.isfinite(value) for value in values if type(value) is float):
        raise ValueError(f"{name}: a number is not finite")


@cache
def _plain(declared: Any) -> frozenset[type] | None:
    """Return the types of plain values that are declared; None if lists or objects are."""
    if get_origin(declared) in (Union, UnionType):
        kinds = [_PLAIN[kind] for kind in get_args(declared)]
        return frozenset().union(*kinds)
    return _PLAIN.get(declared)


@cache
def _keys(declared: Any) -> list[tuple[str, Any, bool]]:
    """Return key, type and whether it is required, for each key of a `TypedDict`."""
    hints: Mapping[str, Any] = get_type_hints(declared, include_extras=True)
    optional = {key for key, kind in hints.items() if get_origin(kind) is NotRequired}
    return [
        (key, get_args(kind)[0] if key in optional else kind, declared.__total__ and key not in optional)
        for key, kind in hints.items()
    ]
