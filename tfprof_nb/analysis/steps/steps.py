"""Step times, and what each step spent its time on.

Activities, priorities and categories are XProf's (`event_span.h`, `xplane_to_step_events.cc`). Host events count in the
steps of device profiles too, as they did in TensorFlow until 2023; in XProf they no longer do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Ints
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.devices import device_cores, has_tpu
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import Framework, drawn_by, framework, keras_backend
from tfprof_nb.analysis.events.recorded_ops import recorded_ops
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.steps.activities import classify, is_of_old_tensorflow
from tfprof_nb.analysis.steps.breakdown import PARTS, breakdown, input_between_steps_ps
from tfprof_nb.analysis.steps.drift import Drift, drift
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.marks import BATCH, LOOP_PASS, UNNAMED, described, loops_of
from tfprof_nb.analysis.steps.spans import spans_with_devices
from tfprof_nb.analysis.steps.tpu import tpu_breakdown
from tfprof_nb.analysis.steps.tpu_spans import common_steps, tpu_spans, whole_steps
from tfprof_nb.analysis.steps.unrecorded import estimated, fetched_in, recorded_note, slowdown, timed_steps
from tfprof_nb.formats.marks import SESSION_CALL, SESSION_RUN, WARM_UP_RUN

COLUMNS = ["start_ms", "step_ms", *PARTS, "phase", "step_name", "epoch", "warm_up", "host", "ops_recorded"]
# The first run of a TensorFlow 1 session starts devices and places the graph: it is excluded from averages if it took
# more than so many times as long as the others.
_STARTING_UP = 3


@dataclass(eq=False, kw_only=True)
class Steps(Result):
    """Step times; ``table`` has one row per step, ``summary["source"]`` says how the steps were detected."""

    # Per host: the group of each step.
    _groups: list[Int64] = field(repr=False)

    @cached_property
    def measured(self) -> pd.DataFrame:
        """The steps in the averages; see `measured_steps`."""
        return measured_steps(self.table)

    @cached_property
    def timed(self) -> pd.DataFrame:
        """The measured steps whose times count: those that no recording of ops slowed, if there are some."""
        return timed_steps(self.measured)

    @cached_property
    def recorded(self) -> pd.DataFrame:
        """The measured steps whose ops were recorded."""
        found = self.measured[self.measured["ops_recorded"].astype(bool)]
        return found if len(found) else self.measured

    @cached_property
    def slowdown(self) -> float:
        """How many times as long steps took while ops were recorded; NaN where all or too few steps tell."""
        return slowdown(self.measured)

    @cached_property
    def drift(self) -> Drift | None:
        """How steps of one host became slower while the program ran; None if they did not."""
        return drift(self.timed, self.recorded) if len(set(self.table["host"])) == 1 else None

    @cached_property
    def shares(self) -> dict[str, float]:
        """The percentage of the average step per category, with ``other_ms``; NaN without steps."""
        whole, *parts = host_means(self.measured)[["step_ms", *PARTS]].tolist()
        return {name: percent(part, whole) for name, part in zip(PARTS, parts, strict=True)}

    def of_groups(self, host: int, groups: Int64) -> Int64:
        """Return the step of each of some groups of a host, given by its place; -1 for none."""
        numbers, own = self._numbers[host], self._groups[host]
        lookup = np.full(max(int(groups.max(initial=-1)), int(own.max(initial=-1))) + 2, -1, dtype=np.int64)
        lookup[own] = numbers  # the last stays that of no group, -1
        return lookup[groups]

    @cached_property
    def _numbers(self) -> list[Int64]:
        return np.split(self.table.index.to_numpy(np.int64), np.cumsum([len(own) for own in self._groups])[:-1])

    def of_events(self, groupings: Sequence[Grouping]) -> list[Ints]:
        """Return for each host the step of every event, -1 for none."""
        return [
            grouping.steps_of_events(groups, number)
            for grouping, groups, number in zip(groupings, self._groups, self._numbers, strict=True)
        ]


def steps(forests: Sequence[Forest], groupings: Sequence[Grouping]) -> Steps:
    """Measure every step and divide its time among categories.

    Returns
    -------
    Steps
        ``table`` is indexed by ``step``; from ``device_compute_ms`` on the ``_ms`` columns add up to ``step_ms``.
        ``summary`` describes the training steps after warm-up. The steps of several hosts follow one another, each
        host's with their own numbers and clock. A host without accelerators among hosts with accelerators only
        coordinates: its steps are excluded.
    """
    devices = [device_cores([forest]) for forest in forests]
    parts = [
        _no_steps(why) if (why := _why_excluded(forest, cores, any(devices))) else forest.once(host_steps, grouping)
        for forest, grouping, cores in zip(forests, groupings, devices, strict=True)
    ]
    table = _numbered(pd.concat([part.table for part in parts]) if parts else _empty())
    source = next((part.source for part in parts if len(part.table)), "none")
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    loops = sorted(frozenset().union(*(part.loops for part in parts)))
    measured = measured_steps(table)
    if source != "none":
        # A TPU's own notes say where its steps are from.
        backend = next(filter(None, (forest.once(keras_backend) for forest in forests)), "")
        notes += _notes(table, measured, "" if has_tpu(forests) else source, loops, backend)
    elif not notes:  # else these say why there are no steps
        notes = [_why_none(forests)]
    fetching_ps = sum(
        forest.once(input_between_steps_ps, grouping) for forest, grouping in zip(forests, groupings, strict=True)
    )
    # Fetches are recorded where ops are.
    fetching_ms = fetching_ps / PS_PER_MS * len(table) / max(int(table["ops_recorded"].sum()), 1)
    summary = _summary(table, measured, source) | {"input_between_steps_ms": fetching_ms}
    return Steps(table, summary, notes, _groups=[part.groups for part in parts])


def percent(part: float, whole: float) -> float:
    """Return a share in percent, NaN of nothing; rounded, so that sums of floats reach a threshold that they equal."""
    return round(float(100 * part / whole), 9) if whole > 0 else float("nan")


def measured_steps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the steps in the averages: training steps after warm-up, else any after warm-up, else all."""
    return table[is_measured(table)]


def is_measured(table: pd.DataFrame) -> pd.Series[bool]:
    """Return per step whether it is in the averages; see `measured_steps`."""
    warm = ~table["warm_up"].astype(bool)
    warm = warm if warm.any() else ~warm
    training: pd.Series[bool] = warm & (table["phase"] == "train")
    return training if training.any() else warm


def host_means(measured: pd.DataFrame) -> pd.Series[float]:
    """Return the average step: each host counts the same, however many of its steps were captured."""
    return measured.groupby("host", sort=False)[["step_ms", *PARTS]].mean().mean()


def slowest_host(table: pd.DataFrame) -> str:
    """Return the host with the longest measured steps on average."""
    return str(measured_steps(table).groupby("host", sort=False)["step_ms"].mean().idxmax())


@dataclass(frozen=True)
class _HostSteps:
    """One host's steps, the group of each, how they were detected, notes, and the loops whose passes they are."""

    table: pd.DataFrame
    groups: Int64
    source: str
    notes: list[str]
    loops: frozenset[str] = frozenset()


def _tpu_steps(forest: Forest, grouping: Grouping) -> _HostSteps:
    spans, module = tpu_spans(forest)
    spans = common_steps(spans)
    if spans.empty:
        return _no_steps(_TPU)
    numbers = whole_steps(spans)["group"]
    table = tpu_breakdown(forest, spans).assign(
        number=numbers,
        phase="step",
        step_name=[f"step {number}" for number in numbers],
        epoch=pd.arrays.IntegerArray(np.zeros(len(numbers), np.int64), np.ones(len(numbers), bool)),
        host=forest.host.name,
        ops_recorded=True,
    )
    notes = [_TPU_INFERRED.format(re.sub(r"\(\d+\)$", "", module)) if module else _TPU_RECORDED]
    return _HostSteps(table, grouping.spans["group"].to_numpy(np.int64), grouping.source, notes)


def host_steps(forest: Forest, grouping: Grouping) -> _HostSteps:
    """Measure the steps of one host."""
    if has_tpu([forest]):
        return _tpu_steps(forest, grouping)
    activity = classify(forest, grouping.group)
    spans = grouping.spans
    notes: list[str] = []
    if forest.on_device.any():
        spans, notes = spans_with_devices(forest, grouping, activity)
    if not len(spans):
        unfinished = grouping.source in ("marked", "keras") and not notes
        return _no_steps(*([_UNFINISHED] if unfinished else notes))
    notes += [_OLD_COPIES] if is_of_old_tensorflow(forest) else []
    table = described(breakdown(forest, grouping, spans, activity), forest, grouping, spans)
    table["warm_up"] |= _starts_session(table) | np.isin(spans["event"], forest.host.ints(WARM_UP_RUN).rows)
    start, end = (spans[name].to_numpy(np.int64) for name in ("start_ps", "end_ps"))
    table = table.assign(ops_recorded=forest.once(recorded_ops).hold(start, end))
    if not table["ops_recorded"].all():
        table = estimated(table, fetched_in(forest, start, end))
    groups = spans["group"].to_numpy(np.int64)
    return _HostSteps(table, groups, grouping.source, notes, loops_of(forest, grouping))


def _starts_session(table: pd.DataFrame) -> pd.Series[bool]:
    """Return per step whether it is a session's first run and includes its start; that takes two other runs to tell."""
    if not (runs := table["phase"] == SESSION_RUN).any():
        return runs
    times = table["step_ms"].where(runs)
    slow = times > _STARTING_UP * times.iloc[1:].dropna().median()  # of NaN alone it would warn
    return slow & (table.index == 0) & (len(table) > 2)


def _no_steps(*notes: str) -> _HostSteps:
    return _HostSteps(_empty(), np.zeros(0, dtype=np.int64), "none", list(notes))


def _why_excluded(forest: Forest, cores: int, any_devices: bool) -> str:
    """Say why a host's steps are not measured; empty if they are."""
    return _COORDINATOR.format(forest.host.name) if any_devices and not cores else ""


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Index by step: the marks' own numbers if they are unique, else a running number."""
    numbers = table["number"]
    unique = (numbers >= 0).all() and not table.duplicated(["host", "number"]).any()
    index = numbers if unique else table.groupby("host").cumcount()
    return table.set_index(index.rename("step").astype(np.int64))[COLUMNS]


def _empty() -> pd.DataFrame:
    times = dict.fromkeys((name for name in COLUMNS if name.endswith("_ms")), np.float64)
    texts = dict.fromkeys(("phase", "step_name", "host"), object)
    return empty_table({**times, **texts, "warm_up": bool, "ops_recorded": bool, "epoch": "Int64", "number": np.int64})


def _summary(table: pd.DataFrame, measured: pd.DataFrame, source: str) -> dict[str, object]:
    timed = timed_steps(measured)
    times, means = timed["step_ms"], host_means(timed)
    return {
        "steps": len(table),
        "steps_measured": len(measured),
        "step_ms_mean": means["step_ms"],
        "step_ms_std": _deviation(timed, means["step_ms"]),
        "step_ms_min": times.min(),
        "step_ms_max": times.max(),
        "source": source,
    } | {f"{name}_mean": means[name] for name in PARTS}


def _deviation(measured: pd.DataFrame, mean: float) -> float:
    """Return the standard deviation of the step time, in which each host counts the same."""
    if len(measured) < 2:
        return 0.0
    weight = 1 / measured.groupby("host")["step_ms"].transform("size") / measured["host"].nunique()
    return float(np.sqrt((weight * (measured["step_ms"] - mean) ** 2).sum() / (1 - (weight**2).sum())))


_UNFINISHED = "No step finished: steps began, but an error or the end of the data came before the first one ended."
_COORDINATOR = "{} is excluded from the steps: it has no device while other hosts do, so it only coordinates."
_OLD_COPIES = (
    "Captured by TensorFlow 2.10 or older: copies on a device count as device compute, as in that version's own tools."
)
_TPU = (
    "No steps: the TPU's cores recorded no instructions, or neither steps nor a module that ran repeatedly. Put "
    "`with jax.profiler.StepTraceAnnotation('train', step_num=i):` around the code of a step."
)
_TPU_RECORDED = "Steps are those that the TPU's cores recorded. Time in which no instruction ran is `other`."
_TPU_INFERRED = (
    "Steps are inferred: the file records none, so each run of the module {} on the TPU begins a step. Time in which "
    "no instruction ran is `other`."
)
_LEVEL_0 = (
    "No steps: this profile was recorded with host_level=0, without the host's steps and ops. Record it with "
    "host_level=2, the default."
)
_DRAWN = {
    "Horovod": (
        "This is a timeline of Horovod: for each tensor, when its collective operation waited for other workers, and "
        "when it ran (page Trace). It has neither steps nor ops of TensorFlow: for these, profile the program itself."
    ),
    "tfprof": (
        "This is a timeline that tfprof drew of its scopes: their total times, one inside the other (page Trace). It "
        "does not say when anything ran: for this, load the RunMetadata of the runs."
    ),
}
_NO_STEPS: dict[Framework, str] = {
    "tensorflow": (
        "No steps: this profile has no step markers, and no tf.function was called repeatedly. Train with model.fit "
        "under %%tfprofile, or put `with tfprof_nb.step(i):` around the code of a step."
    ),
    "jax": (
        "No steps: this profile has no step markers. Put `with jax.profiler.StepTraceAnnotation('train', "
        "step_num=i):` around the code of a step."
    ),
    "pytorch": ("No steps: this trace has no step markers. Call `step()` of torch.profiler.profile after each batch."),
}
_REPEATED_CALL = "each repeated call of a tf.function, with the wait for its data,"
_INFERRED = {UNNAMED: "each pass of a loop inside TensorFlow", BATCH: "each batch taken from a dataset"}
_RUNS = ("SessionRun", SESSION_CALL)
_RUNS_OF_SESSIONS = (
    "Steps are inferred, as there are no step markers: each run of a session counts as a step. Where a step has "
    "several runs, wrap it in `with tfprof_nb.step(i):` to measure it as a whole."
)
ELSEWHERE = (
    "Keras runs on {} here, whose ops TensorFlow's profiler does not record. The profile has the steps, callbacks, "
    "lines of Python, tf.data and memory of this program, and no ops, kernels or layers."
)
_SOURCE_NOTES = {
    "inferred": (
        "Steps are inferred, as there are no step markers: {} counts as a step. Wrap each step in "
        "`with tfprof_nb.step(i):` to measure them exactly."
    ),
    "keras": "Steps are those of Keras' TensorBoard callback, which other tools ignore.",
    "device": "Steps are taken from the work of the device, as the host has no step markers.",
}


def _why_none(forests: Sequence[Forest]) -> str:
    """Say what to do about a profile without steps."""
    if any(forest.host.host_level == 0 for forest in forests):
        return _LEVEL_0
    if tool := drawn_by(forests):
        return _DRAWN[tool]
    return _NO_STEPS[forests[0].once(framework) if forests else "tensorflow"]


def _notes(table: pd.DataFrame, measured: pd.DataFrame, source: str, loops: Sequence[str], backend: str) -> list[str]:
    by_session = source == "inferred" and bool(table["step_name"].astype(str).str.startswith(_RUNS).all())
    told = _RUNS_OF_SESSIONS if by_session else _SOURCE_NOTES.get(source, "").format(_inferred_from(table, loops))
    notes = [told] if told else []
    if backend:
        notes.append(ELSEWHERE.format(backend))
    elif not table["ops_recorded"].all():
        notes.append(recorded_note(table, measured))
    if (hosts := table["host"].nunique()) > 1:
        notes.append(
            f"Steps of {hosts} hosts, each on its own clock. In averages each host counts the same, however many steps "
            "were captured on it."
        )
    if len(measured) < len(table):
        included = _inclusion(table, str(measured["phase"].iloc[0]))
        notes.append(f"Averages are over {len(measured)} of {len(table)} steps: {included}.")
    elif len(table) and table["warm_up"].all() and table["phase"].iloc[0] == SESSION_RUN:
        notes.append(
            "Only the session's first run was recorded: it takes longer than others, as it starts the session."
        )
    elif len(table) and table["warm_up"].all():
        notes.append(
            "Every step traced or compiled. If these were the program's first steps, capture more of them to see the "
            "time of later ones; if not, something in each call makes TensorFlow build the graph again."
        )
    return notes


def _inferred_from(table: pd.DataFrame, loops: Sequence[str]) -> str:
    """Say what counts as a step where nothing marks any."""
    told = _INFERRED | {LOOP_PASS: f"each pass of the loop at {loops[0]}" if len(loops) == 1 else "each pass of a loop"}
    said = [told.get(name, _REPEATED_CALL) for name in sorted(set(table["step_name"]))]
    return " or ".join(dict.fromkeys(said))


def _inclusion(table: pd.DataFrame, phase: str) -> str:
    """Say which steps are in the averages."""
    warm_up = int(table["warm_up"].sum())
    if phase == SESSION_RUN:
        return "the first run, which also started the session, is excluded"
    steps = "the steps" if phase == "step" else f"the {phase} steps"
    if not warm_up:
        return steps
    return f"{steps} that neither traced nor compiled ({warm_up} did; %%tfprofile --warmup excludes the first steps)"
