"""What to change about ops on all rows of a large embedding table, in steps that look few rows up."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.shapes import Shape, origin_of, sizes
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE, _FEW_ROWS = 1_000_000, 0.1  # numbers in a table; looked up in a step, of all rows
_LOOKUPS = ("GatherV2", "ResourceGather")
_PENALTIES = ("Square", "L2Loss", "Abs", "Mul", "Pow")
_IN_CODE = (
    ": give tf.nn.l2_loss what the lookup returns, and not the table. The gradient then has these rows only "
    "(tf.IndexedSlices). Keep it so: an optimizer's apply_gradients and `table.scatter_sub` take it as it is, "
    "tf.convert_to_tensor and assign_sub make it whole again."
)
_DIVIDED = "; Keras divides the new penalty by the batch size"

PENALTY = Rule(
    "penalty-on-whole-table",
    "A penalty is computed on all rows of a large table",
    "Looks for a regularizer on an embedding of a million numbers and more, of which a step looks up at most a tenth.",
    "The penalty squares every row, gives each a gradient, and so lets each be updated, in every step.",
    group="graph",
    page="ops",
    moderate=30.0,
    high=60.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="dynamics",
)
UPDATES = Rule(
    "optimizer-on-whole-table",
    "The optimizer updates all rows of a large table",
    "Looks for optimizers with moments (Adam, SGD with momentum) on embeddings of a million numbers and more, of which "
    "a step looks up at most a tenth.",
    "Moments of every row change in each step, so every row is read and written, also those that the batch lacks.",
    group="graph",
    page="ops",
    moderate=30.0,
    high=60.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
)


class _Table(NamedTuple):
    """A large table: its variable, its shape, and how many rows a step looks up."""

    variable: int
    shape: Shape
    rows_used: int


def table_findings(evidence: Evidence) -> list[Finding]:
    """Report penalties on whole tables, or else optimizers that update all rows, that take much of the steps."""
    ops = evidence.step_ops()
    tables = _tables(ops.graphs) if ops.steps else []
    if not tables:
        return []
    whole = {table.shape: _on_all_rows(ops.graphs, table.shape) for table in tables}
    optimizer = ops.graphs.once(owners)[1] == 2
    penalties = {table: node for table in tables if (node := _penalty_on(ops.graphs, table)) >= 0}
    penalised = list(penalties)
    with_moments = [table for table in tables if _has_moments(ops.graphs, table)]
    if penalised:
        own = np.logical_or.reduce([whole[table.shape] for table in penalised])
        remaining = np.logical_or.reduce([whole[table.shape] for table in with_moments] or [~own & own]) & optimizer
        return _penalty(evidence, ops, penalised[0], own & ~remaining, penalties[penalised[0]])
    if with_moments:
        own = np.logical_or.reduce([whole[table.shape] for table in with_moments])
        return _updates(ops, with_moments, own & optimizer)
    return []


def _penalty(evidence: Evidence, ops: StepOps, table: _Table, own: Bools, node: int) -> list[Finding]:
    percent = 100 * ops.share(ops.ran(own)).covered
    if percent < PENALTY.moderate:
        return []
    name, place = _layer(ops, table)
    of_layer = bool(ops.graphs.variables["layer"].iloc[table.variable] >= 0)
    penalty_at = "" if of_layer else ops.place(ops.frame_of(node))
    change = _of_used_rows(evidence, place)
    return [
        saving(
            PENALTY,
            percent,
            finding=f"A penalty is computed on all {_units.count(table.shape[0])} rows of {name} in each step"
            f"{penalty_at and f' ({penalty_at})'}",
            evidence=f"A step looks up {_units.count(table.rows_used)} rows. Squares of the whole table, their "
            f"gradients and their updates run in {_units.percent(percent)} of each step.",
            fix=f"Penalise the rows that the batch uses{_instead(change) if of_layer else _IN_CODE} Frequent rows are "
            f"then penalised more often than rare ones, so tune its strength again{_DIVIDED * of_layer}.",
            place=penalty_at or place,
            change=change,
        )
    ]


def _instead(change: str) -> str:
    """Say how to penalise what a layer of Keras looks up."""
    if change:
        return f": `{_units.shorten(change, 100)}`."
    return ": activity_regularizer instead of embeddings_regularizer."


def _updates(ops: StepOps, tables: list[_Table], own: Bools) -> list[Finding]:
    percent = 100 * ops.share(ops.ran(own)).covered
    if percent < UPDATES.moderate:
        return []
    name, place = _layer(ops, tables[0])
    more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
    return [
        saving(
            UPDATES,
            percent,
            finding=f"The optimizer updates all {_units.count(tables[0].shape[0])} rows of {name}{more} in each step",
            evidence=f"A step looks up {_units.count(tables[0].rows_used)} rows. The optimizer's ops on whole tables "
            f"run in {_units.percent(percent)} of each step: it keeps moments of every row, and these change in each "
            "step.",
            fix="Use keras.optimizers.SGD without momentum, which updates only the rows of the batch; it needs "
            "another, often larger learning rate. Or reduce input_dim: let rare values share a row.",
            place=place,
        )
    ]


def _tables(graphs: Graphs) -> list[_Table]:
    """Return the large tables of which a step looks up few rows, the largest first."""
    nodes = graphs.nodes
    op, inputs, variable = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["variable"].tolist()
    trainable = np.append(graphs.variables["trainable"].to_numpy(bool), False)
    found: dict[int, _Table] = {}
    for node, kind in enumerate(op):
        if kind not in _LOOKUPS:
            continue
        read = node if kind == "ResourceGather" else origin_of(inputs[node][0], op, inputs) if inputs[node] else node
        table = variable[read]
        shape = _shape(graphs, table)
        looked_up = next(iter(sizes(str(nodes["outputs"].iloc[node]))), ())
        used = math.prod(looked_up[:-1]) + (found[table].rows_used if table in found else 0)
        if trainable[table] and shape and math.prod(shape) >= _LARGE and looked_up:
            found[table] = _Table(table, shape, used)
    few = [table for table in found.values() if table.rows_used <= _FEW_ROWS * table.shape[0]]
    return sorted(few, key=lambda table: -math.prod(table.shape))


def _shape(graphs: Graphs, variable: int) -> Shape:
    """Return the shape of a table, as what reads it whole tells; empty if that is unknown."""
    nodes = graphs.nodes
    reads = nodes.loc[(nodes["variable"] == variable) & (nodes["op"] == "ReadVariableOp"), "outputs"]
    shapes = [shape for text in reads.astype(str) for shape in sizes(text) if len(shape) == 2]
    return shapes[0] if variable >= 0 and shapes else ()


def _on_all_rows(graphs: Graphs, shape: Shape) -> Bools:
    """Flag the ops on tensors of a table's shape, without the lookups."""
    texts = zip(graphs.nodes["op"], graphs.nodes["outputs"], graphs.nodes["takes"], strict=True)
    flags = [op not in _LOOKUPS and shape in [*sizes(str(made)), *sizes(str(taken))] for op, made, taken in texts]
    return np.array(flags, dtype=bool)


def _penalty_on(graphs: Graphs, table: _Table) -> int:
    """Return the node of the forward pass that squares the whole table; -1 if there is none."""
    nodes = graphs.nodes
    op, inputs, variable = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["variable"].tolist()
    forward = (nodes["forward"] < 0).to_numpy(bool) & ~nodes["phase"].isin(["optimizer", "backward"]).to_numpy(bool)
    squares = (
        node
        for node, kind in enumerate(op)
        if kind in _PENALTIES
        and forward[node]
        and any(
            variable[origin] == table.variable and op[origin] not in _LOOKUPS
            for origin in (origin_of(source, op, inputs) for source in inputs[node])
        )
    )
    return next(squares, -1)


def _has_moments(graphs: Graphs, table: _Table) -> bool:
    """Whether the optimizer keeps numbers of the table's size."""
    variables = graphs.variables
    kept = ~variables["trainable"].astype(bool) & (variables["parameters"] == math.prod(table.shape))
    return bool(kept.any())


def _layer(ops: StepOps, table: _Table) -> tuple[str, str]:
    """Return what to call a table, and the line that makes it or looks it up."""
    graphs = ops.graphs
    layer = int(graphs.variables["layer"].iloc[table.variable])
    name = str(graphs.variables["name"].iloc[table.variable]) if layer < 0 else str(graphs.layers["name"].iloc[layer])
    made = -1 if layer < 0 else int(graphs.layers["frame"].iloc[layer])
    kind = "" if layer < 0 else str(graphs.layers["type"].iloc[layer])
    place = ops.place(made)
    short = name.rpartition("/")[2]
    return (f"the {kind} layer {short}" if kind else short) + (f" ({place})" if place else ""), place


def _of_used_rows(evidence: Evidence, place: str) -> str:
    """Return the layer's line with a penalty on what it returns; empty if the line has none on the table."""
    code = evidence.code.at(place)
    change, count = re.subn(r"\bembeddings_regularizer(?= *=)", "activity_regularizer", code)
    return change if count == 1 and line_at(place)[1] else ""
