"""Step times, and what each step spent its time on.

The classes, their priorities and the shown categories are XProf's (`event_span.h`, `xplane_to_step_events.cc`); host
events count in the steps of device profiles too, as they did in TensorFlow until 2023 and no longer do in XProf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.devices import device_cores, has_tpu
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import split_by_priority
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.activities import Activity, classify, is_of_old_tensorflow, tracing_spans
from tfprof_nb.analysis.steps.gaps import input_between_steps_ps
from tfprof_nb.analysis.steps.groups import Grouping

CATEGORIES: dict[str, tuple[Activity, ...]] = {
    "device_compute_ms": (Activity.DEVICE_COMPUTE_16, Activity.DEVICE_COMPUTE_32),
    "device_to_device_ms": (Activity.DEVICE_TO_DEVICE,),
    "device_collectives_ms": (Activity.DEVICE_COLLECTIVES,),
    "host_compute_ms": (Activity.HOST_COMPUTE,),
    "kernel_launch_ms": (Activity.KERNEL_LAUNCH,),
    "input_ms": (Activity.WAIT_INPUT, Activity.HOST_TO_DEVICE),
    "output_ms": (Activity.DEVICE_TO_HOST,),
    "compile_ms": (Activity.COMPILE,),
}
COLUMNS = ["start_ms", "step_ms", *CATEGORIES, "other_ms", "phase", "step_name", "epoch", "warm_up", "host"]
PHASES = ("train", "test", "predict")
SESSION_RUN = "session run"
# The first run of a TensorFlow 1 session starts devices and places the graph: it is set aside where it took more than
# so many times what the others took.
_STARTING_UP = 3


@dataclass(eq=False)
class Steps(Result):
    """Step times; ``table`` has one row per step, ``summary["source"]`` says where the steps come from."""

    _groups: list[Int64] = field(default_factory=list, repr=False)

    @cached_property
    def measured(self) -> pd.DataFrame:
        """The rows of ``table`` that averages are of; see `measured_steps`."""
        return measured_steps(self.table)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The percentage of the measured steps' time per category, ``other_ms`` included; NaN without steps."""
        names = [*CATEGORIES, "other_ms"]
        whole, *parts = self.measured[["step_ms", *names]].to_numpy().sum(axis=0).tolist()
        return {name: percent(part, whole) for name, part in zip(names, parts, strict=True)}

    def of_events(self, groupings: Sequence[Grouping]) -> list[Int64]:
        """Return for each host the step of every event, -1 where there is none."""
        numbers = np.split(
            self.table.index.to_numpy(np.int64), np.cumsum([len(groups) for groups in self._groups])[:-1]
        )
        return [
            _step_of_group(grouping, groups, number)[grouping.group]
            for grouping, groups, number in zip(groupings, self._groups, numbers, strict=True)
        ]


def steps(forests: Sequence[Forest], groupings: Sequence[Grouping]) -> Steps:
    """Measure every step and share out its time.

    Parameters
    ----------
    forests, groupings
        One per host: its events and their step groups.

    Returns
    -------
    Steps
        ``table`` is indexed by ``step``; from ``device_compute_ms`` on the ``_ms`` columns add up to ``step_ms``.
        ``summary`` describes the training steps after warm-up. Several hosts' steps follow one another, each host
        with its own numbers and clock; a host without accelerators among hosts that have them only coordinates, and
        its steps are left out.
    """
    devices = [device_cores([forest]) for forest in forests]
    parts = [
        _no_steps(why) if (why := _why_left_out(forest, cores, any(devices))) else _host_steps(forest, grouping)
        for forest, grouping, cores in zip(forests, groupings, devices, strict=True)
    ]
    table = _numbered(pd.concat([part.table for part in parts]) if parts else _empty())
    source = next((part.source for part in parts if len(part.table)), "none")
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    measured = measured_steps(table)
    if not (source == "none" and notes):  # of hosts without steps the notes say why already
        notes += _notes(table, measured, source)
    fetching_ps = sum(input_between_steps_ps(*pair) for pair in zip(forests, groupings, strict=True))
    summary = _summary(table, measured, source) | {"input_between_steps_ms": fetching_ps / PS_PER_MS}
    return Steps(table, summary, notes, [part.groups for part in parts])


def percent(part: float, whole: float) -> float:
    """Return a share in percent, NaN of nothing; rounded, so that sums of floats do reach a threshold that they are."""
    return round(float(100 * part / whole), 9) if whole > 0 else float("nan")


def measured_steps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the steps that averages are of: training steps after warm-up, or the best that there is."""
    warm = table[~table["warm_up"]] if not table["warm_up"].all() else table
    training = warm[warm["phase"] == "train"]
    return training if len(training) else warm


def slowest_host(table: pd.DataFrame) -> str:
    """Return the host whose measured steps take longest on average."""
    return str(measured_steps(table).groupby("host", sort=False)["step_ms"].mean().idxmax())


@dataclass(frozen=True)
class _HostSteps:
    table: pd.DataFrame
    groups: Int64
    source: str
    notes: list[str]


def _host_steps(forest: Forest, grouping: Grouping) -> _HostSteps:
    activity = classify(forest, grouping.group)
    spans = grouping.spans
    notes: list[str] = []
    if forest.on_device.any():
        spans, notes = _with_devices(forest, grouping, activity)
    if not len(spans):
        unfinished = grouping.source in ("marked", "keras") and not notes
        return _no_steps(*([_UNFINISHED] if unfinished else notes))
    notes += [_OLD_COPIES] if is_of_old_tensorflow(forest) else []
    table = _breakdown(forest, grouping, spans, activity)
    groups = spans["group"].to_numpy(np.int64)
    table = _described(table, forest, grouping, spans)
    table["warm_up"] |= _starts_a_session(table)
    return _HostSteps(table, groups, grouping.source, notes)


def _starts_a_session(table: pd.DataFrame) -> pd.Series[bool]:
    """Which runs of a session carry what the session does once; a single other run is nothing to judge by."""
    if not (runs := table["phase"] == SESSION_RUN).any():
        return runs
    times = table["step_ms"].where(runs)
    slow = times > _STARTING_UP * times.iloc[1:].dropna().median()  # of NaN alone it would warn
    return slow & (table.index == 0) & (len(table) > 2)


def _no_steps(*notes: str) -> _HostSteps:
    return _HostSteps(_empty(), np.zeros(0, dtype=np.int64), "none", list(notes))


def _why_left_out(forest: Forest, cores: int, others: bool) -> str:
    """Return why a host's steps are not measured, empty where they are."""
    if has_tpu([forest]):
        return _TPU
    return _COORDINATOR.format(forest.host.name) if others and not cores else ""


def _with_devices(
    forest: Forest, grouping: Grouping, activity: npt.NDArray[np.int16]
) -> tuple[pd.DataFrame, list[str]]:
    """Choose each step's span: the host's mark where it takes in the device's work, else the device's work.

    A step without device work is left out, as upstream does: it was cut by the capture's edge.
    """
    device = _device_spans(forest, grouping)
    device = device[device["group"].isin(_computing_groups(forest, grouping, activity))]
    both = device.merge(grouping.spans, on="group", how="left", suffixes=("", "_host"))
    marked = (both["start_ps_host"] <= both["start_ps"]) & (both["end_ps_host"] >= both["end_ps"])
    spans = pd.DataFrame(
        {
            "group": both["group"],
            "start_ps": both["start_ps"].mask(marked, both["start_ps_host"]).astype(np.int64),
            "end_ps": both["end_ps"].mask(marked, both["end_ps_host"]).astype(np.int64),
            "row": both["row"].fillna(-1).astype(np.int64),
        }
    )
    spans = spans[spans["end_ps"] > spans["start_ps"]].sort_values("start_ps", ignore_index=True)
    left_out = grouping.spans.loc[~grouping.spans["group"].isin(device["group"]), "row"].to_numpy(np.int64)
    lost = int((_int_of(forest, "step_num", left_out) >= 0).sum())
    return spans, [f"{lost} marked steps ran nothing on a device and were left out."] if lost else []


def _computing_groups(forest: Forest, grouping: Grouping, activity: npt.NDArray[np.int16]) -> Int64:
    """Groups that computed on a device; an instant at the very end of all that a group did is no computing."""
    group, end = grouping.group, forest.host.start_ps + forest.host.duration_ps
    rows = np.flatnonzero(activity >= Activity.DEVICE_COMPUTE_32)
    instant = forest.host.duration_ps[rows] == 0
    if not instant.any():
        return group[rows]
    doing = activity != Activity.NONE
    doing[grouping.spans["row"].to_numpy(np.int64)] = False
    last = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, group[doing], end[doing])
    computing: Int64 = group[rows[~instant | (end[rows] < last[group[rows]])]]
    return computing


def _device_spans(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """The longest stretch of work on a device per group."""
    runs = _saved_device_steps(forest, grouping)
    runs = runs if len(runs) else _device_runs(forest, grouping)
    length = (runs["end_ps"] - runs["start_ps"]).sort_values(ascending=False, kind="stable")
    return runs.loc[length.index].drop_duplicates("group").sort_values("start_ps", ignore_index=True)


def _saved_device_steps(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """What the file itself says: TensorFlow up to 2.10 stored each device's steps with the groups that they are of.

    Most of these versions ended such a step with the kernel that began last, though others may have run on.
    """
    host = forest.host
    lines = forest.line_is_derived & np.array([line.name == "Steps" for line in host.lines], dtype=bool)
    rows = np.flatnonzero(lines[host.line] & (grouping.group >= 0))
    start = host.start_ps[rows]
    return pd.DataFrame({"group": grouping.group[rows], "start_ps": start, "end_ps": start + host.duration_ps[rows]})


def _device_runs(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """From a group's first to its last kernel, per device without interruption by another group."""
    host, group = forest.host, grouping.group
    rows = np.flatnonzero(forest.on_device & (group >= 0))
    frame = pd.DataFrame(
        {
            "plane": np.array([line.plane for line in host.lines], dtype=np.int64)[host.line[rows]],
            "group": group[rows],
            "start_ps": host.start_ps[rows],
            "end_ps": host.start_ps[rows] + host.duration_ps[rows],
        }
    ).sort_values(["plane", "start_ps"], kind="stable")
    changed = (frame["group"] != frame["group"].shift()) | (frame["plane"] != frame["plane"].shift())
    return frame.groupby(changed.cumsum()).agg(
        group=("group", "first"), start_ps=("start_ps", "min"), end_ps=("end_ps", "max")
    )


def _breakdown(
    forest: Forest, grouping: Grouping, spans: pd.DataFrame, activity: npt.NDArray[np.int16]
) -> pd.DataFrame:
    """Share out the time of each span among the activities of its group's events."""
    host = forest.host
    group, start, end = (spans[name].to_numpy(np.int64) for name in ("group", "start_ps", "end_ps"))
    step = _step_of_group(grouping, group, np.arange(len(spans)))[grouping.group]
    marks = np.zeros(len(step), dtype=bool)
    marks[spans["row"][spans["row"] >= 0]] = True
    rows = np.flatnonzero((step >= 0) & (activity != Activity.NONE) & ~marks)
    calls, traced_from, traced_to = tracing_spans(forest)
    calls_step = step[calls]
    owner = np.concatenate([step[rows], calls_step[calls_step >= 0]])
    began = np.concatenate([host.start_ps[rows], traced_from[calls_step >= 0]])
    ended = np.concatenate([host.start_ps[rows] + host.duration_ps[rows], traced_to[calls_step >= 0]])
    priority = np.concatenate([activity[rows], np.full((calls_step >= 0).sum(), Activity.COMPILE, dtype=np.int16)])
    if is_of_old_tensorflow(forest):
        ended = _held_open(owner, began, ended, priority)
    began = np.maximum(began, start[owner]) - start[owner]
    ended = np.minimum(ended, end[owner]) - start[owner]
    shown = ended > began
    shares = split_by_priority(owner[shown], began[shown], ended[shown], priority[shown], len(spans))
    none = np.zeros(len(spans), dtype=np.int64)
    table = pd.DataFrame({"start_ms": start / PS_PER_MS, "step_ms": (end - start) / PS_PER_MS})
    rest = end - start
    for column, activities in CATEGORIES.items():
        time = sum((shares.get(int(kind), none) for kind in activities), none)
        table[column] = time / PS_PER_MS
        rest = rest - time
    table["other_ms"] = rest / PS_PER_MS
    table["warm_up"] = np.isin(np.arange(len(spans)), calls_step)
    return table


def _held_open(owner: Int64, began: Int64, ended: Int64, priority: npt.NDArray[np.int16]) -> Int64:
    """Let what has no length last until work of its class or a higher one starts, as TensorFlow up to 2.10 did.

    Their sweep took ends before starts, so that what began at its own end stayed open, where nothing of its class or
    a higher one was going on. CUPTI times some copies so, and allocations have no length at all.
    """
    stride = int(ended.max(initial=0)) + 1
    start, end = owner * stride + began, owner * stride + ended
    last = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, owner, end)
    held = end.copy()
    for level in np.unique(priority[start == end]):
        rivals = np.flatnonzero(priority >= level)
        rivals = rivals[np.argsort(start[rivals], kind="stable")]
        starts, reach = start[rivals], np.maximum.accumulate(end[rivals])
        instants = np.flatnonzero((priority == level) & (start == end))
        after = np.searchsorted(starts, start[instants], side="right")
        alone = reach[after - 1] == start[instants]  # its own end: nothing reaches further
        instants, after = instants[alone], after[alone]
        held[instants] = np.minimum(np.append(starts, end.max())[after], last[owner[instants]])
    return held - owner * stride


def _step_of_group(grouping: Grouping, groups: Int64, steps: Int64) -> Int64:
    """A lookup from group to step, -1 for groups that are none; its last entry serves events without a group."""
    lookup = np.full(int(grouping.group.max(initial=-1)) + 2, -1, dtype=np.int64)
    lookup[groups] = steps
    return lookup


def _described(table: pd.DataFrame, forest: Forest, grouping: Grouping, spans: pd.DataFrame) -> pd.DataFrame:
    """Add what the marks say of each step: its number, name, phase and epoch."""
    rows = spans["row"].to_numpy(np.int64)
    marked = rows >= 0
    names = np.full(len(spans), "step", dtype=object)
    names[marked] = forest.host.names[forest.host.metadata[rows[marked]]]
    graph_types = _text_of(forest, "graph_type", rows)
    numbers, epoch = _int_of(forest, "step_num", rows), _int_of(forest, "epoch", rows)
    phases = [_phase(str(graph_type or name)) for name, graph_type in zip(names, graph_types, strict=True)]
    if grouping.source in ("inferred", "device"):
        phases = _phases_by_gradients(forest, grouping, spans)
    return table.assign(
        number=numbers,
        phase=phases,
        step_name=[
            f"{name} {number}" if number >= 0 else str(name) for name, number in zip(names, numbers, strict=True)
        ],
        epoch=pd.arrays.IntegerArray(epoch, epoch < 0),
        host=forest.host.name,
    )


def _phase(mark: str) -> str:
    if mark == "Profiled batch":
        return "train"
    return next((phase for phase in PHASES if mark.lower().startswith(phase)), mark)


def _phases_by_gradients(forest: Forest, grouping: Grouping, spans: pd.DataFrame) -> list[str]:
    """Without marks, steps that ran gradients are training; if none did, nothing tells and all count as one phase."""
    gradients = forest.names_with("gradient")[forest.host.metadata]
    training = np.unique(grouping.group[gradients])
    trained = spans["group"].isin(training)
    return list(np.where(trained, "train", "test" if trained.any() else "step"))


def _int_of(forest: Forest, stat: str, rows: Int64) -> Int64:
    return forest.host.ints(stat).at(rows).astype(np.int64)


def _text_of(forest: Forest, stat: str, rows: Int64) -> list[str]:
    texts = forest.host.texts(stat)
    if texts.categories is None:
        return [""] * len(rows)
    # The last entry stands for rows without such a stat, whose code is -1.
    return list(np.append(texts.categories, "")[texts.at(rows).astype(np.int64)])


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Index by step: the marks' own numbers where they tell steps apart, else a running number."""
    numbers = table["number"]
    unique = (numbers >= 0).all() and not table.duplicated(["host", "number"]).any()
    index = numbers if unique else table.groupby("host").cumcount()
    return table.set_index(index.rename("step").astype(np.int64))[COLUMNS]


def _empty() -> pd.DataFrame:
    numbers = {name: pd.Series(dtype=np.float64) for name in COLUMNS if name.endswith("_ms")}
    texts = {name: pd.Series(dtype=object) for name in ("phase", "step_name", "host")}
    flags = {"warm_up": pd.Series(dtype=bool), "epoch": pd.Series(dtype="Int64"), "number": pd.Series(dtype=np.int64)}
    return pd.DataFrame(numbers | texts | flags)


def _summary(table: pd.DataFrame, measured: pd.DataFrame, source: str) -> dict[str, object]:
    times = measured["step_ms"]
    return {
        "steps": len(table),
        "steps_measured": len(measured),
        "step_ms_mean": times.mean(),
        "step_ms_std": times.std() if len(times) > 1 else 0.0,
        "step_ms_min": times.min(),
        "step_ms_max": times.max(),
        "source": source,
    } | {f"{name}_mean": measured[name].mean() for name in [*CATEGORIES, "other_ms"]}


_UNFINISHED = (
    "No step finished: steps are marked in this profile, but an error or the end of the data came before the first "
    "one's end."
)
_COORDINATOR = "{} is left out of the steps: it has no device while other hosts do, so it only coordinates."
_OLD_COPIES = (
    "Captured by TensorFlow 2.10 or older: copies on a device count as device compute, as in that version's own tools."
)
_TPU = (
    'Steps of programs on TPUs are not measured here: p.xprof("overview_page") shows them, where XProf is installed '
    "and the profile has any."
)
_SOURCE_NOTES = {
    "none": (
        "No steps were found: nothing in this profile marks them and no function was called repeatedly. Train with "
        "model.fit under %%tfprofile, or put `with tfprof_nb.step(i):` before what a step does."
    ),
    "inferred": (
        "Steps are inferred: nothing marked them, so each repeated call of a tf.function counts as one, with the wait "
        "for its data (or each pass of a loop, where no function repeats). Wrap each step in `with tfprof_nb.step(i):` "
        "to have them exactly."
    ),
    "keras": "Steps were recognised from Keras' TensorBoard callback, whose marks other tools do not see.",
    "device": "Steps come from the device's work: nothing on the host marked them.",
}


def _notes(table: pd.DataFrame, measured: pd.DataFrame, source: str) -> list[str]:
    notes = [_SOURCE_NOTES[source]] if source in _SOURCE_NOTES else []
    if (hosts := table["host"].nunique()) > 1:
        notes.append(f"Counts and averages are over the steps of {hosts} hosts, each on its own clock.")
    left_out = len(table) - len(measured)
    if left_out:
        kept = f"Averages are of {len(measured)} of {len(table)} steps"
        notes.append(f"{kept}: {_measured_in_words(table, str(measured['phase'].iloc[0]))}.")
    elif len(table) and table["warm_up"].all():
        notes.append(
            "Every step traced or compiled. If they were the program's first, run more of them to see what a step "
            "costs afterwards; if not, something in each call makes TensorFlow build the graph anew."
        )
    return notes


def _measured_in_words(table: pd.DataFrame, phase: str) -> str:
    warm = int(table["warm_up"].sum())
    if phase == SESSION_RUN:
        return "the first run, which also started the session, is left out"
    steps = "the steps" if phase == "step" else f"the {phase} steps"
    cure = "%%tfprofile --warmup leaves the first ones out of a capture"
    return f"{steps} that neither traced nor compiled ({warm} did; {cure})" if warm else steps
