"""Step times: one bar per step, divided by what the step was doing."""

from __future__ import annotations

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.steps.steps import Steps, measured_steps
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Table
from tfprof_nb.render.theme import STEP_CATEGORIES, STEP_MEANINGS
from tfprof_nb.views.step_bars import step_bars

_COLUMNS = (
    Column("step", "step", "count"),
    Column("host", "host"),
    Column("step_ms", "step time", "ms", bar=True),
    *(Column(key, label, "ms", meaning=STEP_MEANINGS[key]) for key, (label, _) in STEP_CATEGORIES.items()),
    Column("warm_up", "warm-up", "flag", meaning="traced, compiled or started a session: left out of averages"),
    Column("step_name", "name"),
    Column("phase", "phase"),
)
_SOURCES = {
    "marked": "marked",
    "keras": "Keras' batches",
    "device": "device work",
    "inferred": "inferred",
    "none": "none",
}


def panels(steps: Steps) -> list[Panel]:
    """Show step times: headline numbers, the graph, every step."""
    if not len(steps.table):
        return [Note(note, "empty") for note in steps.notes]
    return [
        KeyFigures(_figures(steps)),
        *graph(steps),
        Table("Steps", steps.table.reset_index(), _shown_columns(steps.table)),
        *(Note(note, "info") for note in steps.notes),
    ]


def graph(steps: Steps) -> list[Panel]:
    """Show one bar per step, divided by category; steps that traced or compiled are marked."""
    if not len(steps.table):
        return []
    return [step_bars("Step time", steps.table, STEP_CATEGORIES, "time per step (ms)")]


def _figures(steps: Steps) -> list[Figure]:
    numbers = steps.summary
    return [
        Figure("steps", _units.count(numbers["steps"])),
        Figure("average step", _units.milliseconds(numbers["step_ms_mean"]), "training steps after warm-up"),
        Figure("deviation", _units.milliseconds(numbers["step_ms_std"]), "standard deviation of the step time"),
        Figure("shortest", _units.milliseconds(numbers["step_ms_min"])),
        Figure("longest", _units.milliseconds(numbers["step_ms_max"])),
        Figure("steps come from", _SOURCES[numbers["source"]], "what told where a step begins and ends"),
    ]


def _shown_columns(table: pd.DataFrame) -> list[Column]:
    """Put the categories that took most first; leave out those that no step has, and the host where there is one."""
    empty = {key for key in STEP_CATEGORIES if not table[key].any()}
    if len(set(table["host"])) == 1:
        empty.add("host")
    shown = [column for column in _COLUMNS if column.key not in empty]
    by_time = (
        measured_steps(table)[list(STEP_CATEGORIES)].sum().sort_values(ascending=False, kind="stable").index.tolist()
    )
    places = {key: place for place, key in enumerate(by_time)}
    ranked = sorted((column for column in shown if column.key in places), key=lambda column: places[column.key])
    return [ranked.pop(0) if column.key in places else column for column in shown]
