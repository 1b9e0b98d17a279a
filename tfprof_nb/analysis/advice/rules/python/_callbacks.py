"""The methods of callbacks that take much of the steps, or of the training."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, Severity, training_ms
from tfprof_nb.analysis.advice.findings import severity_of

_TRAINING = "the training's time"
MIN_PERCENT, _HIGH_PERCENT = 10.0, 25.0  # of the steps, or of the training
_SAVING, _ONCE = ("ModelCheckpoint", "BackupAndRestore"), "on_epoch_end"


class Method(NamedTuple):
    """A callback's method: its row of `Python.callbacks`, its share of the training in percent, and both in words."""

    row: dict[Any, Any]
    percent: float
    takes: str
    ran: str

    @property
    def severity(self) -> Severity:
        """The severity, by the share of the training."""
        return severity_of(self.percent, MIN_PERCENT, _HIGH_PERCENT)

    @property
    def name(self) -> str:
        """The names of the callback and its method."""
        return f"{self.row['callback']}.{self.row['method']}"


def methods(evidence: Evidence) -> Iterator[Method]:
    """Return the methods of callbacks, with what they take of each step, or else of the training."""
    measured_ms, whole_ms = float(evidence.steps.measured["step_ms"].sum()), training_ms(evidence)
    sampled = len(evidence.python.table) > 0
    calm = evidence.python.callbacks["callback"].isin(_SAVING) & (evidence.python.callbacks["method"] == _ONCE)
    for row in evidence.python.callbacks[~calm].to_dict("records"):
        if sampled and row["callback"] == "LambdaCallback":  # its function has a name of its own
            continue
        in_steps = row["measured_ms"] > 0
        # The last call at the end of an epoch follows the last step.
        after_ms = row["total_ms"] / row["calls"] if row["method"] == _ONCE else 0.0
        time_ms, of_ms = (row["measured_ms"], measured_ms) if in_steps else (row["total_ms"], whole_ms + after_ms)
        percent = 100 * time_ms / of_ms if of_ms > 0 else 0.0  # of a training that failed, there may be no step
        if percent < MIN_PERCENT:
            continue
        takes = f"{row['callback']}.{row['method']} takes {_units.percent(percent)} of "
        calls = f"{_units.count(row['calls'])} call{'s' * (row['calls'] != 1)}"
        each = _units.milliseconds(row["total_ms"] / max(row["calls"], 1))
        yield Method(
            row,
            min(100.0, percent * min(1.0, of_ms / whole_ms) if in_steps else percent),
            f"{takes}{'each step' if in_steps else _TRAINING}",
            f"The callback's {calls} took {each} each",
        )
