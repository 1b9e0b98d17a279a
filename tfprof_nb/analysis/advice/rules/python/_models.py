"""Functions that work with a model's weights, or make models, again and again."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, in_code, quoted, training_ms
from tfprof_nb.analysis.advice.rules.python._time import MIN_SAMPLES, method_of
from tfprof_nb.analysis.source.code import place_of

COPYING = ("get_weights", "set_weights")
BUILDING = ("clone_model", "model_from_json", "from_config")
_MOSTLY_WEIGHTS = 0.5


class Working(NamedTuple):
    """A function, or a line of the cell: its place, what it takes in percent, and both in words."""

    percent: float
    place: str
    name: str
    subject: str
    shown: str
    file: str
    line: int


def working(evidence: Evidence, methods: Collection[str]) -> Iterator[Working]:
    """Return what calls methods of models that are no training, and mostly these."""
    calls = evidence.python.calls
    how = method_of(calls)
    calls = calls.assign(how=how)[how.isin([*COPYING, *BUILDING]) & (calls["thread"] == "main")]
    whole_ms = training_ms(evidence)
    own = np.where(calls["function"] == "<module>", calls["line"], 0)
    for (function, file, _), rows in calls.groupby(["function", "file", own], sort=False):
        top = rows.iloc[int(np.argmax(rows["self_ms"].to_numpy()))]
        if top["how"] not in methods or rows["samples"].sum() < MIN_SAMPLES:
            continue
        time_ms = _time_ms(evidence, str(function), str(file), rows)
        line, in_cell = int(top["line"]), function == "<module>"
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        yield Working(
            min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0,
            place,
            in_code(place, code) if in_cell else f"{function} ({place})",
            place if in_cell else str(function),
            f"{_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} per step"
            f"{f', most of it in {quoted(code)}' if code and not in_cell else ''}.",
            str(file),
            line,
        )


def _time_ms(evidence: Evidence, function: str, file: str, rows: pd.DataFrame) -> float:
    """Return the time of the calls, and of what a function that mostly works with weights computes with them."""
    time_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
    whole = evidence.python.table
    whole = whole[(whole["function"] == function) & (whole["file"] == file) & (whole["line"] > 0)]
    whole_function_ms = float((whole["self_ms"] - whole["outside_ms"] - whole["waiting_ms"]).sum())
    return whole_function_ms if function != "<module>" and time_ms >= _MOSTLY_WEIGHTS * whole_function_ms else time_ms
