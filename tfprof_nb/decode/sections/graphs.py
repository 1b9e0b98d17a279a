"""Parse the section ``graphs``: the functions that ran, as frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.formats.sidecar import FunctionEntry, GraphsSection

T = TypeVar("T")
_NODE_COLUMNS = [
    *("function", "name", "op", "device", "outputs", "takes", "phase"),
    *("trace", "layer", "variable", "forward", "float_ops", "inputs", "by_keras"),
]
_ALL = 1_000_000  # arguments of a function of which it is not known what its callers give


@dataclass(frozen=True, eq=False)
class Graphs:
    """The functions that ran; -1 is no row.

    Attributes
    ----------
    nodes
        The nodes of all functions, in the order of the functions: ``function name op device outputs takes phase trace
        layer variable forward float_ops inputs by_keras``.
    functions
        ``name called batch python signature given``: ``python`` is the name of the Python function, ``signature``
        its arguments as (name, kind, text), empty if they are not known; ``given`` is the number of
        its first arguments, which callers give; the others are the same in every call.
    arguments
        The arguments of functions that nodes take, by their place among the node's inputs: ``node place argument``.
    calls
        The calls of nodes: ``node role function``.
    frames
        Lines of code: ``file line function text users``.
    traces
        Tracebacks as lists of frames, the innermost first.
    layers
        Keras layers: ``name type frame``, the line that makes each, -1 if unknown.
    variables
        ``name dtype parameters trainable model layer``; older files lack ``model``.
    notes
        What was left out, and why.
    sources
        The texts of files of the user's, by their names.
    """

    nodes: pd.DataFrame
    functions: pd.DataFrame
    calls: pd.DataFrame
    arguments: pd.DataFrame
    frames: pd.DataFrame
    traces: Sequence[Sequence[int]]
    layers: pd.DataFrame
    variables: pd.DataFrame
    notes: Sequence[str]
    sources: Mapping[str, str] = field(default_factory=dict)
    _results: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, analysis: Callable[[Graphs], T]) -> T:
        """Return the result of an analysis of these functions, which runs once."""
        if analysis not in self._results:
            self._results[analysis] = analysis(self)
        result: T = self._results[analysis]
        return result


def read_graphs(section: GraphsSection | None) -> Graphs:
    """Return the functions of a section; without one, frames without rows."""
    section = section or {}
    texts = np.array([*section.get("strings", ()), ""], dtype=object)
    functions = section.get("functions", [])
    first = np.cumsum([0, *(len(function["names"]) for function in functions)])
    parts = [_nodes(function, number, int(first[number]), texts) for number, function in enumerate(functions)]
    calls = [
        (_of(function, node) + first[number], role, called)
        for number, function in enumerate(functions)
        for node, role, called in function["calls"]
    ]
    arguments = [
        (_of(function, node) + first[number], place, argument)
        for number, function in enumerate(functions)
        for node, place, argument in function.get("arguments", ())
    ]
    layers = _table(section.get("layers", {}), texts, ["name", "type"], ["frame"])
    graphs = Graphs(
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_NODE_COLUMNS),
        _functions(functions),
        pd.DataFrame(calls, columns=["node", "role", "function"]),
        pd.DataFrame(arguments, columns=["node", "place", "argument"], dtype=np.int64),
        _table(section.get("frames", {}), texts, ["file", "function", "text"], ["line", "users"]),
        section.get("traces", []),
        layers.fillna({"frame": -1}).astype({"frame": np.int64}),
        _table(
            section.get("variables", {}), texts, ["name", "dtype"], ["parameters", "trainable", "model", "layer"]
        ).fillna({"layer": -1}),
        [str(note) for note in section.get("notes", [])],
        {str(file): str(text) for file, text in section.get("sources", {}).items()},
    )
    _check(graphs)
    return graphs


def _check(graphs: Graphs) -> None:
    """Raise an `IndexError` if a table lacks a row that another table refers to."""
    nodes = graphs.nodes
    references = {
        "trace": (nodes["trace"], len(graphs.traces)),
        "layer": (nodes["layer"], len(graphs.layers)),
        "variable": (nodes["variable"], len(graphs.variables)),
        "forward": (nodes["forward"], len(nodes)),
        "input": (list(chain(*nodes["inputs"])), len(nodes)),
        "called function": (graphs.calls["function"], len(graphs.functions)),
        "frame": ([*chain(*graphs.traces), *graphs.layers["frame"]], len(graphs.frames)),
    }
    for name, (rows, there) in references.items():
        named = np.array(rows, dtype=np.int64)
        if named.max(initial=-1) >= there or named.min(initial=0) < -1:
            raise IndexError(f"a {name} does not exist")


def _of(function: FunctionEntry, node: int) -> int:
    """Return a node if its function has it."""
    if not 0 <= node < len(function["names"]):
        raise IndexError("a node of a call does not exist")
    return node


def _functions(functions: Sequence[FunctionEntry]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {
        "python": [str(function.get("python", "")) for function in functions],
        "signature": [
            [(str(name), str(kind), str(text)) for name, kind, text in function.get("signature", ())]
            for function in functions
        ],
        "given": [_ALL if (given := function.get("given")) is None else int(given) for function in functions],
    }
    return pd.DataFrame(functions, columns=["name", "called", "batch"]).assign(**columns)


def _nodes(function: FunctionEntry, number: int, first: int, texts: Objects) -> pd.DataFrame:
    """Return a function's nodes; ``first`` is the row of its first node among those of all functions."""
    none = [-1] * len(function["names"])  # the graph of a session lacks some columns
    forward = _rows(function.get("forward", none))
    columns = {
        "function": number,
        "name": texts[_rows(function["names"])],
        "op": texts[_rows(function.get("ops", none))],
        "device": texts[_rows(function.get("devices", none))],
        "outputs": texts[_rows(function.get("outputs", none))],
        "takes": texts[_rows(function.get("takes", none))],
        "phase": texts[_rows(function.get("phases", none))],
        "trace": _rows(function.get("traces", none)),
        "layer": _rows(function.get("layers", none)),
        "variable": _rows(function.get("variables", none)),
        "forward": np.where(forward >= 0, forward + first, -1),
        "float_ops": np.array(function["float_ops"], dtype=float),
        "by_keras": np.array(function.get("by_keras", [0] * len(none)), dtype=bool),
        "inputs": [[_of(function, node) + first for node in inputs] for inputs in function["inputs"]],
    }
    return pd.DataFrame(columns, columns=_NODE_COLUMNS)


def _rows(numbers: Sequence[int]) -> Int64:
    rows = np.array(numbers, dtype=np.int64)
    if rows.min(initial=-1) < -1:
        raise IndexError("a row is negative")
    return rows


def _table(table: Mapping[str, Any], texts: Objects, interned: list[str], plain: list[str]) -> pd.DataFrame:
    """Return a table of the section, with the texts themselves in its ``interned`` columns."""
    columns: dict[str, Any] = {name: texts[_rows(table[name] if table else [])] for name in interned}
    return pd.DataFrame(columns | {name: table[name] for name in plain if name in table}, columns=interned + plain)
