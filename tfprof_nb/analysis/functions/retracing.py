"""Why a tf.function was traced again: how its traced versions differ."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tfprof_nb.analysis.events.tensors import parse_tensors
from tfprof_nb.decode.sections.graphs import Graphs

Argument = tuple[str, str]
"""Its kind and text, as in `Graphs.functions`."""
Version = Mapping[str, Argument]
"""The arguments of one traced version, by name."""
Shape: TypeAlias = "tuple[int | None, ...] | None"

_MAX_VALUES, _MAX_ARGUMENTS = 3, 2
_MIN_ALIKE = 3  # Keras, and a first call that creates variables, trace twice for the same arguments
GENERALISE = "write @tf.function(reduce_retracing=True)"
_NUMBER = re.compile(r"-?(\d|inf|nan)")
APPLIED_AGAIN = "tf.function was applied again in each call, or for each object. Apply it once, outside"
# Keras' own functions: a model of its own, or another phase, traces them again, and rightly so.
OF_KERAS = ("one_step_on_data", "one_step_on_iterator", "multi_step_on_iterator", "one_step_on_data_distributed")
_BY_KERAS = "Keras traces it for each model and phase (train, test, predict), and again after compile()"
_ALIKE, _SEVERAL = "all traced versions had the same arguments", "at least {} functions of this name were traced"


class Retracing(NamedTuple):
    """What differs between traced versions, in words, and how many of the arguments have new shapes.

    Arguments that differ alike count as one. The words are empty if there is one version, or they are unknown.
    """

    cause: str = ""
    new_shapes: int = 0


def retracing(function: str, graphs: Sequence[Graphs], *, again: bool = True, functions: int = 1) -> Retracing:
    """Say which arguments of a tf.function differ between its traced versions, and what to do.

    Parameters
    ----------
    function
        The name of the Python function, as in profiles.
    graphs
        Per host: the functions that ran.
    again
        Whether one function was traced more than once; else the versions are those of functions of the same name.
    functions
        How many functions of that name there were at least.
    """
    tables = [host.functions for host in graphs]
    versions = [
        {name: (kind, text) for name, kind, text in signature}
        for table in tables
        for signature in table.loc[table["python"] == function, "signature"]
    ]
    if len(versions) < 2:
        return Retracing()
    differing = _differing(versions)
    if not differing:
        alike = len(versions) >= _MIN_ALIKE and all(version.keys() == versions[0].keys() for version in versions)
        return Retracing(f"{_ALIKE}: {_BY_KERAS if function in OF_KERAS else APPLIED_AGAIN}" if alike else "")
    if not again:
        return Retracing()
    if functions >= _MIN_ALIKE and function not in OF_KERAS:
        return Retracing(f"{_SEVERAL.format(functions)}: {APPLIED_AGAIN}")
    named: dict[str, list[str]] = {}
    for name in sorted(differing, key=lambda name: -len(differing[name])):
        named.setdefault(_difference(name, differing[name]), []).append(name)
    told = dict([*named.items()][:_MAX_ARGUMENTS])
    cause = "; ".join(f"{_arguments(names)} {difference}" for difference, names in told.items())
    return Retracing(cause, sum(GENERALISE in difference for difference in told))


def _arguments(names: Sequence[str]) -> str:
    """Name the arguments that differ in the same way.

    Examples
    --------
    >>> _arguments(["x"]), _arguments(["x", "y", "z"])
    ('argument `x`', 'arguments `x`, `y` and `z`')
    """
    *others, last = (f"`{name}`" for name in names[:_MAX_VALUES])
    more = " and others" if len(names) > _MAX_VALUES else ""
    if not others:
        return f"argument {last}"
    return f"arguments {', '.join(others)}{', ' if more else ' and '}{last}{more}"


def _differing(versions: Sequence[Version]) -> dict[str, list[Argument]]:
    """Return the distinct values of arguments that have several: of structures, and not of their parts."""
    names = dict.fromkeys(name for version in versions for name in version)
    values = {name: list(dict.fromkeys(version[name] for version in versions if name in version)) for name in names}
    several = {name: distinct for name, distinct in values.items() if len(distinct) > 1}
    return {name: several[name] for name in several if not any(name.startswith(f"{whole}[") for whole in several)}


def _difference(name: str, values: Sequence[Argument]) -> str:
    """Say how the values of an argument differ, and what to do."""
    kinds = {kind for kind, _ in values}
    texts = [text for _, text in values]
    if kinds == {"tensor"}:
        return _tensors(texts)
    if kinds == {"value"} and sum(bool(_NUMBER.match(text)) for text in texts) > 1:
        return f"was a new Python value each time ({_list(texts)}): pass a tensor, tf.constant({name})"
    if kinds == {"value"}:
        return f"had the Python values {_list(texts)}, each of which is traced: pass fewer distinct values, or a tensor"
    if kinds == {"object"}:
        return "was a different object each time, by identity: pass the same object, or only its tensors"
    if kinds == {"structure"}:
        return f"had the structures {_list(texts)}, and each length is traced: pass one stacked tensor, or pad it"
    return f"had the values {_list([_in_words(kind, text) for kind, text in values])}: pass the same kind in every call"


def _tensors(texts: Sequence[str]) -> str:
    tensors = [tensor for text in texts for tensor in parse_tensors(text)]
    shapes = ["(...)" if tensor.shape is None else str(tensor.shape) for tensor in tensors]
    dtypes = list(dict.fromkeys(tensor.dtype for tensor in tensors))
    if len(dtypes) > 1:
        return f"had the dtypes {_list(dtypes)}: convert it to one dtype before the call, tf.cast(...)"
    return f"had the shapes {_list(shapes)}: {GENERALISE}, or pad"


def _in_words(kind: str, text: str) -> str:
    return f"a tensor {text}" if kind == "tensor" else "an object" if kind == "object" else text


def _list(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return ", ".join(distinct[:_MAX_VALUES]) + (", ..." if len(distinct) > _MAX_VALUES else "")
