"""A measured step: examples per second as it is and changed."""

from tfprof_nb import _units
from tfprof_nb.analysis.benchmark_step import StepBenchmark
from tfprof_nb.render import theme
from tfprof_nb.render.panels import Bars, Column, Figure, KeyFigures, Note, Panel, Part, Table
from tfprof_nb.views.categories import DEVICE_COMPUTE

_COLUMNS = (
    Column("name", "variant", "code"),
    Column("examples", "examples", "count", meaning="in a batch"),
    Column("step_ms", "step", "ms", meaning="median of the rounds"),
    Column("step_ms_low", "from", "ms", meaning="the fastest round"),
    Column("step_ms_high", "to", "ms", meaning="the slowest round"),
    Column("example_us", "per example", "us", bar=True),
    Column("examples_per_second", "examples per second", "number"),
    Column("speedup", "times as fast", "number", meaning="examples per second, over those of the step as it is"),
    Column("rounds", "rounds", "count"),
    Column("steps", "steps", "count", meaning="counted"),
)


def panels(measured: StepBenchmark) -> list[Panel]:
    """Show the answer, the figures, the variants, and every number."""
    numbers = measured.summary
    figures = [
        Figure("step", _units.milliseconds(numbers["step_ms"]), "without input: the batch is in memory"),
        Figure("per example", _units.microseconds(numbers["example_us"])),
        Figure("examples per second", _units.number(numbers["examples_per_second"])),
    ]
    return [
        Note(answer(measured), "answer"),
        *_advice(measured),
        KeyFigures(figures),
        *_bars(measured),
        Table("Everything measured", measured.table, _COLUMNS),
        *map(Note, measured.notes),
    ]


def answer(measured: StepBenchmark) -> str:
    """Say what a step takes, and by how much the best variant is faster."""
    numbers, examples = measured.summary, measured.table["examples"].iloc[0]
    text = f"A step of {_units.count(examples)} examples takes {_units.milliseconds(numbers['step_ms'])}"
    if not numbers["best"]:
        return f"{text}. No variant was clearly faster." if len(measured.table) > 1 else f"{text}."
    times = _units.number(numbers["best_speedup"])
    return f"{text}. With {numbers['best']}, examples are processed {times} times as fast."


def _advice(measured: StepBenchmark) -> list[Panel]:
    best = measured.summary["best"]
    if best.startswith("batch of"):
        size = best.removeprefix("batch of ")
        text = (
            f"Larger batches: `.batch({size})`. They train differently: the learning rate may have to follow, and the "
            "result has to be checked."
        )
        return [Note(text, "advice")]
    return [Note("The change as code:", "advice", code=measured.code)] if measured.code else []


def _bars(measured: StepBenchmark) -> list[Panel]:
    if len(measured.table) < 2:
        return []
    parts = [
        Part(row["name"], row["example_us"], theme.SKY if k else DEVICE_COMPUTE)
        for k, row in enumerate(measured.table.to_dict("records"))
    ]
    return [Bars("Time per example, as it is and changed", parts, "us")]
