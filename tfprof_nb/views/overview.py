"""The overview: how far waiting for data limits the program, its average step, and the ops that take most time."""

import math

from tfprof_nb import _units
from tfprof_nb.analysis.events.removals import in_words
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Part, Split, Table
from tfprof_nb.views import steps as steps_view
from tfprof_nb.views.categories import CAPTURE_PARTS, STEP_CATEGORIES
from tfprof_nb.views.columns import OP, op_column
from tfprof_nb.views.headline import headline

_MIN_MEASURED_SHARE = 0.8  # of a capture: measured steps with less do not represent it
_WORTH_NAMING_SHARE = 0.1
_TRACING = "tf.function-graph_building"
_UNITS_OF_TPUS = {
    "mxu": "mean of the counters of the cores' matrix units over the capture",
    "vpu": "mean of the counters of the cores' vector units over the capture",
}
_TOP_OP_COLUMNS = (
    op_column(meaning="the op's name in the graph"),
    Column("self_us", "self time", "us", meaning="time in the op itself, without the ops inside it"),
    Column("self_share", "share of self time", "share", bar=True, meaning="of all ops on the same side"),
    Column("cumulative_share", "cumulative share", "share", meaning="of this op and all above it, on the same side"),
    Column("op_type", "type"),
    Column("side", "runs on"),
)


def panels(overview: Overview, steps: Steps) -> list[Panel]:
    """Show the overview by itself: the verdict and its evidence, without advice."""
    shown = KeyFigures(figures(overview))
    return [Note(verdict(overview), "answer"), *step(overview, steps), *proof(overview, steps), shown]


def verdict(overview: Overview) -> str:
    """Say how far waiting for data limits the program, and why a GPU may have recorded nothing."""
    sentence = headline(overview)
    return f"{sentence} {overview.notes[0]}" if overview.summary["unrecorded_gpus"] else sentence


def step(overview: Overview, steps: Steps) -> list[Panel]:
    """Show the average step, or say why there is none."""
    if not overview.summary["largest_category"]:
        return [Note(note, "empty") for note in steps.notes]
    return [average_step(steps), *_whole(overview)]


def _whole(overview: Overview) -> list[Panel]:
    """Show the whole capture, if much of it is not in measured steps."""
    numbers = overview.summary
    if not numbers["measured_steps_ms"] < _MIN_MEASURED_SHARE * numbers["capture_ms"]:
        return []
    labels = {key: part.label for key, part in CAPTURE_PARTS.items()}
    if numbers["outside_longest_ms"] > _WORTH_NAMING_SHARE * numbers["outside_steps_ms"]:
        longest = _units.milliseconds(numbers["outside_longest_ms"])
        labels["outside_steps_ms"] += f" ({_in_words(numbers['outside_longest'])}: {longest})"
    parts = [Part(labels[key], numbers[key], part.color) for key, part in CAPTURE_PARTS.items() if numbers[key] > 0]
    return [Split(f"The whole capture: {_units.milliseconds(numbers['capture_ms'])}", parts, "ms")]


def _in_words(event: str) -> str:
    """Say what an event outside of steps is; its name, if there are no words for it."""
    return "tracing a function" if event.startswith(_TRACING) else in_words(event)


def average_step(steps: Steps) -> Split:
    """Show how the average step is divided."""
    numbers = steps.summary
    parts = [
        Part(category.label, numbers[f"{column}_mean"], category.color)
        for column, category in STEP_CATEGORIES.items()
        if numbers[f"{column}_mean"] > 0
    ]
    spread = f" ± {_units.milliseconds(numbers['step_ms_std'])}" if numbers["steps_measured"] > 1 else ""
    name = "Average step" if numbers["steps_measured"] > 1 else "The step"
    return Split(f"{name}: {_units.milliseconds(numbers['step_ms_mean'])}{spread}", parts, "ms")


def proof(overview: Overview, steps: Steps) -> list[Panel]:
    """Show the evidence: the step-time graph and the ops that take most time."""
    title = "Top ops by self time"
    return [
        *steps_view.graph(steps),
        Table(title, overview.table, _TOP_OP_COLUMNS, rows=10, selects=OP)
        if len(overview.table)
        else Note("No ops.", "empty"),
        *notes(overview, steps),
    ]


def notes(overview: Overview, steps: Steps) -> list[Note]:
    """Show the notes, except those that stand in the place of the average step or in the answer."""
    shown = [] if overview.summary["largest_category"] else steps.notes
    notes = overview.notes[1 if overview.summary["unrecorded_gpus"] else 0 :]
    return [Note(note, "info") for note in notes if note not in shown]


def figures(overview: Overview) -> list[Figure]:
    """Say what the program ran on, and how it used that."""
    numbers = overview.summary
    shown = [
        Figure("ran on", _device(overview), "the type of device, and how many there are"),
        Figure("hosts", _units.count(numbers["host_count"])),
        Figure("eager ops", _units.percent(numbers["eager_percent"]), "share of op self time outside tf.functions"),
        Figure(
            "device busy",
            _units.percent(numbers["device_busy_percent"]),
            "share of the time from its first op to its last in which any stream ran one",
        ),
        Figure("16-bit compute", _units.percent(numbers["fp16_percent"]), "share of the device's compute time"),
        Figure("32-bit compute", _units.percent(numbers["fp32_percent"]), "share of the device's compute time"),
        Figure("ops on the device", _units.percent(numbers["device_op_percent"]), "share of op executions"),
    ]
    of_units = [
        Figure(f"{unit.upper()} utilisation", _units.percent(numbers[f"{unit}_percent"]), meaning)
        for unit, meaning in _UNITS_OF_TPUS.items()
        if not math.isnan(numbers[f"{unit}_percent"])
    ]
    return [*shown, *of_units] if numbers["device_cores"] and not numbers["unrecorded_gpus"] else shown[:3]


def _device(overview: Overview) -> str:
    numbers = overview.summary
    cores = numbers["device_cores"]
    if numbers["drawn_by"] and not cores:
        return "not recorded"
    devices = f"{cores} × {numbers['device_type']}" if cores > 1 else str(numbers["device_type"])
    return f"{devices}, not recorded" if numbers["unrecorded_gpus"] else devices
