"""Input pipeline: whether steps wait for data, and which parts of the pipeline take the time."""

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.input_pipeline import CATEGORIES, InputPipeline
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.tf_data.tf_data import HOST_UNSEEN, TfData
from tfprof_nb.analysis.verdict import MODERATELY_PERCENT
from tfprof_nb.render.panels import Bars, Column, Figure, KeyFigures, Lines, Note, Panel, Part, Series, Table
from tfprof_nb.views.categories import HOST_COMPUTE, INPUT, OTHER, Category
from tfprof_nb.views.columns import OP
from tfprof_nb.views.step_bars import step_bars
from tfprof_nb.views.steps import graph

_PYTHON = "Waiting for data takes {input} of each step. Time in which Python makes data counts as `other`."
# By the reason of the verdict; without one, by the verdict.
_VERDICTS = {
    "highly": "Highly input-bound: steps wait for data {input} of their time.",
    "moderately": "Moderately input-bound: steps wait for data {input} of their time.",
    "potentially": _PYTHON,
    "python": _PYTHON,
    "only_at_starts": "Only few steps wait for data, at the start of a pass over it: {input} of the time of all steps.",
    "short_fetches": "The input pipeline keeps up: a step fetches its batch in {fetch}.",
    "not": "The input pipeline keeps up: steps wait for data {input} of their time.",
    "before": "Steps wait for data {input} of their time.",
    "unknown": "This profile does not show how long steps waited for data.",
}
_LEAST_BETWEEN_PERCENT = 0.5
_CLASSES = {**CATEGORIES, "other_ms": "Outside tf.data"}
_ADVICE = {
    "demanded_file_read_ms": (
        "Reading files takes most of the input time, one after another: read several at once with "
        "`interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)`."
    ),
    "advanced_file_read_ms": (
        "Reading files takes most of the input time although it runs ahead or in parallel: read more files at once (a "
        "larger cycle_length), from a faster disk, or put `.cache()` after the read."
    ),
    "preprocessing_ms": "Preprocessing takes most of the input time.{missing}",
    "enqueue_ms": (
        "Copying to the device takes most of the input time: copy smaller types (uint8, cast on the device) in fewer, "
        "larger pieces."
    ),
    "other_ms": (
        "The data does not come from tf.data: put it into a tf.data.Dataset that ends with "
        "`.prefetch(tf.data.AUTOTUNE)`."
    ),
}
_TO_ADD = {
    "Map": "give `.map()` num_parallel_calls=tf.data.AUTOTUNE",
    "Cache": "`.cache()` what stays the same",
    "Prefetch": "end the pipeline with `.prefetch(tf.data.AUTOTUNE)`",
}
_COLUMNS = (
    Column(OP, "input op", "code", meaning="an iterator by its place, from the end of the pipeline on"),
    Column("self_ms", "self time", "ms", bar=True, meaning="without the input ops inside it, summed over threads"),
    Column("self_share", "share", "share", meaning="of the self time of all input ops"),
    Column("category", "class"),
    Column("count", "runs", "count"),
    Column("total_ms", "total time", "ms", meaning="from start to end, with the input ops inside it"),
    Column("total_share", "share of total time", "share", meaning="total time as a share of the self time of all"),
)


def panels(result: InputPipeline, tf_data: TfData, steps: Steps, fix: Note | None = None) -> list[Panel]:
    """Show how long steps wait for data, what to do about it, the steps' parts, and which input ops take the time.

    ``fix`` is what to do where the program's advice knows it; else it is what helps such pipelines.
    """
    return [
        Note(headline(result), "answer"),
        *([fix] if fix else advice(result, tf_data)),
        *_statistics(result, steps),
        *_graphs(result, steps),
        *_input_ops(result),
    ]


def _statistics(result: InputPipeline, steps: Steps) -> list[Panel]:
    """Show how long steps wait for data."""
    numbers = result.summary
    if not len(result.steps):
        return []
    figures = [Figure("median step", _units.milliseconds(float(steps.timed["step_ms"].median())))]
    if _is_known(result):
        mean, low, high = (_units.milliseconds(numbers[f"input_ms_{name}"]) for name in ("mean", "min", "max"))
        figures.append(Figure("average wait for data", mean, "of the steps in the averages"))
        if len(steps.timed) > 1:
            figures.append(Figure("shortest to longest wait", f"{low} to {high}"))
    return [KeyFigures(figures)]


def _is_known(result: InputPipeline) -> bool:
    """Whether the profile shows how long steps waited: of a session's run it does not."""
    return bool(result.summary["verdict"] != "unknown")


def headline(result: InputPipeline) -> str:
    """Put the verdict into a sentence."""
    numbers = result.summary
    fetch = _units.milliseconds(numbers["input_ms_mean"])
    between, waiting = numbers["input_between_steps_percent"], numbers["input_percent"]
    kind = next(key for key in (numbers["verdict_reason"], numbers["verdict"]) if key in _VERDICTS)
    if kind == "unknown" or not between >= _LEAST_BETWEEN_PERCENT:
        return _VERDICTS[kind].format(input=_units.percent(waiting), fetch=fetch)
    waiting += between
    if kind in ("not", "short_fetches", "python", "potentially"):
        kind = "before" if waiting >= MODERATELY_PERCENT else "not"
    said = _VERDICTS[kind].format(input=_units.percent(waiting), fetch=fetch)
    return f"{said.removesuffix('.')}, {_units.percent(between)} of it before they begin."


def advice(result: InputPipeline, tf_data: TfData) -> list[Panel]:
    """Say what to change: the slowest stage of tf.data, if it is known; nothing if the input keeps up."""
    if result.summary["verdict"] not in ("moderately", "highly") or result.summary["framework"] != "tensorflow":
        return []
    calls = tf_data.summary
    if calls["bottleneck"] and calls["slow_calls"]:
        stage = _units.shorten(calls["bottleneck"], 80)
        return [Note(f"{stage} is the slowest stage. {calls['suggestion']}", "advice")]
    if calls["pipelines"] and not calls["calls"]:
        return [Note(HOST_UNSEEN, "advice")]
    largest = result.summary["largest"]
    return [Note(_ADVICE[largest].format(missing=_missing(result)), "advice")] if largest else []


def _missing(result: InputPipeline) -> str:
    """Say what the stages that were seen do without."""
    seen = {iterator_type(str(name)) for name in result.table["op_name"]}
    lacking = [text for kind, text in _TO_ADD.items() if (kind in seen) == (kind == "Map")]
    said = " and ".join([", ".join(lacking[:-1]), lacking[-1]] if len(lacking) > 1 else lacking)
    return f" {said[0].upper()}{said[1:]}." if said else ""


def _input_ops(result: InputPipeline) -> list[Panel]:
    if not len(result.table):
        why, *rest = result.notes
        return [Note(why, "empty"), *(Note(note, "info") for note in rest)]
    classes = _classes(result)
    return [
        *([Bars("Self time of input ops by class", classes, "ms")] if len(classes) > 1 else []),
        Table("Input ops", result.table, _COLUMNS, selects=OP),
        *(Note(note, "info") for note in result.notes),
    ]


def _classes(result: InputPipeline) -> list[Part]:
    largest = result.summary["largest"]
    times = {key: result.summary[key] for key in _CLASSES if result.summary[key] > 0}
    worst = largest if result.summary["verdict"] in ("moderately", "highly", "unknown") else None
    return [Part(_CLASSES[key], time, INPUT if key == worst else OTHER) for key, time in times.items()]


def _graphs(result: InputPipeline, steps: Steps) -> list[Panel]:
    """Show the waits of the steps; whole steps if none waited."""
    return _per_step(result, steps) or graph(steps)


def _per_step(result: InputPipeline, steps: Steps) -> list[Panel]:
    """Show how long each step waited; of several hosts also from which to which share of the step they did."""
    if not _is_known(result) or not result.steps["input_ms"].any():
        return []
    waiting = {"input_ms": Category("waiting for data", INPUT)}
    return [step_bars("Waiting for data per step", steps.table, waiting, "time per step"), *_over_hosts(result)]


def _over_hosts(result: InputPipeline) -> list[Panel]:
    """Show the range of the waits over hosts, step by step: the hosts number their steps alike."""
    steps = result.steps.assign(percent=100 * result.steps["input_ms"] / result.steps["step_ms"])
    if (hosts := steps["host"].nunique()) < 2:
        return []
    steps = steps.assign(number=steps.groupby("host").cumcount())
    over = steps.groupby("number")["percent"].agg(["min", "mean", "max"])
    series = [
        Series(name, over[key].to_numpy(np.float64), color)
        for key, name, color in (("max", "longest", INPUT), ("mean", "mean", HOST_COMPUTE), ("min", "shortest", OTHER))
    ]
    title = f"Waiting for data over {hosts} hosts, per step"
    return [Lines(title, over.index.to_numpy(np.float64), series, "step", "share of the step (%)")]
