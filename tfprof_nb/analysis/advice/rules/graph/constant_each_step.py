import ast
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.syntax import holds, names_in
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
    ops = evidence.step_ops()
    if ops.graphs.nodes.empty or ops.ops.empty:
        return
    constant = ops.graphs.once(repeated).constant
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
    moved = _moved_out(evidence.code, file, [line for one, line in at if one == file]) if at else None
    is_all = all(one == file for one, _ in at)
    return (place_of(file, moved.line), moved.change) if moved and is_all else ("", "")


class _Moved(NamedTuple):
    """The line where a definition begins, its decorators included, and its code behind what was moved out of it."""

    line: int
    change: str


def _moved_out(code: Code, file: str, lines: Sequence[int]) -> _Moved | None:
    r"""Return the function that assigns at some lines with these assignments before it.

    None where they are no assignments of one function's own block, need a value that the function makes, or the
    function is a method, whose class they would end in.

    Examples
    --------
    >>> text = "@tf.function\ndef step(x):\n    k = inv(points)\n    return k @ x"
    >>> print(_moved_out(Code({"cell": text}), "cell", [3]).change)
    k = inv(points)
    <BLANKLINE>
    @tf.function
    def step(x):
        return k @ x
    """
    functions = [node for node in code.nodes(file, ast.FunctionDef) if all(holds(node, line) for line in lines)]
    function = max(functions, key=lambda node: node.lineno, default=None)
    if function is None or not lines or any(function in owner.body for owner in code.nodes(file, ast.ClassDef)):
        return None
    moved = [one for one in function.body if any(holds(one, line) for line in lines)]
    left = [one for one in function.body if one not in moved]
    made = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    made |= {name for one in left for name in names_in(one, ast.Store)}
    used = {name for one in moved for name in names_in(one, ast.Load)}
    is_whole = sum(any(holds(one, line) for one in moved) for line in lines) == len(lines)
    if not left or not is_whole or used & made or not all(isinstance(one, ast.Assign) for one in moved):
        return None
    text, begin = code.text(file).splitlines(), min([one.lineno for one in function.decorator_list], default=10**9)
    begin, end = min(begin, function.lineno), function.end_lineno or function.lineno
    taken = {number for one in moved for number in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    if any(one.lineno in taken for one in left):
        return None
    rest = textwrap.dedent("\n".join(text[n - 1] for n in range(begin, end + 1) if n not in taken))
    outside = textwrap.dedent("\n".join(text[n - 1] for n in sorted(taken)))
    return _Moved(begin, f"{outside}\n\n{rest}")
