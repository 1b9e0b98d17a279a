"""The functions that ran, as frames: the sidecar's section ``graphs`` (``docs/sidecar.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

SECTION = "graphs"
_NODE_TEXTS = {
    "names": "name",
    "ops": "op",
    "devices": "device",
    "outputs": "outputs",
    "takes": "takes",
    "phases": "phase",
}
_NODE_ROWS = {"traces": "trace", "layers": "layer", "variables": "variable"}


@dataclass(frozen=True, eq=False)
class Graphs:
    """Nodes of all functions, counted through in the order of the functions; -1 is none.

    Attributes
    ----------
    nodes
        ``function name op device outputs takes phase trace layer variable forward float_ops inputs``.
    functions
        ``name called batch python signature``: the name of the Python function that Python called, and its arguments as
        (name, kind, text); empty where they are not known.
    calls
        ``node role function``: what nodes call.
    frames
        ``file line function text users``.
    traces
        Lists of frames, the innermost first.
    layers
        ``name type``.
    variables
        ``name dtype parameters trainable model``; ``model`` is missing in older files.
    notes
        What was left out, and why.
    """

    nodes: pd.DataFrame
    functions: pd.DataFrame
    calls: pd.DataFrame
    frames: pd.DataFrame
    traces: Sequence[Sequence[int]]
    layers: pd.DataFrame
    variables: pd.DataFrame
    notes: Sequence[str]


def read_graphs(section: Mapping[str, Any] | None) -> Graphs:
    """Return what a section holds; without one, frames without rows."""
    section = section or {}
    texts = np.array([*section.get("strings", ()), ""], dtype=object)
    functions = section.get("functions", [])
    first = np.cumsum([0, *(len(function["names"]) for function in functions)])
    parts = [_nodes(function, number, int(first[number]), texts) for number, function in enumerate(functions)]
    calls = [(node + first[i], role, called) for i, f in enumerate(functions) for node, role, called in f["calls"]]
    columns = ["function", *_NODE_TEXTS.values(), *_NODE_ROWS.values(), "forward", "float_ops", "inputs"]
    graphs = Graphs(
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns),
        _functions(functions),
        pd.DataFrame(calls, columns=["node", "role", "function"]),
        _texts(section.get("frames", {}), texts, ["file", "function", "text"], ["line", "users"]),
        section.get("traces", []),
        _texts(section.get("layers", {}), texts, ["name", "type"], []),
        _texts(section.get("variables", {}), texts, ["name", "dtype"], ["parameters", "trainable", "model"]),
        [str(note) for note in section.get("notes", [])],
    )
    _check(graphs)
    return graphs


def _check(graphs: Graphs) -> None:
    """Raise an `IndexError` where a table has not the row that another names."""
    nodes = graphs.nodes
    references = {
        "trace": (nodes["trace"], len(graphs.traces)),
        "layer": (nodes["layer"], len(graphs.layers)),
        "variable": (nodes["variable"], len(graphs.variables)),
        "forward": (nodes["forward"], len(nodes)),
        "input": (list(chain(*nodes["inputs"])), len(nodes)),
        "node of a call": (graphs.calls["node"], len(nodes)),
        "frame": (list(chain(*graphs.traces)), len(graphs.frames)),
    }
    for name, (rows, there) in references.items():
        named = np.array(rows, dtype=np.int64)
        if named.max(initial=-1) >= there or named.min(initial=0) < -1:
            raise IndexError(f"a {name} is not there")


def _functions(functions: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {
        "python": [str(function.get("python", "")) for function in functions],
        "signature": [
            [(str(name), str(kind), str(text)) for name, kind, text in function.get("signature", ())]
            for function in functions
        ],
    }
    return pd.DataFrame(functions, columns=["name", "called", "batch"]).assign(**columns)


def _nodes(function: Mapping[str, Any], number: int, first: int, texts: Any) -> pd.DataFrame:
    none = [-1] * len(function["names"])  # graphs of sessions lack some columns
    forward = np.array(function.get("forward", none), dtype=np.int64)
    columns = {new: texts[np.array(function.get(old, none), np.int64)] for old, new in _NODE_TEXTS.items()}
    rows = {new: np.array(function.get(old, none), dtype=np.int64) for old, new in _NODE_ROWS.items()}
    return pd.DataFrame(
        {
            "function": number,
            **columns,
            **rows,
            "forward": np.where(forward >= 0, forward + first, -1),
            "float_ops": np.array(function["float_ops"], dtype=float),
            "inputs": [[node + first for node in inputs] for inputs in function["inputs"]],
        }
    )


def _texts(table: Mapping[str, Any], texts: Any, interned: list[str], plain: list[str]) -> pd.DataFrame:
    columns = {name: texts[table.get(name, [])] if table else [] for name in interned}
    return pd.DataFrame(columns | {name: table[name] for name in plain if name in table}, columns=interned + plain)
