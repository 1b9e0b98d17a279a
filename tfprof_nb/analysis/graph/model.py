"""A graph and its runs as columns: the source of the four views, wherever the graph came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64

Frame = tuple[str, int, str]

AVERAGE = -1
# The scope of ops that no described function has: eager ones, those of tf.data, those that TensorFlow made itself.
OUTSIDE = "outside functions"
MEASURED = (
    "occurrences",
    "micros",
    "accelerator_micros",
    "cpu_micros",
    "bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
)
METRICS = (*MEASURED, "parameters", "float_ops", "definitions", "nodes", "counted")
"""Columns that are summed over a tree. ``definitions`` counts nodes and, as tfprof does, scopes; ``nodes`` only
nodes, ``counted`` those with known float ops."""
COLUMN = {name: place for place, name in enumerate(METRICS)}


@dataclass(frozen=True, eq=False)
class GraphModel:
    """The nodes of a graph, and what each took in each step.

    Attributes
    ----------
    nodes
        One row per node: ``name`` (unique), ``op_type``, ``device`` (lower case, empty if it did not run),
        ``types`` (a tuple, which ``account_type_regexes`` are matched against), ``parameters`` (of the model),
        ``float_ops`` (of one run; NaN if unknown), ``input_shapes``, ``trace`` (a tuple of (file, line, function), the
        outermost first; empty if unknown). Of the graph itself, whatever ran: ``graph_float_ops``, ``input_bytes`` and
        ``output_bytes`` (0 if a shape is open), ``phase`` (of a training step), ``function`` (its number) and
        ``holds_variable`` (whether it is the first to read a variable, including those of an optimizer) and
        ``variable_shape`` (of that variable, such as ``8x3``; empty if unknown).
    inputs
        For each node the nodes that it takes data from or waits for, in order.
    runs
        One row per node and step in which it ran: ``node step`` and `MEASURED`.
    intervals
        One row per run on a device: ``node step device start_us duration_us``; empty if this is unknown.
    notes
        What is missing or estimated.
    period
        What an average is over: a ``step``, or the whole ``capture`` if there are no steps.
    occasional
        The nodes that ran in too few of the steps to be part of an average step; averages are then over all of
        ``averaged``. None: each node's average is over the steps in which it ran, as in tfprof.
    averaged
        The steps that `occasional` and such averages are of.
    """

    nodes: pd.DataFrame
    inputs: Sequence[Sequence[int]]
    runs: pd.DataFrame
    intervals: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["node", "step", "device", "start_us", "duration_us"])
    )
    notes: tuple[str, ...] = ()
    period: str = "step"
    occasional: Int64 | None = None
    averaged: frozenset[int] = frozenset()

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps with runs."""
        return sorted(int(step) for step in self.runs["step"].unique())

    def metrics(self, step: int = AVERAGE) -> Floats:
        """Return `METRICS` of each node, one column each.

        Parameters
        ----------
        step
            One step, or -1 for the average: over the steps in which a node ran (rounded down if whole), or over all of
            ``averaged``.
        """
        measured = list(MEASURED)
        table = np.zeros((len(self.nodes), len(METRICS)))
        if step == AVERAGE:
            rows = self._average(measured)
        else:
            rows = self.runs[self.runs["step"] == step].set_index("node")[measured]
        table[rows.index.to_numpy(np.int64), : len(measured)] = rows
        table[:, COLUMN["parameters"]] = self.nodes["parameters"]
        table[:, COLUMN["float_ops"]] = self._float_ops(table[:, COLUMN["occurrences"]])
        table[:, [COLUMN["definitions"], COLUMN["nodes"]]] = 1
        table[:, COLUMN["counted"]] = self.nodes["float_ops"].notna()
        return table

    def _average(self, measured: list[str]) -> pd.DataFrame:
        if self.occasional is not None:
            usual = self.runs[~self.runs["node"].isin(self.occasional) & self.runs["step"].isin(self.averaged)]
            return usual.groupby("node")[measured].sum() / max(len(self.averaged), 1)
        by_node = self.runs.groupby("node")[measured]
        rows = by_node.sum().div(by_node.size(), axis=0)
        whole = [name for name in measured if pd.api.types.is_integer_dtype(self.runs[name])]
        rows[whole] = np.floor(rows[whole])
        return rows

    def _float_ops(self, occurrences: Floats) -> Floats:
        """Return the float ops of all runs; for a node that never ran, those of one run."""
        ran = np.isin(np.arange(len(self.nodes)), self.runs["node"].to_numpy())
        once = self.nodes["float_ops"].fillna(0.0).to_numpy(np.float64)
        floats: Floats = np.where(ran, once * occurrences, once)
        return floats


def no_runs() -> pd.DataFrame:
    """Return `GraphModel.runs` of a graph that did not run."""
    return pd.DataFrame({name: np.array([], np.int64) for name in ("node", "step", *MEASURED)})


def undescribed_nodes(names: Sequence[str], op_types: Sequence[str], function: int) -> pd.DataFrame:
    """Return `GraphModel.nodes` of nodes of which only name and type are known."""
    return pd.DataFrame(
        {
            "name": np.array(names, object),
            "op_type": np.array(op_types, object),
            "device": "",
            "types": [(op_type,) for op_type in op_types],
            "parameters": 0,
            "holds_variable": False,
            "variable_shape": "",
            "float_ops": np.nan,
            "input_shapes": "",
            "trace": [()] * len(names),
            "output_bytes": 0,
            "input_bytes": 0,
            "graph_float_ops": np.nan,
            "phase": "",
            "function": function,
        }
    )


def with_devices(nodes: pd.DataFrame, device: pd.Series[str]) -> pd.DataFrame:
    """Add the devices on which nodes ran, also to their types.

    Parameters
    ----------
    nodes
        `GraphModel.nodes`.
    device
        By node, as far as it is known.
    """
    ran_on = nodes.index.to_series().map(device).astype(object).fillna("")
    types = [
        tuple(dict.fromkeys(filter(None, (*own, place)))) for own, place in zip(nodes["types"], ran_on, strict=True)
    ]
    return nodes.assign(device=ran_on, types=pd.Series(types, nodes.index, dtype=object))
