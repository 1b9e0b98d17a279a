import re

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.advice.rules.graph._tables import (
    LOOKUPS,
    Table,
    has_moments,
    in_optimizer,
    name_and_place,
    on_all_rows,
    tables,
)
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.step_ops.shapes import origin_of
from tfprof_nb.decode.sections.graphs import Graphs

_PENALTIES = ("Square", "L2Loss", "Abs", "Mul", "Pow")
_BY_LAYER = "activity_regularizer instead of embeddings_regularizer."
_IN_CODE = (
    "give tf.nn.l2_loss what the lookup returns, and not the table. The gradient then has these rows only "
    "(tf.IndexedSlices). Keep it so: an optimizer's apply_gradients and `table.scatter_sub` take it as it is, "
    "tf.convert_to_tensor and assign_sub make it whole again."
)
_DIVIDED = "; Keras divides the new penalty by the batch size"

RULE = Rule(
    "penalty-on-whole-table",
    "A penalty is computed on all rows of a large table",
    "Looks for a regularizer on an embedding of 100,000 numbers or more, of which a step looks up at most a tenth.",
    "The penalty squares every row, gives each a gradient, and so lets each be updated, in every step.",
    action="Penalise the rows that the batch uses",
    page="ops",
    moderate=30.0,
    high=60.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="dynamics",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    found = tables(ops.graphs) if ops.steps else []
    penalties = {table: node for table in found if (node := _penalty_on(ops.graphs, table)) >= 0}
    if not penalties:
        return
    own = np.logical_or.reduce([on_all_rows(ops.graphs, table.shape) for table in penalties])
    kept = [on_all_rows(ops.graphs, table.shape) for table in found if has_moments(ops.graphs, table)]
    # An optimizer with moments updates all rows without the penalty, too.
    remaining = np.logical_or.reduce(kept or [~own & own]) & in_optimizer(ops.graphs)
    percent = ops.percent(own & ~remaining)
    table, node = next(iter(penalties.items()))
    name, place = name_and_place(ops, table)
    of_layer = bool(ops.graphs.variables["layer"].iloc[table.variable] >= 0)
    penalty_at = "" if of_layer else ops.place(ops.frame_of(node))
    change = _of_used_rows(evidence, place)
    yield Case(
        percent,
        finding=f"A penalty is computed on all {_units.count(table.shape[0])} rows of {name} in each step"
        f"{at(penalty_at)}",
        evidence=f"A step looks up {_units.count(table.rows_used)} rows. Squares of the whole table, their "
        f"gradients and their updates run in {_units.percent(percent)} of each step.",
        fix=f"Penalise the rows that the batch uses: {_BY_LAYER if of_layer else _IN_CODE} Frequent rows are then "
        f"penalised more often than rare ones, so tune its strength again{_DIVIDED * of_layer}.",
        place=penalty_at or place,
        change=change,
    )


def _penalty_on(graphs: Graphs, table: Table) -> int:
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
            variable[origin] == table.variable and op[origin] not in LOOKUPS
            for origin in (origin_of(source, op, inputs) for source in inputs[node])
        )
    )
    return next(squares, -1)


def _of_used_rows(evidence: Evidence, place: str) -> str:
    """Return the layer's line with a penalty on what it returns; empty if the line has none on the table."""
    code = evidence.code.at(place)
    change, count = re.subn(r"\bembeddings_regularizer(?= *=)", "activity_regularizer", code)
    return change if count == 1 and line_at(place)[1] else ""
