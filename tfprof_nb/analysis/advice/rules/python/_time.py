"""What rules on Python share: the time of the training, thresholds of findings, how to run a line less often."""

import re

import pandas as pd

from tfprof_nb.analysis.advice import Earlier, Evidence
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.guards import divisor_of, guard_of
from tfprof_nb.analysis.source.syntax import holds

# Shares of the steps' time, or of the training's time.
WORTH_SAYING_PERCENT, HIGH_PERCENT = 10.0, 25.0
MIN_SAMPLES = 10
# Libraries in which a line of the user's spends its time when it only starts training, such as the line of model.fit.
FRAMEWORKS = ("Keras", "TensorFlow", "tfprof_nb")
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
