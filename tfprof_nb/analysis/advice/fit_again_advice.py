"""What to change about a loop that calls `fit` again and again for one model: each call starts anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import BETWEEN_OPS, SMALL_STEPS, WAITING, Evidence, Finding, saving
from tfprof_nb.analysis.advice.python_advice import training_ms
from tfprof_nb.analysis.source.calls import stored_in
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.syntax import name_of, names_in

_WORTH_SAYING, _MIN_SAMPLES = (20.0, 40.0), 10
# An epoch of one call starts anew too, but quicker.
_SAVED = 0.25, 0.7


def fit_again_findings(evidence: Evidence) -> Iterator[Finding]:
    """Name the line in a loop whose calls of `fit` take most of their time before and after their steps."""
    calls, whole_ms = evidence.python.calls, training_ms(evidence)
    fits = calls["call"].astype(str).str.endswith("Trainer.fit") & (calls["thread"] == "main")
    for (file, line), rows in calls[fits].groupby(["file", "line"], sort=False):
        time_ms = float(rows["between_steps_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms > 0 else 0.0
        loop = evidence.code.loop(str(file), int(str(line)))
        call = next((one for one in evidence.code.nodes(str(file), ast.Call) if _fits(one, int(str(line)))), None)
        if percent < _WORTH_SAYING[0] or rows["samples"].sum() < _MIN_SAMPLES or loop is None or call is None:
            continue
        changing = stored_in(loop)
        if names_in(call.func, ast.Load) & changing:  # another model each time
            continue
        place, model = place_of(str(file), int(str(line))), ast.unparse(call.func).rpartition(".")[0]
        yield saving(
            percent,
            _WORTH_SAYING,
            _SAVED,
            finding=f"{model}.fit is called again and again: {_units.percent(percent)} of the time is between steps",
            evidence=f"`{_units.shorten(evidence.code.at(place), 80)}` ({place}) stands in a loop. Each call makes a "
            f"pipeline and callbacks of its own, and ends them: {_units.milliseconds(time_ms)} in all.",
            fix=_once(model, call, loop, changing),
            proved_by="python",
            place=place,
            instead_of=(WAITING, BETWEEN_OPS, SMALL_STEPS),
        )


def _once(model: str, call: ast.Call, loop: ast.stmt, changing: set[str]) -> str:
    """Say how one call does what the loop does."""
    data = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("x", "y"))]
    if any(names_in(one, ast.Load) & changing for one in data):
        return (
            f"Call {model}.fit once, with a dataset that yields all parts one after another: "
            f"tf.data.Dataset.from_generator, or a keras.utils.PyDataset. For small parts that are one batch each, "
            f"{model}.train_on_batch starts faster."
        )
    return (
        f"Call {model}.fit once, with `epochs={_passes(loop)}`. Its `history` has the results of each epoch; what the "
        "loop does besides belongs into on_epoch_end of a callback."
    )


def _passes(loop: ast.stmt) -> str:
    """Return how often a loop runs, as its `range` says; ``n`` if it has none."""
    over = loop.iter if isinstance(loop, ast.For) else None
    plain = isinstance(over, ast.Call) and name_of(over.func) == "range" and len(over.args) == 1
    return ast.unparse(over.args[0]) if plain and isinstance(over, ast.Call) else "n"


def _fits(call: ast.Call, line: int) -> bool:
    return name_of(call.func) == "fit" and call.func.end_lineno == line
