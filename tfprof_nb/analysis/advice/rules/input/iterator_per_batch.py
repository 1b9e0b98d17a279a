from dataclasses import replace

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, quoted
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.source.code import line_at

_MAKING_ITERATORS = ("MakeIterator", "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3")
_TAKEN_AT_ONCE = r"next\(iter\("
_MANY_STEPS, _NEARLY_EACH, _MUCH = 10, 0.8, 20.0

RULE = replace(
    cause_rule(
        "iterator-per-batch",
        "A new iterator is made for each batch",
        "Looks for loops that make an iterator in nearly each step, as `next(iter(dataset))` does.",
        "Each iterator starts its pipeline from the beginning, and fills its buffers for a single batch.",
        action="Make one iterator, before the loop",
        saved=(0.5, 1.0),
    ),
    explains=("wait", "start"),
    all_of=True,
)


def cause(evidence: Evidence) -> Cause | None:
    steps, ops = len(evidence.steps.table), evidence.ops.table
    made = max(ops.loc[ops["op_type"].isin(_MAKING_ITERATORS), "occurrences"].tolist(), default=0)
    by_keras = evidence.steps.table["phase"].isin(["predict", "test"]) | evidence.steps.table["epoch"].notna()
    if steps < _MANY_STEPS or not made or by_keras.any():
        return None
    taken = evidence.code.place_with(_TAKEN_AT_ONCE)
    place = taken or evidence.code.place_with(r"\biter\(|\.take\(1\)")
    code, percent = evidence.code.at(place), _percent_of_line(evidence, place)
    shown = f"{quoted(code)} ({place})" if code else ""
    if made >= _NEARLY_EACH * steps:
        counted = f"{_units.count(made)} iterators were made for {_units.count(steps)} steps{shown and f': {shown}'}"
    elif taken and percent >= _MUCH and evidence.code.loop(*line_at(taken)):  # where ops are recorded for few steps
        counted = f"{shown} makes an iterator in each pass of its loop"
    else:
        return None
    takes = f"; the line takes {_units.percent(percent)} of the steps" if percent else ""
    return Cause(
        "a new iterator is made for each batch",
        f"{counted}. Each starts the pipeline from its beginning, and fills its buffers for a single batch{takes}",
        "Make one iterator before the loop, `batches = iter(dataset.repeat())`, and take all batches from it: "
        "`next(batches)`.",
        place=place,
        percent=percent,
    )


def _percent_of_line(evidence: Evidence, place: str) -> float:
    """Return the share of the steps that a line of the program takes, with all that it calls; 0 if unknown."""
    calls, steps_ms = evidence.python.calls, float(evidence.steps.table["step_ms"].sum())
    file, line = line_at(place)
    of_line = calls[(calls["file"] == file) & (calls["line"] == line) & (calls["thread"] == "main")]
    return min(100.0, 100 * float(of_line["in_steps_ms"].sum()) / steps_ms) if line and steps_ms else 0.0
