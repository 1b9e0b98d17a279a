"""tf.data: how long the program waited for elements, and for which stage of the pipeline."""

from __future__ import annotations

from tfprof_nb import _units
from tfprof_nb.analysis.tf_data import TfData
from tfprof_nb.render.panels import Bars, Column, Note, Panel, Part, Table
from tfprof_nb.render.theme import INPUT, OTHER

_SLOW = "a call that takes over 50 µs"
_STAGE_COLUMNS = (
    Column("name", "stage"),
    Column("critical_ms", "waited for", "ms", bar=True, meaning="time of the call in which it was this stage's turn"),
    Column("self_ms", "self time", "ms", meaning="without the stages before it, summed over calls"),
    Column("total_ms", "total time", "ms", meaning="summed over calls, also those that ran ahead or in parallel"),
    Column("calls", "calls", "count"),
    Column("critical", "held the call up", "flag"),
    Column("bottleneck", "bottleneck", "flag"),
    Column("injected", "added by TensorFlow", "flag"),
    Column("long_name", "place in the pipeline", "code", meaning="from the end of the pipeline to this stage"),
)
_PIPELINE_COLUMNS = (
    Column("host", "host"),
    Column("pipeline", "pipeline", "count", meaning="all passes over datasets of one shape"),
    Column("side", "runs on"),
    Column("stages", "stages", "code", meaning="from the source to the end"),
    Column("calls", "calls", "count", meaning="elements that were asked for"),
    Column("slow_calls", "slow calls", "count", meaning=_SLOW),
    Column("min_us", "shortest", "us"),
    Column("mean_us", "mean", "us"),
    Column("max_us", "longest", "us"),
)


def panels(result: TfData) -> list[Panel]:
    """Show the verdict with what to change, where the slowest call waited, its stages, and all pipelines."""
    if not len(result.pipelines):
        return [Note(note, "empty") for note in result.notes]
    return [
        Note(headline(result), "answer"),
        *_advice(result),
        *_slowest_call(result),
        Table("Pipelines", result.pipelines, _PIPELINE_COLUMNS),
        *(Note(note, "info") for note in result.notes),
    ]


def headline(result: TfData) -> str:
    """Say how many calls were slow, and what held the slowest up."""
    numbers = result.summary
    calls = f"{_units.count(numbers['calls'])} calls for data"
    if numbers["latency_ms"] is None:
        return "No call for data on a host was recorded."
    latency = _units.milliseconds(numbers["latency_ms"])
    if not numbers["slow_calls"]:
        return f"tf.data keeps up: the slowest of {calls} took {latency}."
    slow = f"{_units.count(numbers['slow_calls'])} of {calls} took over 50 µs."
    if numbers["bottleneck"] is None:
        return f"{slow} One took {latency}; what it waited for is not in the capture."
    waited = _units.milliseconds(numbers["bottleneck_ms"])
    return f"{slow} The slowest stage is {numbers['bottleneck']}: it took {waited} of a call of {latency}."


def _advice(result: TfData) -> list[Panel]:
    numbers = result.summary
    return [Note(numbers["suggestion"], "advice")] if numbers["slow_calls"] and numbers["suggestion"] else []


def _slowest_call(result: TfData) -> list[Panel]:
    if not len(result.table):
        return []
    waited = result.table[result.table["critical_ms"] > 0].sort_values("critical_ms", ascending=False)
    parts = [
        Part(name, time, INPUT if blamed else OTHER)
        for name, time, blamed in zip(waited["name"], waited["critical_ms"], waited["bottleneck"], strict=True)
    ]
    return [
        Bars(f"What a slow call of {_units.milliseconds(result.summary['latency_ms'])} waited for", parts, "ms"),
        Table("Its stages, from the end of the pipeline to the source", result.table, _STAGE_COLUMNS),
    ]
