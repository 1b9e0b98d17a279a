"""Where tf.data pipelines lose time: slow calls, the stages that delayed them, and what to change.

The method is that of XProf's tf.data analysis (`xplane_to_tf_data_stats.cc`), with these differences: iterators of one
shape count as one pipeline, since each pass over a dataset creates new ones; the branches of a stage count together;
overlapping children are subtracted once; the bottleneck is the stage that delayed the call the longest, where recurring
calls count more than setup; and stages that the runtime added are never the bottleneck.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb._errors import TfprofError
from tfprof_nb._units import PS_PER_MS, PS_PER_US, milliseconds
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import not_for
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.tf_data.iterators import DEVICE_STAGES, critical_time, iterator_calls, iterator_type, short_name
from tfprof_nb.analysis.tf_data.suggestions import suggest

# A call that takes longer is slow: XProf's threshold for an input-bound pipeline.
SLOW_CALL_PS = 50_000_000
# An iterator's first call sets it up: it is ignored if the calls after it took at least this share of the time.
_RECURRING_SHARE = 0.1

_TYPES = {
    **dict.fromkeys(("long_name", "name"), "str"),
    **dict.fromkeys(("start_ms", "total_ms", "self_ms"), np.float64),
    "calls": np.int64,
    **dict.fromkeys(("critical", "bottleneck"), np.bool_),
    "critical_ms": np.float64,
    "injected": np.bool_,
}
_PIPELINE_TYPES = {
    "host": "str",
    "pipeline": np.int64,
    **dict.fromkeys(("side", "stages"), "str"),
    "calls": np.int64,
    **dict.fromkeys(("min_us", "mean_us", "max_us"), np.float64),
    "slow_calls": np.int64,
}
COLUMNS, PIPELINE_COLUMNS = list(_TYPES), list(_PIPELINE_TYPES)
CALL_COLUMNS = ["start_ms", "total_ms", "slow", "bottleneck", "bottleneck_ms"]
_ALL_CALL_COLUMNS = ["call", "host", "pipeline", "side", "stage", "explained", "first", *CALL_COLUMNS]
_BOTTLENECK = ("bottleneck", "bottleneck_long_name", "bottleneck_ms", "suggestion")

_NO_ACTIVITY = (
    "No tf.data iterator was called during the capture. If the program reads its data with tf.data, capture a few more "
    "steps (host_level must be 2 or more). If it feeds arrays or a Python generator, put these into a tf.data.Dataset "
    "(`from_tensor_slices`, `from_generator`) and end it with `.prefetch(tf.data.AUTOTUNE)`."
)
HOST_UNSEEN = (
    "Capture more steps: no call of the pipeline on the host is in this capture, so its slow stage is not known."
)
_ONLY_DEVICE = "Only the part of a pipeline that runs on a device was called: the host's part is not in the capture."
_TYPICAL = (
    "The slowest call took {slowest}, for a reason that is not typical or not in the capture, such as setup or work "
    "that began earlier. Shown is the slowest call that {bottleneck} delayed, which costs this pipeline the most."
)


@dataclass(eq=False, kw_only=True)
class TfData(Result):
    """The stages of a slow call of the slowest pipeline, outermost first.

    In ``table``, ``total_ms`` and ``self_ms`` are sums over the stage's calls that the pipeline's call caused, so they
    can exceed its time if these ran in parallel or ahead; ``self_ms`` excludes the time in which a stage before it ran.
    The stages on the way to what the call waited for are ``critical``; each delayed it for ``critical_ms``, which adds
    up to the call's time and is 0 for a stage that only passed elements on. The ``bottleneck`` is the stage that
    delayed it the longest; ``injected`` stages were added by the runtime.

    Attributes
    ----------
    pipelines
        ``host pipeline side stages calls min_us mean_us max_us slow_calls``; numbered by first use. A call takes one
        element, and is slow if it took over 50 us.
    """

    pipelines: pd.DataFrame
    # One row per call of a pipeline's root iterator, and per stage of each of these.
    _calls: pd.DataFrame = field(repr=False)
    _stages: pd.DataFrame = field(repr=False)

    def calls(self, host: str, pipeline: int) -> pd.DataFrame:
        """Return the calls of one pipeline, slowest first: ``start_ms total_ms slow bottleneck bottleneck_ms``.

        `iterators` takes the index, ``rank``. A call that nothing delayed has no bottleneck.
        """
        return self._ranked(host, pipeline)[CALL_COLUMNS]

    def iterators(self, host: str, pipeline: int, rank: int = 0) -> pd.DataFrame:
        """Return the stages of one call, with the columns of ``table``.

        Raises
        ------
        TfprofError
            If there is no such pipeline or call.
        """
        calls = self._ranked(host, pipeline)["call"]
        if not 0 <= rank < len(calls):
            raise TfprofError(
                f"There is no call {rank} of pipeline {pipeline} on host {host!r}: .pipelines lists the pipelines with "
                "the numbers of their calls."
            )
        return _stage_table(self._stages, calls.iloc[rank])

    def _ranked(self, host: str, pipeline: int) -> pd.DataFrame:
        mine = self._calls[(self._calls["host"] == host) & (self._calls["pipeline"] == pipeline)]
        return mine.sort_values("total_ms", ascending=False, kind="stable", ignore_index=True).rename_axis("rank")


def tf_data(forests: Sequence[Forest], waiting_percent: float = float("nan")) -> TfData:
    """Find the slow calls of all tf.data pipelines, and the stage that delays them.

    Parameters
    ----------
    waiting_percent
        The percentage of its time for which the program waits for data, if it is known.

    Returns
    -------
    TfData
        It shows the pipeline with the longest calls in total, by the slowest call that its worst stage delayed. The
        summary has ``pipelines``, ``calls`` and ``slow_calls`` (of pipelines on hosts); the ``host``, ``pipeline`` and
        ``latency_ms`` of the call shown; its ``bottleneck`` with ``bottleneck_ms`` and the ``suggestion``; each is None
        if there is none. ``waiting_percent`` is as given; where that is unknown, the calls' part of the captured time,
        which is the most that the program can have waited for them.
    """
    by_host = (forest.once(host_stages) for forest in forests)
    parts = [part.assign(part=number) for number, part in enumerate(by_host) if len(part)]
    if not parts:
        return _no_activity(waiting_percent, not_for(forests, "pipelines of tf.data") or _NO_ACTIVITY)
    stages = pd.concat(parts, ignore_index=True)
    stages["call"] = stages.groupby(["part", "root"], sort=False).ngroup()
    stages["bottleneck"] = _is_bottleneck(stages)
    calls = _root_calls(stages)
    pipelines = _pipelines(stages, calls)
    hosted = calls[calls["side"] == "host"]
    slowest = _slowest_pipeline(hosted)
    shown = _typical(slowest, stages)
    table = _stage_table(stages, shown["call"] if shown is not None else -1)
    summary = _summary(shown, stages, len(pipelines), len(hosted), int(hosted["slow"].sum()))
    known = not math.isnan(waiting_percent)
    summary["waiting_percent"] = waiting_percent if known else _calls_percent(hosted, forests)
    return TfData(table, summary, _notes(slowest, shown), pipelines=pipelines, _calls=calls, _stages=stages)


def _calls_percent(hosted: pd.DataFrame, forests: Sequence[Forest]) -> float:
    """Return how much of the captured time calls for data take."""
    captured_ms = sum(forest.end_ps for forest in forests) / PS_PER_MS
    return 100 * float(hosted["total_ms"].sum()) / max(captured_ms, 1e-9)


def _no_activity(waiting_percent: float, why: str) -> TfData:
    stages = pd.DataFrame(columns=["call"])
    return TfData(
        empty_table(_TYPES),
        _summary(None, stages, 0, 0, 0) | {"waiting_percent": waiting_percent},
        [why],
        pipelines=empty_table(_PIPELINE_TYPES),
        _calls=pd.DataFrame(columns=_ALL_CALL_COLUMNS),
        _stages=stages,
    )


def host_stages(forest: Forest) -> pd.DataFrame:
    """Return one row per stage of each call of a root iterator: its times and its pipeline."""
    calls = iterator_calls(forest)
    shown = calls[calls["root"] >= 0]
    if shown.empty:
        return shown
    stages = (
        shown.assign(iterator=calls["iterator"].to_numpy()[shown["root"]])
        .groupby(["root", "stage"], as_index=False, sort=False)
        .agg(
            iterator=("iterator", "first"),
            depth=("depth", "first"),
            start_ps=("start_ps", "min"),
            total_ps=("duration_ps", "sum"),
            self_ps=("self_ps", "sum"),
            making=("making", "sum"),
            calls=("self_ps", "size"),
            critical=("blocking", "any"),
            injected=("injected", "any"),
            dataset=("dataset", "first"),
        )
        .assign(calls=lambda table: table["calls"] - table["making"])
        .merge(critical_time(calls), on=["root", "stage"], how="left")
    )
    stages["critical_ps"] = stages["critical_ps"].fillna(0).astype(np.int64)
    stages["pipeline"] = stages["iterator"].map(_number_pipelines(stages))
    prefetches = calls["id"].isin(calls.loc[calls["device_source"], "parent_id"])
    around = prefetches | calls["id"].isin(calls.loc[prefetches & (calls["depth"] > 1), "parent_id"])
    on_device = stages["iterator"].isin(calls.loc[around, "iterator"])
    # A pipeline of the host may get an iterator's id after one on a device had it: its stages tell.
    elsewhere = ~stages["stage"].isin(DEVICE_STAGES)
    stages["on_device"], elsewhere = (
        found.groupby(stages["pipeline"]).transform("any") for found in (on_device, elsewhere)
    )
    stages["on_device"] &= ~elsewhere
    return stages.assign(host=forest.host.name)


def _number_pipelines(stages: pd.DataFrame) -> pd.Series:
    """Number root iterators by the shape of their pipeline, in order of first use.

    A pass of which only some stages were captured belongs to the first shape that has all of them.
    """
    shapes = stages.sort_values("start_ps").groupby("iterator", sort=False)["stage"].agg(frozenset)
    distinct = list(dict.fromkeys(shapes))
    whole = [shape for shape in distinct if not any(shape < other for other in distinct)]
    home = {shape: next(all_ for all_ in whole if shape <= all_) for shape in distinct}
    return pd.Series(pd.factorize(shapes.map(home))[0], index=shapes.index)


def _is_bottleneck(stages: pd.DataFrame) -> pd.Series:
    """Return per row whether it is the stage that delayed its call the longest; stages of the runtime do not count."""
    candidates = stages[(stages["critical_ps"] > 0) & ~stages["injected"]]
    longest = candidates.groupby("call")["critical_ps"].idxmax()
    return pd.Series(stages.index.isin(longest), index=stages.index)


def _root_calls(stages: pd.DataFrame) -> pd.DataFrame:
    """Return one row per call of a root iterator; ``explained`` if stages that do work took at least half of it."""
    outermost = stages[stages["depth"] == 1]
    worst = stages[stages["bottleneck"]].set_index("call")
    bottleneck = outermost["call"].map(worst["stage"].map(short_name).astype(object))
    # Prefetch does no work: its own time is that of stages that were not captured.
    working = stages[~stages["injected"] & (stages["stage"].map(short_name) != "Prefetch")]
    worked_ps = outermost["call"].map(working.groupby("call")["critical_ps"].sum())
    in_order = outermost.sort_values("start_ps")
    return outermost.assign(
        first=~in_order.duplicated(["part", "iterator"]),
        side=np.where(outermost["on_device"], "device", "host"),
        start_ms=outermost["start_ps"] / PS_PER_MS,
        total_ms=outermost["total_ps"] / PS_PER_MS,
        slow=outermost["total_ps"] > SLOW_CALL_PS,
        stage=outermost["call"].map(worst["stage"]),
        bottleneck=bottleneck,
        bottleneck_ms=outermost["call"].map(worst["critical_ps"]) / PS_PER_MS,
        explained=(2 * worked_ps >= outermost["total_ps"]) & bottleneck.notna() & (bottleneck != "Prefetch"),
    )[_ALL_CALL_COLUMNS]


def _pipelines(stages: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    keys = ["host", "pipeline"]
    table = calls.groupby(keys, as_index=False).agg(
        side=("side", "first"),
        calls=("total_ms", "size"),
        min_ms=("total_ms", "min"),
        mean_ms=("total_ms", "mean"),
        max_ms=("total_ms", "max"),
        slow_calls=("slow", "sum"),
    )
    for name in ("min", "mean", "max"):
        table[f"{name}_us"] = table[f"{name}_ms"] * (PS_PER_MS / PS_PER_US)
    injected = frozenset(stages.loc[stages["injected"], "stage"])
    innermost = stages.sort_values(["depth", "self_ps"], kind="stable").groupby(keys)["stage"].last()
    chains = innermost.map(lambda stage: _chain(stage, injected)).rename("stages").reset_index()
    return table.merge(chains, on=keys)[PIPELINE_COLUMNS]


def _chain(stage: str, injected: frozenset[str]) -> str:
    """Return the stages from a source to the end of the pipeline: ``Range > Map > Batch``."""
    stages = [stage]
    while "::" in (next_stage := stages[-1].rpartition("::")[0]):
        stages.append(next_stage)
    return " > ".join(short_name(stage) for stage in stages if stage not in injected) or short_name(stage)


def _slowest_pipeline(hosted: pd.DataFrame) -> pd.DataFrame:
    """Return the calls, slowest first, of the pipeline with the longest calls in total."""
    number = hosted.groupby(["host", "pipeline"]).ngroup()
    longest = hosted.groupby(number)["total_ms"].sum().nlargest(1).index
    return hosted[number.isin(longest)].sort_values("total_ms", ascending=False, kind="stable")


def _typical(calls: pd.DataFrame, stages: pd.DataFrame) -> pd.Series | None:
    """Choose the call to show: the slowest of those delayed by the stage that delays this pipeline the most.

    Calls that mostly waited for the runtime, or for work that was not captured, count only if there are no others.
    """
    explained = calls[calls["explained"]]
    if explained.empty:
        return calls.iloc[0] if len(calls) else None
    later = explained[~explained["first"]]
    recurs = later["total_ms"].sum() >= _RECURRING_SHARE * explained["total_ms"].sum()
    counted = later if recurs else explained
    delaying = stages[stages["call"].isin(counted["call"]) & stages["stage"].isin(counted["stage"])]
    worst = delaying.groupby("stage")["critical_ps"].sum().idxmax()
    call: pd.Series = explained[explained["stage"] == worst].iloc[0]
    return call


def _notes(calls: pd.DataFrame, shown: pd.Series | None) -> list[str]:
    if shown is None:
        return [_ONLY_DEVICE]
    slowest = calls.iloc[0]
    if shown["call"] == slowest["call"]:
        return []
    return [_TYPICAL.format(slowest=milliseconds(slowest["total_ms"]), bottleneck=shown["bottleneck"])]


def _stage_table(stages: pd.DataFrame, call: int) -> pd.DataFrame:
    mine = stages[stages["call"] == call].sort_values(["depth", "stage"], ignore_index=True)
    return pd.DataFrame(
        {
            "long_name": mine["stage"],
            "name": mine["stage"].map(short_name),
            "start_ms": mine["start_ps"] / PS_PER_MS,
            "total_ms": mine["total_ps"] / PS_PER_MS,
            "self_ms": mine["self_ps"] / PS_PER_MS,
            "calls": mine["calls"],
            "critical": mine["critical"],
            "bottleneck": mine["bottleneck"],
            "critical_ms": mine["critical_ps"] / PS_PER_MS,
            "injected": mine["injected"],
        }
    )


def _summary(
    shown: pd.Series | None, stages: pd.DataFrame, pipelines: int, calls: int, slow_calls: int
) -> dict[str, object]:
    counts = {"pipelines": pipelines, "calls": calls, "slow_calls": slow_calls}
    if shown is None:
        return counts | dict.fromkeys(("host", "pipeline", "latency_ms", *_BOTTLENECK))
    of_call = {"host": shown["host"], "pipeline": int(shown["pipeline"]), "latency_ms": float(shown["total_ms"])}
    if pd.isna(shown["stage"]):
        return counts | of_call | dict.fromkeys(_BOTTLENECK)
    bottleneck = (shown["bottleneck"], shown["stage"], float(shown["bottleneck_ms"]), _suggestion(shown, stages))
    return counts | of_call | dict(zip(_BOTTLENECK, bottleneck, strict=True))


def _suggestion(shown: pd.Series, stages: pd.DataFrame) -> str:
    """Return what to change about the stage that delayed a call, given the program's stages after it."""
    place = str(shown["stage"])
    own = stages[(stages["call"] == shown["call"]) & ~stages["injected"]]
    after = {iterator_type(stage) for stage in own["stage"] if place.startswith(f"{stage}::")}
    kind, dataset = iterator_type(place), own.loc[own["stage"] == place, "dataset"].iloc[0]
    if kind == "MapAndBatch" and dataset:  # two stages of the program, which TensorFlow runs as one
        kind = "ParallelMap" if "ParallelMap" in dataset else "Map"
    return suggest(kind, after)
