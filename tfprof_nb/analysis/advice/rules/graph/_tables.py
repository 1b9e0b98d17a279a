"""Large embedding tables of which a step looks up few rows."""

import math
from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.source.layer_frames import layer_frames
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.shapes import Shape, origin_of, sizes
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE, _FEW_ROWS = 100_000, 0.1  # numbers in a table; looked up in a step, of all rows
LOOKUPS = ("GatherV2", "ResourceGather")


class Table(NamedTuple):
    """A large table: its variable, its shape, and how many rows a step looks up."""

    variable: int
    shape: Shape
    rows_used: int


def tables(graphs: Graphs) -> list[Table]:
    """Return the large tables of which a step looks up few rows, the largest first."""
    nodes = graphs.nodes
    op, inputs, variable = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["variable"].tolist()
    trainable = np.append(graphs.variables["trainable"].to_numpy(bool), False)
    found: dict[int, Table] = {}
    for node, kind in enumerate(op):
        if kind not in LOOKUPS:
            continue
        read = node if kind == "ResourceGather" else origin_of(inputs[node][0], op, inputs) if inputs[node] else node
        table = variable[read]
        shape = _shape(graphs, table)
        looked_up = next(iter(sizes(str(nodes["outputs"].iloc[node]))), ())
        used = math.prod(looked_up[:-1]) + (found[table].rows_used if table in found else 0)
        if trainable[table] and shape and math.prod(shape) >= _LARGE and looked_up:
            found[table] = Table(table, shape, used)
    few = [table for table in found.values() if table.rows_used <= _FEW_ROWS * table.shape[0]]
    return sorted(few, key=lambda table: -math.prod(table.shape))


def _shape(graphs: Graphs, variable: int) -> Shape:
    """Return the shape of a table, as what reads it whole tells; empty if that is unknown."""
    nodes = graphs.nodes
    reads = nodes.loc[(nodes["variable"] == variable) & (nodes["op"] == "ReadVariableOp"), "outputs"]
    shapes = [shape for text in reads.astype(str) for shape in sizes(text) if len(shape) == 2]
    return shapes[0] if variable >= 0 and shapes else ()


def on_all_rows(graphs: Graphs, shape: Shape) -> Bools:
    """Flag the ops on tensors of a table's shape, without the lookups."""
    texts = zip(graphs.nodes["op"], graphs.nodes["outputs"], graphs.nodes["takes"], strict=True)
    flags = [op not in LOOKUPS and shape in [*sizes(str(made)), *sizes(str(taken))] for op, made, taken in texts]
    return np.array(flags, dtype=bool)


def has_moments(graphs: Graphs, table: Table) -> bool:
    """Whether the optimizer keeps numbers of the table's size."""
    variables = graphs.variables
    kept = ~variables["trainable"].astype(bool) & (variables["parameters"] == math.prod(table.shape))
    return bool(kept.any())


def name_and_place(ops: StepOps, table: Table) -> tuple[str, str]:
    """Return what to call a table, and the line that makes it or looks it up."""
    graphs = ops.graphs
    layer = int(graphs.variables["layer"].iloc[table.variable])
    name = str(graphs.variables["name"].iloc[table.variable]) if layer < 0 else str(graphs.layers["name"].iloc[layer])
    made = int(graphs.once(layer_frames)[layer if layer >= 0 else len(graphs.layers) + table.variable])
    kind = "" if layer < 0 else str(graphs.layers["type"].iloc[layer])
    place = ops.place(made)
    short = name.rpartition("/")[2]
    return (f"the {kind} layer {short}" if kind else short) + (f" ({place})" if place else ""), place


def in_optimizer(graphs: Graphs) -> Bools:
    """Flag the ops of the optimizer."""
    of_optimizer: Bools = graphs.once(owners)[1] == 2
    return of_optimizer
