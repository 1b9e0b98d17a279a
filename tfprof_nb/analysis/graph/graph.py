"""The graph that ran, as trees with the own and total time, memory, parameters and float ops of each node.

These are tfprof's four views, with tfprof's options, of what was captured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.graph.estimate import Estimate, Target, estimate
from tfprof_nb.analysis.graph.model import AVERAGE, COLUMN, Frame, GraphModel
from tfprof_nb.analysis.graph.options import GraphOptions, parse_options
from tfprof_nb.analysis.graph.trees import VIEWS, Rows
from tfprof_nb.analysis.result import Result

R = TypeVar("R", bound=Result)
_SHOWN_BOTH_WAYS = (
    "micros",
    "bytes",
    "parameters",
    "float_ops",
    "accelerator_micros",
    "cpu_micros",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
)
_FIRST = 4  # so many of them precede the columns that describe a row


@dataclass(eq=False, kw_only=True)
class GraphTree(Result):
    """One view of a graph; `table` has a row per node that is shown, each after its parent, the root first.

    ``self_`` is a row's own, ``total_`` that of the row and all rows below it; in the op view, of the op types from it
    on. ``depth`` is 0 at the root. Times are microseconds of a step, of an average step, or without steps of the whole
    capture; threads that run in parallel all count. Unknown float ops are missing.

    Attributes
    ----------
    kind
        ``scope``, ``graph``, ``op`` or ``code``.
    options
        Its options.
    frames
        In the code view, each row's line: (file, line, function); None for the root.
    nodes
        The numbers of the nodes that each row stands for.
    model
        The graph that it shows.
    """

    kind: str
    options: GraphOptions
    frames: list[Frame | None] = field(repr=False)
    nodes: list[list[int]] = field(repr=False)
    model: GraphModel = field(repr=False)


@dataclass(eq=False, kw_only=True)
class Graph(Result):
    """The graph that ran; `table` is the view of its name scopes.

    Examples
    --------
    >>> import tensorflow as tf, tfprof_nb as tp
    >>> product = tf.function(lambda x: tf.linalg.matmul(x, x))
    >>> with tp.profile() as p:
    ...     _ = product(tf.ones((8, 8)))
    >>> ops = p.graph.op(order_by="float_ops").table
    >>> float(ops.set_index("name").loc["MatMul", "self_float_ops"])
    1024.0
    """

    model: GraphModel = field(repr=False)
    # Writes a view where its options say.
    write: Callable[[GraphTree], object] = field(repr=False)
    show_part: Callable[[str, Result], Any] | None = field(default=None, repr=False)

    def scope(self, options: Mapping[str, Any] | None = None, **more: Any) -> GraphTree:
        """Return the tree of name scopes: ``a/b`` is below ``a``.

        Parameters
        ----------
        options
            tfprof's options, as ``tf.compat.v1.profiler.ProfileOptionBuilder`` makes them; or give them as keywords.
            `GraphOptions` describes them.

        Raises
        ------
        ValueError
            If an option is unknown, or its value is invalid.
        """
        return self._tree("scope", options, more)

    def graph(self, options: Mapping[str, Any] | None = None, **more: Any) -> GraphTree:
        """Return the tree of data flow: below a node is what it takes data from. Parameters are those of `scope`."""
        return self._tree("graph", options, more)

    def op(self, options: Mapping[str, Any] | None = None, **more: Any) -> GraphTree:
        """Return the list of op types. Parameters are those of `scope`."""
        return self._tree("op", options, more)

    def code(self, options: Mapping[str, Any] | None = None, **more: Any) -> GraphTree:
        """Return the tree of the calls that made the nodes, the outermost first. Parameters are those of `scope`."""
        return self._tree("code", options, more)

    def estimate(self, device: Target | Mapping[str, float]) -> Estimate:
        """Estimate a step on a device: parameter bytes, peak live bytes and a bound of its time.

        Parameters
        ----------
        device
            ``peak_flops_per_s``, ``bandwidth_bytes_per_s`` and ``memory_bytes`` of the device.

        Raises
        ------
        ValueError
            If one of these is missing or not above 0.
        """
        return self._shown("estimate", estimate(self.model, device))

    def _tree(self, kind: str, options: Mapping[str, Any] | None, more: Mapping[str, Any]) -> GraphTree:
        tree = graph_tree(self.model, kind, parse_options(options, **more))
        self.write(tree)
        return self._shown(f"{kind} view", tree)

    def _shown(self, title: str, part: R) -> R:
        """Give a part the profile's way of showing it."""
        show = self.show_part
        return part.shown_by(lambda: show(title, part)) if show else part


def graph(model: GraphModel, write: Callable[[GraphTree], object] = lambda _: None) -> Graph:
    """Describe a graph and its runs.

    Parameters
    ----------
    write
        Writes each view where its options say: analyses write nothing themselves.

    Returns
    -------
    Graph
        Its summary has ``nodes``, ``steps``, ``micros`` and ``float_ops`` (of an average step, or without steps of the
        whole capture; None if unknown) and ``parameters`` (of the model, without its optimizer's).
    """
    tree = graph_tree(model, "scope", GraphOptions())
    root = tree.table.iloc[0]
    summary = {
        "nodes": len(model.nodes),
        "steps": len(model.steps) if model.period == "step" else 0,
        "parameters": int(root["total_parameters"]),
        "float_ops": None if np.isnan(root["total_float_ops"]) else float(root["total_float_ops"]),
        "micros": float(root["total_micros"]) if len(model.runs) else None,
    }
    return Graph(tree.table, summary, list(model.notes), model=model, write=write)


def graph_tree(model: GraphModel, kind: str, options: GraphOptions) -> GraphTree:
    """Return one view of a graph.

    Raises
    ------
    ValueError
        If the step is none of the model's.
    """
    if options.step != AVERAGE and options.step not in model.steps:
        steps = ", ".join(map(str, model.steps)) or "none"
        raise ValueError(f"step: there is no step {options.step}. There are {steps}, and -1 for their average.")
    rows = VIEWS[kind](model, options)
    table = _table(model, rows)
    summary = {"rows": len(table), "step": options.step, **_totals(table)}
    return GraphTree(
        table,
        summary,
        _notes(model, rows),
        kind=kind,
        options=options,
        frames=rows.frames,
        nodes=rows.nodes,
        model=model,
    )


def _totals(table: pd.DataFrame) -> dict[str, float]:
    return {name: table.iloc[0][f"total_{name}"] for name in _SHOWN_BOTH_WAYS[:_FIRST]}


def _notes(model: GraphModel, rows: Rows) -> list[str]:
    nothing = ["Nothing is left to show with these options."] if len(rows.names) == 1 else []
    return [*nothing, *model.notes]


def _table(model: GraphModel, rows: Rows) -> pd.DataFrame:
    both = {
        f"{prefix}_{name}": _values(metrics, name)
        for name in _SHOWN_BOTH_WAYS
        for prefix, metrics in (("total", rows.total), ("self", rows.own))
    }
    shapes = model.nodes["input_shapes"].to_numpy(object)
    first = dict(list(both.items())[: 2 * _FIRST])
    described = {
        "occurrences": _whole(rows.own[:, COLUMN["occurrences"]]),
        "device": _joined(model.nodes["device"], rows.nodes),
        "input_shapes": [shapes[some[0]] if len(some) == 1 else "" for some in rows.nodes],
    }
    more = {
        "op_types": _all_types(model.nodes["types"], rows.nodes),
        "total_occurrences": _whole(rows.total[:, COLUMN["occurrences"]]),
        "definitions": rows.own[:, COLUMN["definitions"]].astype(np.int64),
        "total_definitions": rows.total[:, COLUMN["definitions"]].astype(np.int64),
        "total_nodes": _whole(rows.total[:, COLUMN["nodes"]]),
        "self_nodes": _whole(rows.own[:, COLUMN["nodes"]]),
    }
    return pd.DataFrame({"name": rows.names, "depth": rows.depth, **first, **described, **both, **more})


def _values(metrics: Floats, name: str) -> np.ndarray[Any, Any]:
    values = metrics[:, COLUMN[name]]
    if name == "float_ops":
        return np.where(metrics[:, COLUMN["counted"]] > 0, values, np.nan)
    return values if name.endswith("micros") else _whole(values)


def _whole(values: Floats) -> Int64:
    return np.rint(values).astype(np.int64)


def _all_types(types: pd.Series[Any], nodes: list[list[int]]) -> list[str]:
    """Name what ``account_type_regexes`` are matched against: op types, devices, and types of the program's own."""
    known = types.tolist()
    return ["|".join(dict.fromkeys(name for node in some for name in known[node] if name)) for some in nodes]


def _joined(texts: pd.Series[str], nodes: list[list[int]]) -> list[str]:
    values = texts.to_numpy(object)
    return [
        values[some[0]] if len(some) == 1 else "|".join(sorted({values[node] for node in some if values[node]}))
        for some in nodes
    ]
