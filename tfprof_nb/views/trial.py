"""A change that was tried: the time now and then, what it costs once, and whether results are the same."""

import math

from tfprof_nb import _units
from tfprof_nb.analysis.trial import Trial
from tfprof_nb.render.panels import Bar, Change, Column, Figure, Headline, KeyFigures, Note, Panel, Part, Table
from tfprof_nb.views.categories import HOST_COMPUTE

_COLUMNS = (
    Column("round", "round", "count", meaning="round 0 warms up and does not count"),
    Column("variant", "cell"),
    Column("steps", "steps", "count"),
    Column("seconds", "seconds", "number"),
    Column("ms_per_step", "per step", "ms", meaning="of steps that are warm"),
)
_NOTHING = 0.02  # of a speedup that is none


def panels(trial: Trial) -> list[Panel]:
    """Show the answer, the bars, the figures and every run."""
    numbers = trial.summary
    first, *others = trial.notes
    figures = [
        Figure("times as fast", _times(numbers["speedup"]), "the median of the rounds"),
        Figure("95% interval", f"{_times(numbers['speedup_low'])} to {_times(numbers['speedup_high'])}"),
        Figure("once", _units.milliseconds(numbers["first_cost_ms"]), "what the first run takes longer"),
        Figure("results", numbers["results"]),
    ]
    refuted = Note(f"{answer(trial)} {first}", "warning")
    return [
        *([refuted] if numbers["refuted"] else [Headline(answer(trial), *_gain(trial)), Note(first)]),
        *_bars(trial),
        *([KeyFigures(figures)] if numbers["rounds"] else []),
        Table("Every run", trial.table, _COLUMNS),
        *map(Note, others),
    ]


def answer(trial: Trial) -> str:
    """Say how much faster it became."""
    numbers = trial.summary
    speedup, low, high = (numbers[name] for name in ("speedup", "speedup_low", "speedup_high"))
    if math.isnan(speedup):
        return "The change was tried, and nothing tells how much faster it is."
    if math.isnan(low):
        return f"In one round the changed cell was {_times(speedup)} times as fast; nothing tells how sure that is."
    interval = f" (95%: {_times(low)} to {_times(high)})"
    if low <= 1 <= high or abs(speedup - 1) < _NOTHING:
        return f"The changed cell is neither clearly faster nor slower: {_times(speedup)} times as fast{interval}."
    return f"The changed cell is {_times(speedup)} times as fast{interval}."


def _times(value: float) -> str:
    return _units.number(value)


def _gain(trial: Trial) -> tuple[str, str]:
    """Say what the change gains as one number, and that it was measured; nothing where rounds don't tell."""
    speedup, low, high = (trial.summary[name] for name in ("speedup", "speedup_low", "speedup_high"))
    if not low > 1:
        return "", ""
    return f"{speedup:.1f}× faster", f"measured, {low:.1f} to {high:.1f}×, of {trial.summary['of']}"


def _bars(trial: Trial) -> list[Panel]:
    """Show the time now and then, as the card of an estimate does."""
    numbers = trial.summary
    if not numbers["rounds"]:
        return []
    both = [("now", numbers["before_ms"]), ("then", numbers["after_ms"])]
    bars = [Bar(name, [Part("", ms, HOST_COMPUTE)], f"{_units.milliseconds(ms)}, measured") for name, ms in both]
    return [Change("", f"The time of {numbers['of']}, as it is and changed", "", bars=bars)]
