"""Why a tf.function was traced again: what differs between the versions of it that ran."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tfprof_nb.analysis.events.tensors import parse_tensors
from tfprof_nb.decode.sections.graphs import Graphs

Argument = tuple[str, str]
"""Its kind and text, as `Graphs.functions` has them."""
Version = Mapping[str, Argument]
"""The arguments of one traced version by name."""
Shape: TypeAlias = "tuple[int | None, ...] | None"

_NAMED, _BLAMED = 3, 2
_MANY_ALIKE = 3  # Keras and a first call that makes variables trace twice for the same arguments
_NUMBER = re.compile(r"-?(\d|inf|nan)")
_MADE_ANEW = (
    "all traced versions had the same arguments: tf.function was applied anew each time, in a loop or for each object. "
    "Apply it once, outside"
)


def retracing_cause(function: str, graphs: Sequence[Graphs]) -> str:
    """Say which arguments of a tf.function differ between the versions that ran during a capture, and what to do.

    Parameters
    ----------
    function
        The name of the Python function, as profiles have it.
    graphs
        The functions that ran, per host.

    Returns
    -------
    str
        Empty where there is one version, or nothing is known of them.
    """
    tables = [one.functions for one in graphs]
    versions = [
        {name: (kind, text) for name, kind, text in signature}
        for table in tables
        for signature in table.loc[table["python"] == function, "signature"]
    ]
    if len(versions) < 2:
        return ""
    differing = _differing(versions)
    if not differing:
        alike = len(versions) >= _MANY_ALIKE and all(version.keys() == versions[0].keys() for version in versions)
        return _MADE_ANEW if alike else ""
    blamed = sorted(differing, key=lambda name: -len(differing[name]))[:_BLAMED]
    return "; ".join(f"argument `{name}` {_said(name, differing[name])}" for name in blamed)


def _differing(versions: Sequence[Version]) -> dict[str, list[Argument]]:
    """Return the distinct values of the arguments that have several; of a structure as a whole before its parts."""
    names = dict.fromkeys(name for version in versions for name in version)
    values = {name: list(dict.fromkeys(version[name] for version in versions if name in version)) for name in names}
    several = {name: found for name, found in values.items() if len(found) > 1}
    return {name: found for name, found in several.items() if not any(name.startswith(f"{one}[") for one in several)}


def _said(name: str, values: Sequence[Argument]) -> str:
    kinds = {kind for kind, _ in values}
    texts = [text for _, text in values]
    if kinds == {"tensor"}:
        return _tensors(texts)
    if kinds == {"value"} and sum(bool(_NUMBER.match(text)) for text in texts) > 1:
        return f"was a new Python value each time ({_list(texts)}): pass a tensor, tf.constant({name})"
    if kinds == {"value"}:
        return (
            f"came as the Python values {_list(texts)}, each of which is traced: pass few different ones, or a tensor"
        )
    if kinds == {"object"}:
        return "was another object each time, told apart by identity: pass the same one, or only its tensors"
    if kinds == {"structure"}:
        return f"came as {_list(texts)}, and each length is traced: pass one stacked tensor, or pad it"
    return f"came as {_list([_in_words(kind, text) for kind, text in values])}: pass the same kind in every call"


def _tensors(texts: Sequence[str]) -> str:
    tensors = [tensor for text in texts for tensor in parse_tensors(text)]
    shapes = [tensor.shape for tensor in tensors]
    dtypes = list(dict.fromkeys(tensor.dtype for tensor in tensors))
    if len(dtypes) > 1:
        return f"came as {_list(dtypes)}: convert it to one dtype before the call, tf.cast(...)"
    spec = f"tf.TensorSpec({_open(shapes)}, tf.{dtypes[0]})"
    return f"came in shapes {_list([_written(shape) for shape in shapes])}: give input_signature with {spec}, or pad"


def _written(shape: Shape) -> str:
    """Write a shape as Python does."""
    return "(...)" if shape is None else str(shape)


def _open(shapes: Sequence[Shape]) -> str:
    """Return the shape that all have, None where they differ."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or len(set(map(len, known))) > 1:
        return "None"
    common = [str(sizes[0]) if len(set(sizes)) == 1 else "None" for sizes in zip(*known, strict=True)]
    return f"[{', '.join(common)}]"


def _in_words(kind: str, text: str) -> str:
    return f"a tensor {text}" if kind == "tensor" else "an object" if kind == "object" else text


def _list(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return ", ".join(distinct[:_NAMED]) + (", ..." if len(distinct) > _NAMED else "")
