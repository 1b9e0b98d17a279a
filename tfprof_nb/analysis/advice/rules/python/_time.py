"""What rules on Python share: the time of the training, thresholds of findings, how to run a line less often."""

import ast
import re

import pandas as pd

from tfprof_nb.analysis.advice import Earlier, Evidence
from tfprof_nb.analysis.source.code import Code, place_of
from tfprof_nb.analysis.source.syntax import holds, span

# Shares of the steps' time, or of the training's time.
WORTH_SAYING_PERCENT, HIGH_PERCENT = 10.0, 25.0
MIN_SAMPLES = 10
# What part of the time a fix saves at least: the code still runs now and then, and the pipeline may then be what waits.
LEAST_SAVED = 0.7
FEWER_SAVED = 0.3  # of what may overlap
# Rules that name lines and functions of Python: what they say, others need not explain.
CALLBACKS = ("predict-in-callback", "slow-callback")
NAMED = (
    *CALLBACKS,
    *("sync-each-step", "predict-per-example", "frequent-writing", "weights-through-numpy", "model-rebuilt-each-step"),
    *("python-outside-steps", "python-in-loop", "growing-graph", "repeated-session-runs", "large-feeds"),
)
_LEFT = 5
_RUNS_GRAPH, _TRAINS = "Function.__call__", ("Trainer.fit", "Trainer.evaluate")
# An array or tensor that a loop joins to itself.
_GROWN = re.compile(r"^(\w+) *= *((?:np|numpy|tf|jnp)\.\w+)\([\[(] *\1 *, *(\w+) *[\])]((?:,[^()]*)?)\)")


def told_by_python(earlier: Earlier, percent: float) -> bool:
    """Whether a case of Python's lines and functions takes as much as a share of the training."""
    return any(finding.estimated_gain_percent >= percent for name in NAMED for finding in earlier[name])


def rarely(evidence: Evidence, file: str, line: int) -> str:
    """Say which condition lets a line run too often; empty if there is none."""
    guard, condition = guard_of(evidence.code, file, line)
    return raised(evidence, file, guard, condition) if guard else ""


def raised(evidence: Evidence, file: str, line: int, condition: str) -> str:
    """Say which number of a condition to raise."""
    divisor = divisor_of(evidence.code, file, line)
    number = divisor if divisor.replace(".", "").isidentifier() else "the number"
    return f"Let it run less often: raise {number} in `{condition}` ({place_of(file, line)})."


def loop_of_steps(evidence: Evidence, file: str, line: int) -> str:
    """Return the text of the loop around a line if each of its passes runs several steps, as a loop of epochs does.

    Its steps run in a loop of its own, or in a call that trains. The text is empty for other lines.
    """
    loop, calls = evidence.code.loop(file, line), evidence.python.calls
    if loop is None:
        return ""
    inside = calls[(calls["file"] == file) & calls["line"].map(lambda number: holds(loop, number)).astype(bool)]
    called = inside["call"].astype(str)
    trains = called.str.endswith(_TRAINS)
    graphs = inside[called.str.endswith(_RUNS_GRAPH)]
    nested = [number for number in graphs["line"] if evidence.code.loop(file, number) is not loop]
    return evidence.code.line(file, loop.lineno) if trains.any() or nested else ""


def every_few(calls: int) -> int:
    """Return a number of calls of which one is enough: a few of those that were captured are left."""
    return next((every for every in (50, 20, 10, 5) if every * _LEFT <= calls), 5)


def method_of(calls: pd.DataFrame) -> pd.Series:
    """Return the last part of what each line called."""
    return calls["call"].astype(str).str.replace(r".*\.", "", regex=True)


def joined_once(code: str) -> str:
    """Say how to collect parts that a line joins to an array or tensor in each step; empty for other lines."""
    grown = _GROWN.match(code)
    if not grown:
        return ""
    parts = f"{grown[1]}_parts"
    return (
        f"It copies all rows so far each time. Collect them in a list, `{parts} = [{grown[1]}]` before the loop "
        f"and `{parts}.append({grown[3]})` in it, and join them once after it: `{grown[1]} = {grown[2]}({parts}"
        f"{grown[4]})`."
    )


def guard_of(code: Code, file: str, line: int) -> tuple[int, str]:
    r"""Return the line of the condition that lets a line run only every few times, and its text; 0 without one.

    Examples
    --------
    >>> guard_of(Code({"cell": "for i in n:\n    if i % 4 == 0:\n        save()"}), "cell", 3)
    (2, 'if i % 4 == 0:')
    """
    found = [
        node
        for node in code.nodes(file, ast.If)
        if node.lineno < line and holds(node, line) and _names_remainder(node.test)
    ]
    innermost = min(found, key=span, default=None)
    return (innermost.lineno, code.line(file, innermost.lineno)) if innermost else (0, "")


def guard_in(code: Code, file: str, line: int) -> tuple[int, str]:
    r"""Return the first condition on a remainder in the function that begins at a line, and its text; 0 without.

    Examples
    --------
    >>> guard_in(Code({"cell": "def f(batch):\n    if batch % 4:\n        return\n    save()"}), "cell", 1)
    (2, 'if batch % 4:')
    """
    function = code.function_at(file, line)
    found = (node for node in ast.walk(function or ast.Pass()) if isinstance(node, ast.If))
    first = next((node for node in found if _names_remainder(node.test)), None)
    return (first.lineno, code.line(file, first.lineno)) if first else (0, "")


def divisor_of(code: Code, file: str, line: int) -> str:
    r"""Return what the condition at a line takes the remainder of a division by; empty if there is none.

    Examples
    --------
    >>> divisor_of(Code({"cell": "if step % args.save_every == 0:\n    save()"}), "cell", 1)
    'args.save_every'
    """
    conditions = (node.test for node in code.nodes(file, ast.If) if node.lineno == line)
    parts = (part for condition in conditions for part in ast.walk(condition) if isinstance(part, ast.BinOp))
    return next((ast.unparse(part.right) for part in parts if isinstance(part.op, ast.Mod)), "")


def _names_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))
