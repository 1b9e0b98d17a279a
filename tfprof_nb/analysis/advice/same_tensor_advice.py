"""What to change where a loop makes the same tensor in each of its passes."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import EAGER, ONE_OP, Evidence, Finding, saving, training_ms
from tfprof_nb.analysis.source.code import place_of

# Shares of the training's time.
_WORTH_SAYING = 10.0, 25.0
# Where samples meet a line that makes a tensor: TensorFlow's Python, NumPy's, and what the line calls in C.
_MAKING = ("TensorFlow", "NumPy", "")
# What is made may be given to a function in the same line; in a graph, nothing is made before it runs.
_RUNNING, _SESSIONS = r"Function\.__call__$", "BaseSession.run"
_MIN_SAMPLES, _MANY_STEPS, _LEAST_SAVED = 10, 10, 0.7


def same_tensor_findings(evidence: Evidence) -> Iterator[Finding]:
    """Report lines that copy the same array into a new tensor again and again."""
    calls, whole_ms = evidence.python.calls, training_ms(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & calls["library"].isin(_MAKING)]
    calls = calls[~calls["call"].str.contains(_RUNNING)]
    if len(evidence.steps.table) < _MANY_STEPS or (evidence.python.calls["call"] == _SESSIONS).any():
        return
    for (file, number), rows in calls.groupby(["file", "line"], sort=False):
        if not (rows["library"] == "TensorFlow").any():
            continue
        line = int(str(number))
        percent = 100 * float(rows["self_ms"].sum() - rows["outside_ms"].sum()) / max(whole_ms, 1e-9)
        tensor = evidence.code.same_each_time(str(file), line) if percent >= _WORTH_SAYING[0] else ""
        if not tensor or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        place, percent = place_of(str(file), line), min(percent, 100.0)
        yield saving(
            percent,
            _WORTH_SAYING,
            _LEAST_SAVED,
            finding=f"The same tensor is made in each step: {evidence.of_training(percent)}",
            evidence=f"`{_units.shorten(evidence.code.line(str(file), line), 80)}` ({place}) copies the same values "
            "into a new tensor each time.",
            fix=f"Make it once, before the loop, and keep it in a variable: `same = {_units.shorten(tensor, 80)}`. In "
            "the loop, use `same`.",
            proved_by="python",
            place=place,
            gain_of="training",
            instead_of=(f"{EAGER}: {place}", f"{EAGER}: {rows['function'].iloc[0]} (", ONE_OP),
        )
