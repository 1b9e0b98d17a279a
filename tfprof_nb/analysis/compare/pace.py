"""What a run got done in which time: how many examples, and the time from its first step to its last, gaps included."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.events.removals import removals
from tfprof_nb.analysis.step_ops.shapes import batch_size_of
from tfprof_nb.analysis.steps.activities import tracing_spans
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.marks import STEPS_PER_EXECUTION
from tfprof_nb.formats.xspace import DISPATCH

Numbers: TypeAlias = "pd.Series[float]"

UNITS = ["example", "batch", "step"]  # the first that both runs can count is used
_FETCHES = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
# A function is traced for a full batch and perhaps for a smaller last one; more often, it is traced again and again.
_USUAL_TRACINGS = 2
_BLOCKS, _MIN_PERIODS = 8, 4
_MAD_TO_STD = 1.4826  # of normally distributed values


@dataclass(frozen=True, eq=False)
class Pace:
    """How much a run did, and how long it took.

    The steps that count are those of training, or of another phase if none trained. Left out everywhere is the time in
    which functions were traced for the first time, and that in which TensorFlow removed iterators: to remove that of a
    finished pass takes nothing or half a second, by chance.

    Attributes
    ----------
    amounts
        How many of each of `UNITS` the steps that count processed, where that is known.
    steps_ms
        From the start of the first such step to the end of the last, with all that lies between. Of several hosts, the
        longest.
    before_ms, after_ms
        From the start of the capture to the first such step, and from the last one to the end.
    removing_ms
        How long TensorFlow removed iterators.
    cold
        Whether the first such step traced its function, so that the time before includes making the model.
    duration_ms
        The time of the whole capture, with all that is left out elsewhere.
    parts
        The time of all such steps by kind of work, as in a table of steps.
    batch
        Examples in a batch, where that is known.
    per_execution
        Batches that one execution of the program's function processes.
    epochs
        How many epochs the steps belong to; 1 if that is unknown.
    spread
        How much parts of the run differ in pace: a robust relative standard deviation; NaN if there are few steps.
    """

    amounts: dict[str, float]
    steps_ms: float
    before_ms: float
    after_ms: float
    cold: bool
    parts: Numbers
    duration_ms: float
    removing_ms: float = 0.0
    batch: int | None = None
    per_execution: int = 1
    epochs: int = 1
    spread: float = float("nan")
    host: str = field(default="", repr=False)

    @property
    def per_step(self) -> float:
        """How many examples a step processes; NaN where steps are not batches, or batches of no known size."""
        return self.batch * self.per_execution if self.batch and "step" in self.amounts else float("nan")


@dataclass(frozen=True, eq=False)
class Recorded:
    """What the pace of one host is computed from: times in ps, and the groups (`Grouping`) that events belong to."""

    tracings: tuple[Int64, Int64]
    removals: tuple[Int64, Int64]
    source: str
    per_execution: int
    fetch_start: Int64
    fetch_group: Int64
    calls: pd.DataFrame


def recorded_work(forest: Forest, grouping: Grouping) -> Recorded:
    """Return what one host recorded of what it got done."""
    fetches = np.flatnonzero(forest.named(*_FETCHES) & forest.on_host)
    events = np.flatnonzero(forest.name_starts(DISPATCH))
    calls = pd.DataFrame({"group": grouping.group[events], "metadata": forest.host.metadata[events]}).drop_duplicates()
    marks = grouping.spans["event"].to_numpy(np.int64)
    return Recorded(
        _first_tracings(forest),
        _removals(forest),
        grouping.source,
        max(int(forest.ints_at(STEPS_PER_EXECUTION, marks).max(initial=1)), 1),
        forest.host.start_ps[fetches],
        grouping.group[fetches].astype(np.int64),
        calls.assign(name=forest.host.names[calls["metadata"].to_numpy()])[["group", "name"]],
    )


def pace(
    forests: Sequence[Forest], graphs: Sequence[Graphs], groupings: Sequence[Grouping], steps: Steps, duration_ms: float
) -> Pace:
    """Return what a run got done, and in which time."""
    counted = dict(list(_counted(steps).groupby("host", sort=False)))
    none = steps.table.iloc[:0]
    recorded = [forest.once(recorded_work, grouping) for forest, grouping in zip(forests, groupings, strict=True)]
    hosts = [
        _of_host(found, own, partial(steps.of_groups, place), counted.get(forest.host.name, none), duration_ms)
        for place, (found, own, forest) in enumerate(zip(recorded, graphs, forests, strict=True))
    ]
    with_steps = [host for host in hosts if host.steps_ms]
    if not with_steps:
        left_out = max((_left_out(found, 0, duration_ms) for found in recorded), default=0.0)
        return Pace(
            {},
            0.0,
            0.0,
            max(duration_ms - left_out, 0.0),
            cold=False,
            parts=pd.Series(0.0, index=PARTS),
            duration_ms=duration_ms,
        )
    longest = max(with_steps, key=lambda host: host.steps_ms)
    known = [unit for unit in UNITS if all(unit in host.amounts for host in with_steps)]
    amounts = {unit: sum(host.amounts[unit] for host in with_steps) for unit in known}
    return Pace(**(vars(longest) | {"amounts": amounts}))


def _counted(steps: Steps) -> pd.DataFrame:
    """Return the steps of training, else all; warm-up steps count too, as they process examples.

    Of steps that were inferred from calls, any may be a part of training.
    """
    training = steps.table[steps.table["phase"] == "train"]
    return training if len(training) and steps.summary["source"] != "inferred" else steps.table


def _of_host(
    found: Recorded, graphs: Graphs, steps_of: Callable[[Int64], Int64], counted: pd.DataFrame, duration_ms: float
) -> Pace:
    parts: Numbers = counted[PARTS].sum()
    if counted.empty:
        return Pace({}, 0.0, 0.0, duration_ms, cold=False, parts=parts, duration_ms=duration_ms)
    counted = counted.sort_values("start_ms")
    begin, end = counted["start_ms"].min(), (counted["start_ms"] + counted["step_ms"]).max()
    traced_first = _union(found.tracings, begin, begin + counted["step_ms"].iloc[0])
    parts["compile_ms"] = max(parts["compile_ms"] - _union(found.tracings, begin, end), 0.0)
    per_execution = found.per_execution
    batches = _batches(found, steps_of, counted)
    batch = _batch(found, graphs, np.isin(steps_of(found.calls["group"].to_numpy(np.int64)), counted.index))
    return Pace(
        amounts=_amounts(batch, batches, len(counted) * per_execution, found.source),
        steps_ms=max(end - begin - _left_out(found, begin, end), 0.0),
        before_ms=max(begin - _left_out(found, 0, begin), 0.0),
        after_ms=max(duration_ms - end - _left_out(found, end, duration_ms), 0.0),
        cold=traced_first > 0,
        parts=parts,
        duration_ms=duration_ms,
        removing_ms=_union(found.removals, 0, duration_ms),
        batch=batch,
        per_execution=per_execution,
        epochs=max(counted["epoch"].nunique(), 1),
        spread=_spread(counted),
        host=str(counted["host"].iloc[0]),
    )


def _amounts(batch: int | None, batches: float | None, steps: int, source: str) -> dict[str, float]:
    """Return what the steps processed. Steps that were inferred from calls may be several to a batch."""
    amounts: dict[str, float] = {}
    marked = source not in ("inferred", "none")
    if batches is None and marked:
        batches = float(steps)
        amounts["step"] = batches
    elif batches is not None:
        amounts["batch"] = batches
        if marked:
            amounts["step"] = batches
    if batch and batches:
        amounts["example"] = batch * batches
    return amounts


def _batches(found: Recorded, steps_of: Callable[[Int64], Int64], counted: pd.DataFrame) -> float | None:
    """Count the batches that the steps took from their datasets; None if they took none."""
    if found.source == "inferred":
        starts = np.sort(found.fetch_start)
        ends = (counted["start_ms"] + counted["step_ms"]).to_numpy(np.float64) * PS_PER_MS
        used = np.unique(np.searchsorted(starts, ends))  # a fetch that no call follows met the end of the data
        return float((used > 0).sum()) or None
    taken = pd.Series(steps_of(found.fetch_group)).value_counts().reindex(counted.index, fill_value=0)
    return float(taken.clip(upper=found.per_execution).sum()) if found.per_execution > 1 and taken.any() else None


def _batch(found: Recorded, graphs: Graphs, in_steps: Bools) -> int | None:
    """Return the size of a batch of the functions that the steps call."""
    calls = sorted(set(found.calls["name"][in_steps].astype(str)))
    return batch_size_of(graphs, [call[len(DISPATCH) :] for call in calls])


def _left_out(found: Recorded, begin_ms: float, end_ms: float) -> float:
    """Return how much of the time between two moments does not count, in ms."""
    spans = (np.concatenate(pair) for pair in zip(found.tracings, found.removals, strict=True))
    return _union(spans, begin_ms, end_ms)


def _union(spans: Iterable[Int64], begin_ms: float, end_ms: float) -> float:
    start, end = (np.clip(times, round(begin_ms * PS_PER_MS), round(end_ms * PS_PER_MS)) for times in spans)
    order = np.argsort(start, kind="stable")
    return int(newly_covered(start[order], end[order]).sum()) / PS_PER_MS


def _first_tracings(forest: Forest) -> tuple[Int64, Int64]:
    """Return when functions were traced for the first time, or for a smaller last batch: starts and ends, in ps."""
    calls, start, end = tracing_spans(forest)
    name = forest.host.metadata[calls]
    count = forest.host.ints("tracing_count").at(calls, missing=1).astype(np.int64)
    most = pd.Series(count).groupby(name).transform("max").to_numpy(np.int64)
    first = (count <= 1) | (most <= _USUAL_TRACINGS)
    return start[first], end[first]


def _removals(forest: Forest) -> tuple[Int64, Int64]:
    """Return when TensorFlow took long to remove an object: starts and ends, in ps."""
    events = removals(forest)
    return forest.host.start_ps[events], forest.ends_ps(events)


def _spread(counted: pd.DataFrame) -> float:
    """Return how much parts of the run differ in pace; outliers, such as the first wait for data, do not count."""
    warm = ~counted["warm_up"].astype(bool)
    periods = (counted["start_ms"].shift(-1) - counted["start_ms"])[warm].dropna().to_numpy(np.float64)
    if len(periods) < _MIN_PERIODS:
        return float("nan")
    means = np.array([part.mean() for part in np.array_split(periods, min(_BLOCKS, len(periods)))])
    return robust_spread(means)


def robust_spread(values: Floats | Iterable[float]) -> float:
    """Return the relative standard deviation of positive values, from the median distance to their median.

    Examples
    --------
    >>> round(robust_spread([9, 10, 11, 10, 9, 11, 1000]), 3)
    0.141
    """
    logs = np.log(np.maximum(np.asarray(list(values), dtype=np.float64), 1e-12))
    return float(_MAD_TO_STD * np.median(np.abs(logs - np.median(logs))))
