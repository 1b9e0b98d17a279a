"""A value that is the same in every step, and computed in each."""

from collections.abc import Sequence

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.wording import quoted
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.moved import moved_out
from tfprof_nb.analysis.step_ops.repeated import constant_lines, repeated
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_LEAST_SAVED = 0.7
_MOST_LINES, _MOST_OF_TIME = 3, 0.02

RULE = Rule(
    "constant-each-step",
    "The same value is computed in every step",
    "Looks for ops of the graph that depend on nothing that changes between steps: neither on the batch, nor on "
    "variables that the program changes, nor on random numbers.",
    "The value is loop invariant: computed once, before the steps, it costs them nothing.",
    action="Compute it once, before the steps",
    page="source",
    moderate=10.0,
    high=25.0,
    saved=(0.7, None),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report values that are the same in every step."""
    ops = evidence.step_ops()
    if ops.graphs.nodes.empty or ops.ops.empty:
        return
    constant = repeated(ops.graphs).constant
    share = ops.share(ops.ran(constant))
    percent = 100 * share.covered
    lines = constant_lines(ops.graphs, constant, ops.per_node["op_ms"])
    if 100 * share.alone < RULE.moderate or lines.empty:
        return
    lines = lines[lines["op_ms"] >= _MOST_OF_TIME * lines["op_ms"].sum()].head(_MOST_LINES)
    frames = sorted(lines["frame"].tolist(), key=lambda frame: _position(ops, frame))
    told = [f"{ops.place(frame)}: {quoted(ops.code(frame))}" for frame in frames]
    function = str(ops.graphs.frames["function"].iloc[frames[0]])
    place, change = _moved(evidence, ops, [one for one in frames if one in set(lines.loc[lines["whole"], "frame"])])
    inside = f" out of {function}" if function.isidentifier() else ""
    yield Case(
        percent,
        f"The same value is computed in every step ({ops.place(frames[0])})",
        f"It takes {_units.percent(percent)} of each step, and depends on nothing that changes between steps: "
        f"{'; '.join(told)}.",
        f"Move what is constant{inside}: compute it once, before the steps, and use the result in them.",
        place or ops.place(frames[0]),
        change,
        gain=(100 * share.of_ops, 100 * _LEAST_SAVED * share.alone, 100 * share.of_ops),
    )


def _position(ops: StepOps, frame: int) -> tuple[str, int]:
    file, line = ops.graphs.frames[["file", "line"]].iloc[frame]
    return str(file), int(line)


def _moved(evidence: Evidence, ops: StepOps, frames: Sequence[int]) -> tuple[str, str]:
    """Return where a function begins that can do without the lines, and the code for it; empty if that is uncertain."""
    at = [line_at(ops.place(frame)) for frame in frames]
    file = at[0][0] if at else ""
    moved = moved_out(evidence.code, file, [line for one, line in at if one == file]) if at else None
    is_all = all(one == file for one, _ in at)
    return (place_of(file, moved.line), moved.change) if moved and is_all else ("", "")
