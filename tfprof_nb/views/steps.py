"""Step times: one bar per step, divided by kind of work."""

from dataclasses import replace

from tfprof_nb import _units
from tfprof_nb.analysis.steps.drift import Drift
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Part, Split, Table
from tfprof_nb.views.categories import STEP_CATEGORIES
from tfprof_nb.views.step_bars import step_bars

_COLUMNS = (
    Column("step", "step", "count"),
    Column("host", "host"),
    Column("step_ms", "step time", "ms", bar=True),
    *(Column(key, part.label, "ms", meaning=part.meaning) for key, part in STEP_CATEGORIES.items()),
    Column("warm_up", "warm-up", "flag", meaning="traced, compiled or started a session; not in the averages"),
    Column("step_name", "name"),
    Column("epoch", "epoch", "count", meaning="counted from 0, as Keras counts for callbacks"),
    Column("phase", "phase"),
)
_SOURCE = "what shows where each step begins and ends"
_FEW = 4  # steps, of which no half is told
_SOURCES = {"keras": "Keras' batches", "device": "device work", "inferred": "inferred", "none": "none"}


def panels(steps: Steps) -> list[Panel]:
    """Show headline numbers, the step-time graph and every step."""
    if not len(steps.table):
        return [Note(note, "empty") for note in steps.notes]
    return [
        KeyFigures(_figures(steps)),
        *graph(steps),
        Table("Steps", steps.table.reset_index(), _shown_columns(steps)),
        *(Note(note, "info") for note in steps.notes),
    ]


def graph(steps: Steps) -> list[Panel]:
    """Show one bar per step, divided by category; warm-up steps are marked. A single step lies across the page."""
    if not len(steps.table):
        return []
    if len(steps.table) == 1:
        step = steps.table.iloc[0]
        parts = [Part(category.label, step[key], category.color) for key, category in STEP_CATEGORIES.items()]
        return [Split(f"The step: {_units.milliseconds(step['step_ms'])}", parts, "ms")]
    bars = step_bars("Step time", steps.table, STEP_CATEGORIES, "time per step")
    shown: list[Panel] = [Note(_slower(steps.drift), "advice")] if steps.drift else []
    return [*shown, replace(bars, about=f"median {middle_half(steps)}" if len(steps.timed) >= _FEW else "")]


def _slower(drift: Drift) -> str:
    """Say how much slower steps became, when, and which part of them grew."""
    times, first, last = drift.last_ms / drift.first_ms, drift.first_ms, drift.last_ms
    text = f"Steps became {times:.1f} times slower: {_units.milliseconds(first)} at first, {_units.milliseconds(last)}"
    text = f"{text} at the end. Most of that came {_units.milliseconds(drift.since_ms)} into the capture"
    if not drift.part:
        return f"{text}."
    part = STEP_CATEGORIES[drift.part]
    return f"{text}. Of a step, {part.label} grew by {_units.milliseconds(drift.grown_ms)}: {part.meaning}."


def middle_half(steps: Steps) -> str:
    """Say how long a step takes, and half of the steps: a few long ones make the mean."""
    low, middle, high = (_units.milliseconds(time) for time in steps.timed["step_ms"].quantile([0.25, 0.5, 0.75]))
    return f"{middle}, half of the steps {low} to {high}"


def _figures(steps: Steps) -> list[Figure]:
    numbers, source = steps.summary, steps.summary["source"]
    median = _units.milliseconds(float(steps.timed["step_ms"].median()))
    spread = [
        Figure("mean", _units.milliseconds(numbers["step_ms_mean"]), "a few long steps can make it"),
        Figure("shortest", _units.milliseconds(numbers["step_ms_min"])),
        Figure("longest", _units.milliseconds(numbers["step_ms_max"])),
    ]
    return [
        Figure("steps", _units.count(numbers["steps"])),
        Figure("median step", median, "training steps after warm-up"),
        *(spread if len(steps.timed) > 1 else []),
        *([Figure("source of steps", _SOURCES[source], _SOURCE)] if source in _SOURCES else ()),
    ]


def _shown_columns(steps: Steps) -> list[Column]:
    """Put the largest categories first; leave out those that no step has, and the host if there is only one."""
    empty = {key for key in STEP_CATEGORIES if not steps.table[key].any()}
    if steps.table["host"].nunique() == 1:
        empty.add("host")
    if "epoch" not in steps.table or steps.table["epoch"].isna().all():
        empty.add("epoch")
    shown = [column for column in _COLUMNS if column.key not in empty]
    categories = [column for column in shown if column.key in STEP_CATEGORIES]
    ranked = iter(sorted(categories, key=lambda column: -steps.shares[column.key]))
    return [next(ranked) if column in categories else column for column in shown]
