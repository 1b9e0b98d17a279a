"""tf.data: how long the program waited for data, and for which stage of the pipeline."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.tf_data.tf_data import TfData
from tfprof_nb.analysis.verdict import MODERATELY_PERCENT
from tfprof_nb.render.panels import Box, Column, Network, Note, Panel, Tab, Table, Tabs
from tfprof_nb.views.categories import OTHER

_MAX_CALLS, _MAX_SLOWEST, _MAX_PIPELINES = 50, 40, 20
_STAGES = {"Root": "the pipeline's end", "ForeverRepeat": "endless repeat()"}
_SLOW = "a call that takes over 50 µs"
_STAGE_COLUMNS = (
    Column("name", "stage"),
    Column(
        "critical_ms", "waited for", "ms", bar=True, meaning="the part of the call's time that counts for this stage"
    ),
    Column("self_ms", "self time", "ms", meaning="without the stages before it, summed over calls"),
    Column("total_ms", "total time", "ms", meaning="summed over calls, including those that ran ahead or in parallel"),
    Column("calls", "calls", "count"),
    Column("delays", "delays the call", "flag"),
    Column("bottleneck", "bottleneck", "flag"),
    Column("injected", "added by TensorFlow", "flag"),
    Column("long_name", "place in the pipeline", "code", meaning="from the end of the pipeline to this stage"),
)
_PIPELINE_COLUMNS = (
    Column("pipeline", "pipeline", "count", meaning="all passes over datasets with the same stages"),
    Column("calls", "calls", "count", meaning="requests for an element"),
    Column("slow_calls", "slow calls", "count", meaning=_SLOW),
    Column("mean_us", "mean", "us"),
    Column("max_us", "longest", "us"),
    Column("min_us", "shortest", "us"),
    Column("stages", "stages", "code", meaning="from the source to the end"),
    Column("side", "runs on"),
    Column("host", "host"),
)


def panels(result: TfData, fix: Note | None = None) -> list[Panel]:
    """Show the verdict and what to change, what a typical slow call or any other waited for, and all pipelines.

    ``fix`` is what to change where the program's advice knows it; else it is what helps stages of that kind.
    """
    if not len(result.pipelines):
        return [Note(note, "empty") for note in result.notes]
    several = len(set(result.pipelines["host"])) > 1
    return [
        Note(headline(result), "answer"),
        *([fix] if fix else _advice(result)),
        *_worst(result),
        *_choices(result),
        Table("Pipelines", result.pipelines, _PIPELINE_COLUMNS[: None if several else -1], kept_in="pipelines"),
        *(Note(note, "info") for note in result.notes),
    ]


def headline(result: TfData) -> str:
    """Say how many calls were slow, and which stage delayed them."""
    numbers = result.summary
    only = numbers["calls"] == 1
    calls = f"{_units.count(numbers['calls'])} calls for data"
    if numbers["latency_ms"] is None:
        return "No call for data on a host was recorded."
    latency = _units.milliseconds(numbers["latency_ms"])
    if not numbers["slow_calls"]:
        return f"tf.data keeps up: the {'only call' if only else f'slowest of {calls}'} took {latency}."
    if _hardly_waits(result):
        waiting = _units.percent(numbers["waiting_percent"])
        one = f"{'The only call' if only else f'One of {calls}'} took {latency}."
        said = _absorbed(result) if numbers["slow_calls"] > 1 else one
        return f"tf.data keeps up: steps wait for data in {waiting} of their time. {said}"
    slow = f"{_units.count(numbers['slow_calls'])} of {calls} took over 50 µs."
    if numbers["bottleneck"] is None:
        return f"{slow} One took {latency}; what it waited for is not in the capture."
    waited, stage = _units.milliseconds(numbers["bottleneck_ms"]), _units.shorten(numbers["bottleneck"], 80)
    if numbers["slow_calls"] == 1 < numbers["calls"]:  # no pattern
        return f"{slow} {stage} took {waited} of its {latency}."
    return f"{slow} The slowest stage is {stage}: it took {waited} of a call of {latency}.{_compared(result)}"


def _compared(result: TfData) -> str:
    """Say how the shown call compares with the other calls of its pipeline."""
    times = result.calls(result.summary["host"], result.summary["pipeline"])["total_ms"]
    if len(times) < 2:
        return ""
    slower = int((times > result.summary["latency_ms"] * (1 + 1e-9)).sum())
    rank = "the slowest" if not slower else f"number {_units.count(slower + 1)} by time"
    typical = _units.milliseconds(float(times.median()))
    return f" This call is {rank} of {_units.count(len(times))} calls; the median call takes {typical}."


def _advice(result: TfData) -> list[Panel]:
    numbers = result.summary
    if not (numbers["slow_calls"] and numbers["suggestion"]):
        return []
    if _hardly_waits(result):
        return [Note("There is little to gain here.", "info")]
    return [Note(numbers["suggestion"], "advice")]


def _absorbed(result: TfData) -> str:
    """Say that slow calls do not matter, as something fetches ahead of the steps."""
    numbers = result.summary
    slow = f"{_units.count(numbers['slow_calls'])} of {_units.count(numbers['calls'])} calls took over 50 µs"
    ahead = (result.table["name"] == "Prefetch").any()
    return f"{slow}: the prefetch absorbs that." if ahead else f"{slow}, which hardly delays the steps."


def _worst(result: TfData) -> list[Panel]:
    """Name the host, the pipeline and the stage that delay the program the most, if anything does."""
    numbers = result.summary
    if _hardly_waits(result) or not (numbers["slow_calls"] and numbers["bottleneck_long_name"]):
        return []
    host, pipeline = numbers["host"], numbers["pipeline"]
    table = result.pipelines
    if len(table) == 1:  # the headline says all of it
        return []
    stages = table.loc[(table["host"] == host) & (table["pipeline"] == pipeline), "stages"].iloc[0]
    place = f"of pipeline {pipeline} ({stages}){f' on host {host}' * (len(set(table['host'])) > 1)}"
    return [Note(f"The slowest stage is `{numbers['bottleneck_long_name']}` {place}.", "info")]


def _hardly_waits(result: TfData) -> bool:
    """Whether the program is known to wait for data so little that slow calls do not matter."""
    return bool(result.summary["waiting_percent"] < MODERATELY_PERCENT)


def _choices(result: TfData) -> list[Panel]:
    """Return menus of hosts, if there are several, and of the calls, the worst first."""
    hosts = sorted(set(result.pipelines["host"]), key=lambda host: host != result.summary["host"])
    if len(hosts) == 1:
        return _calls(result, hosts[0])
    return [Tabs([Tab(host, partial(_calls, result, host)) for host in hosts], "menu", "host", shown=1)]


def _calls(result: TfData, host: str) -> list[Panel]:
    """Return a menu of a host's calls: the typical slow call, then by rank those of each pipeline, slowest first."""
    worst = (result.summary["host"], result.summary["pipeline"])
    pipelines = result.pipelines.loc[result.pipelines["host"] == host, "pipeline"].tolist()
    pages = []
    if len(result.table) and host == worst[0]:
        latency = _units.milliseconds(result.summary["latency_ms"])
        pages.append(Tab(f"the one above, {latency}", partial(_stages, result.table, quiet=_hardly_waits(result))))
    for pipeline in sorted(pipelines, key=lambda number: (host, number) != worst)[:_MAX_PIPELINES]:
        calls = result.calls(host, pipeline).to_dict("records")
        where = f"pipeline {pipeline}, " if len(pipelines) > 1 else ""
        pages += [
            Tab(f"{where}{_call_name(rank, calls[rank])}", partial(_call, result, host, pipeline, rank))
            for rank in _ranks(len(calls))
        ]
    return [Tabs(pages, "menu", "call", shown=1)]


def _ranks(count: int) -> list[int]:
    """Return the ranks to choose from: all, or of many calls the slowest, and others as far as the quickest.

    Examples
    --------
    >>> _ranks(3), len(_ranks(1000)), _ranks(1000)[-1]
    ([0, 1, 2], 50, 999)
    """
    if count <= _MAX_CALLS:
        return list(range(count))
    later = np.linspace(_MAX_SLOWEST, count - 1, _MAX_CALLS - _MAX_SLOWEST).astype(int)
    return [*range(_MAX_SLOWEST), *later.tolist()]


def _call_name(rank: int, call: dict[Any, Any]) -> str:
    stage = f", {_units.shorten(call['bottleneck'], 80)}" if isinstance(call["bottleneck"], str) else ""
    return f"{rank + 1}. slowest, {_units.milliseconds(call['total_ms'])}{stage}"


def _call(result: TfData, host: str, pipeline: int, rank: int) -> list[Panel]:
    return _stages(result.iterators(host, pipeline, rank), quiet=_hardly_waits(result))


def _stages(stages: pd.DataFrame, *, quiet: bool) -> list[Panel]:
    """Show what one call waited for, stage by stage, and all numbers of them; ``quiet`` names no bottleneck."""
    if quiet:
        stages = stages.assign(bottleneck=False)
    return [
        Network("What the call waited for, from the pipeline's sources to its end", _boxes(stages), OTHER),
        Table(
            "Stages, from the end of the pipeline to its sources",
            stages.assign(delays=stages["critical_ms"] > 0),
            _STAGE_COLUMNS,
            selects="long_name",
            kept_in="",
        ),
    ]


def _described(stage: str) -> str:
    """Name a stage, with an explanation if no method of tf.data has its name."""
    return f"{stage}: {_STAGES[stage]}" if stage in _STAGES else stage


def _boxes(stages: pd.DataFrame) -> list[Box]:
    """Return a box per stage, sources first; a stage is fed by those whose places begin with its own."""
    stages = stages.sort_values("long_name", key=lambda names: -names.str.count("::"), kind="stable")
    rows, waited = stages.to_dict("records"), float(stages["critical_ms"].sum())
    place = {row["long_name"]: k for k, row in enumerate(rows)}
    fed: list[list[int]] = [[] for _ in rows]
    for k, row in enumerate(rows):
        consumer = row["long_name"]
        while (consumer := consumer.rpartition("::")[0]) and consumer not in place:
            pass
        if consumer:
            fed[place[consumer]].append(k)
    return [_box(row, waited, inputs) for row, inputs in zip(rows, fed, strict=True)]


def _box(stage: dict[Any, Any], waited: float, inputs: list[int]) -> Box:
    """Return a box with two lines: how long the call waited for the stage, and how often and how long it ran."""
    calls = f"{_units.count(stage['calls'])} call{'s' * (stage['calls'] != 1)}"
    added = "added by TensorFlow, " if stage["injected"] and stage["name"] not in _STAGES else ""
    lines = (
        f"waited for {_units.milliseconds(stage['critical_ms'])}",
        f"{added}{calls}, total {_units.milliseconds(stage['total_ms'])}",
    )
    share = stage["critical_ms"] / waited if waited else 0.0
    return Box(_described(stage["name"]), lines, share, inputs, "bottleneck" if stage["bottleneck"] else "")
