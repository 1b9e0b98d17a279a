"""A measured input pipeline: what each stage adds, what changes gained, beside the rate that a model can take."""

import math

from tfprof_nb import _units
from tfprof_nb.analysis.benchmark_input import WAITS, InputBenchmark
from tfprof_nb.render import theme
from tfprof_nb.render.panels import Bars, Column, Figure, KeyFigures, Note, Panel, Part, Table
from tfprof_nb.views.categories import DEVICE_COMPUTE, INPUT

_COLUMNS = (
    Column("kind", "kind"),
    Column("name", "stage or what-if", "code"),
    Column("batch_ms", "per batch", "ms", bar=True, meaning="median of the rounds; of a stage: the pipeline up to it"),
    Column("batch_ms_low", "from", "ms", meaning="the fastest round"),
    Column("batch_ms_high", "to", "ms", meaning="the slowest round"),
    Column("batches_per_second", "batches per second", "number"),
    Column("added_ms", "added", "ms", meaning="median of the differences to the stage before, round by round"),
    Column("first_ms", "first batch", "ms", meaning="the wait for the first batch of a pass"),
    Column("pass_ms", "a pass", "ms", meaning="the first batch and all others"),
    Column("elements", "elements", meaning="equal: the first elements are those of the pipeline as it is"),
    Column("rounds", "rounds", "count"),
    Column("batches", "batches", "count", meaning="drawn after warm-up"),
)


def panels(measured: InputBenchmark) -> list[Panel]:
    """Show the answer, the figures, the stages, the what-ifs, and every number."""
    return [
        Note(answer(measured), "answer"),
        *_advice(measured),
        _figures(measured),
        *_stages(measured),
        *_what_ifs(measured),
        Table("Everything measured", measured.table, _COLUMNS),
        *map(Note, measured.notes),
    ]


def answer(measured: InputBenchmark) -> str:
    """Say how often a batch comes, which stage adds most, and what the step needs."""
    numbers, say = measured.summary, _units.milliseconds
    makes = f"a batch every {say(numbers['batch_ms'])}"
    step = numbers["step_ms"]
    if math.isnan(step):
        text = f"The pipeline makes {makes}."
    elif numbers["batch_ms"] > step:
        text = f"Your step needs a batch every {say(step)}; the pipeline makes one every {say(numbers['batch_ms'])}."
    elif numbers["waiting_ms"] > WAITS * step:
        text = (
            f"By itself the pipeline makes {makes}, and your step needs one every {say(step)}. Beside the step it does "
            f"not keep up: each step waits {say(numbers['waiting_ms'])}."
        )
    else:
        text = f"The pipeline keeps up: it makes {makes}, and your step needs one every {say(step)}."
    if not numbers["bottleneck"]:
        return text
    if numbers["bottleneck_of"] == "first batch":
        return (
            f"{text} Each pass begins with a wait of {say(numbers['first_ms'])}: `{numbers['bottleneck']}` fills its "
            "buffer."
        )
    return f"{text} `{numbers['bottleneck']}` adds most: {say(numbers['bottleneck_added_ms'])} per batch."


def _advice(measured: InputBenchmark) -> list[Panel]:
    numbers = measured.summary
    if not numbers["best"]:
        return [Note("None of the what-ifs was clearly faster.", "info")] if _has(measured, "what-if") else []
    if numbers["bottleneck_of"] == "first batch":
        was, now, what = numbers["first_ms"], numbers["best_first_ms"], "the first batch of a pass comes after"
    else:
        was, now, what = numbers["batch_ms"], numbers["best_batch_ms"], "a batch takes"
    gained = f"{what} {_units.milliseconds(now)} in place of {_units.milliseconds(was)}"
    name = f"{numbers['best'][0].upper()}{numbers['best'][1:]}"
    return [Note(f"{name}: {gained}, as measured.", "advice", code=numbers["code"])]


def _figures(measured: InputBenchmark) -> KeyFigures:
    numbers = measured.summary
    figures = [
        Figure(
            "per batch", _units.milliseconds(numbers["batch_ms"]), "after the first of a pass, nothing else running"
        ),
        Figure("batches per second", _units.number(numbers["batches_per_second"])),
        Figure("first batch", _units.milliseconds(numbers["first_ms"]), "the wait at the start of each pass"),
        Figure(
            "one batch repeated",
            _units.milliseconds(numbers["bound_ms"]),
            "what taking a batch that is there already costs",
        ),
    ]
    if not math.isnan(numbers["step_ms"]):
        figures.append(
            Figure("your step", _units.milliseconds(numbers["step_ms"]), "of the profile, without its input")
        )
    if not math.isnan(numbers["waiting_ms"]):
        meaning = "how long a program waits that works for so long between batches"
        figures.append(Figure("wait between steps", _units.milliseconds(numbers["waiting_ms"]), meaning))
    return KeyFigures(figures)


def _stages(measured: InputBenchmark) -> list[Panel]:
    table = measured.table[measured.table["kind"].isin(["stage", "whole"])]
    parts = [
        Part(f"{row['name']}{', first pass only' * row['first_pass_only']}", max(0.0, row["added_ms"]), INPUT)
        for row in table.to_dict("records")
    ]
    return [Bars("What each stage adds to a batch", parts, "ms")] if len(parts) > 1 else []


def _what_ifs(measured: InputBenchmark) -> list[Panel]:
    table = measured.table[measured.table["kind"].isin(["whole", "what-if", "bound"])]
    if not _has(measured, "what-if"):
        return []
    parts = [
        Part("as it is", row["batch_ms"], INPUT)
        if row["kind"] == "whole"
        else Part(row["name"], row["batch_ms"], theme.SKY)
        for row in table.to_dict("records")
    ]
    step = measured.summary["step_ms"]
    if not math.isnan(step):
        parts.append(Part("your step, without its input", step, DEVICE_COMPUTE))
    return [Bars("Time per batch, as it is and changed", parts, "ms")]


def _has(measured: InputBenchmark, kind: str) -> bool:
    return bool((measured.table["kind"] == kind).any())
