import ast
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at, quoted
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.syntax import calls_in, replaced
from tfprof_nb.analysis.step_ops.step_ops import StepOps, with_called
from tfprof_nb.decode.sections.graphs import Graphs

_SELECTS = ("Select", "SelectV2")
_BRANCHES = "A branch of tf.cond runs only if it is chosen."

RULE = Rule(
    "discarded-branch",
    "tf.where computes a costly value that it then drops",
    "Looks for `tf.where` with a single condition, one of whose two values takes much of each step.",
    "`tf.where` computes both of its values and then returns one of them. `tf.cond` runs only the branch that is "
    "chosen.",
    action="Compute it only where it is needed",
    page="source",
    moderate=15.0,
    high=30.0,
    saved=(0.5, None),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


class _Side(NamedTuple):
    """A choice by one condition, which of its sides is costly (1 or 2), and the nodes that only this side needs."""

    node: int
    side: int
    nodes: Bools


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    sides = [(ops.share(ops.ran(side.nodes)).covered, side) for side in _sides(ops.graphs)] if ops.steps else []
    share, side = max(sides, key=lambda one: one[0], default=(0.0, None))
    if side is None:
        return
    place = ops.place(ops.frame_of(side.node))
    change, value = _conditional(evidence.code, place, side.side)
    begins = _heaviest(ops, side.nodes)
    what = quoted(value, 60) if value else "it"
    moved = (
        f"Move all that computes {what}{begins and f' (most of it at {begins})'} into a function, and give that "
        "function to tf.cond as the branch: tf.cond(condition, function, lambda: other)."
    )
    yield Case(
        100 * share,
        finding=f"tf.where computes both of its values in each step{at(place)}",
        evidence=f"Its condition is a single one, so it returns one value as a whole. Ops that only "
        f"{f'{quoted(value, 60)}' if value else 'the other value'} needs run in "
        f"{_units.share(share)} of each step, also when it is not returned.",
        fix=f"{'Compute it only where it is needed.' if change else moved} {_BRANCHES}",
        place=place,
        change=change,
        without_change=f"{moved} {_BRANCHES}",
    )


def _sides(graphs: Graphs) -> list[_Side]:
    """Return both sides of each choice by a single condition in the forward pass."""
    nodes = graphs.nodes
    op, inputs, function = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["function"].tolist()
    single = [
        node
        for node, kind in enumerate(op)
        if kind in _SELECTS and str(nodes["takes"].iloc[node]).startswith("bool[];") and len(inputs[node]) == 3
    ]
    if not single:
        return []
    users: list[list[int]] = [[] for _ in op]
    for node in range(len(op) - 1, -1, -1):
        # What TensorFlow adds for custom gradients has no use of its own; what a function returns has no scope.
        if op[node] == "Identity" and not users[node] and "/" in str(nodes["name"].iloc[node]):
            continue
        for source in inputs[node]:
            users[source].append(node)
    forward = (nodes["forward"] < 0).to_numpy(bool) & nodes["phase"].ne("backward").to_numpy(bool)
    found = []
    for node in (one for one in single if forward[one]):
        for side in (1, 2):
            own = np.zeros(len(op), dtype=bool)
            own[list(_needed_only(inputs[node][side], node, users, function))] = True
            found.append(_Side(node, side, with_called(graphs, own)))
    return found


def _needed_only(source: int, by: int, users: list[list[int]], function: list[int]) -> set[int]:
    """Return the nodes whose values nothing but one input of a node needs."""
    own = {source} if users[source] == [by] else set[int]()
    for node in range(source - 1, -1, -1):
        if not own or function[node] != function[by]:
            break
        if users[node] and own.issuperset(users[node]):
            own.add(node)
    return own


def _heaviest(ops: StepOps, own: Bools) -> str:
    times = ops.per_node["op_ms"]
    times = times[own[times.index]]
    return ops.place(ops.frame_of(int(times.index[int(times.argmax())]))) if len(times) else ""


def _conditional(code: Code, place: str, side: int) -> tuple[str, str]:
    """Return the line with `tf.cond` if the costly value is a call in it, and that value as it stands there."""
    file, line = line_at(place)
    calls = code.calls(file, line, "where")
    if len(calls) != 1 or len(calls[0].args) != 3 or calls[0].keywords:
        return "", ""
    call, statement = calls[0], code.statement(file, line)
    condition, *values = (ast.unparse(one) for one in call.args)
    computed = any(calls_in(call.args[side]))
    whole_line = statement is not None and statement.lineno == statement.end_lineno
    if not computed or not whole_line or statement is None:
        return "", values[side - 1]
    module = ast.unparse(call.func).rpartition(".")[0] or "tf"
    new = f"{module}.cond({condition}, lambda: {values[0]}, lambda: {values[1]})"
    return replaced(code.text(file), statement, call, new), values[side - 1]
