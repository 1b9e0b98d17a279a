"""Check that JSON has the types that a declaration promises, so that the code that uses it need not doubt them."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

_PLAIN: dict[Any, frozenset[type]] = {
    int: frozenset({int}),
    float: frozenset({int, float}),
    bool: frozenset({bool}),
    str: frozenset({str}),
    type(None): frozenset({type(None)}),
}


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
