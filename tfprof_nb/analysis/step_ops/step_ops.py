"""The ops of the typical steps, with the node that each ran, and the time that some of them cover."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Ints
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.events.links import EXECUTOR
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.events.nesting import nest
from tfprof_nb.analysis.events.op_labels import label_all_ops, on_device_timeline
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.formats.marks import SESSION_CALL
from tfprof_nb.formats.sidecar import SESSION_GRAPH_NAME
from tfprof_nb.formats.xspace import DISPATCH

T = TypeVar("T")

# Steps longer than so many times the median are no typical ones: something else delayed them.
_TYPICAL = 3.0
LOOP_ROLES = ("body", "cond")


class Share(NamedTuple):
    """Which part of the steps' time some ops take, 0 to 1.

    Attributes
    ----------
    alone
        No other op ran.
    covered
        At least one of them ran.
    of_ops
        As ``covered``, of the time in which any op ran: their part of the steps if all else, such as the time to start
        ops, is divided like the ops' time.
    """

    alone: float
    covered: float
    of_ops: float


@dataclass(frozen=True, eq=False)
class StepOps:
    """The ops of typical steps on one host, of its devices if these computed.

    Attributes
    ----------
    ops
        One row per event: ``step node op_name op_type start_ps end_ps``, ordered by start. Ops that enclose others are
        left out; ``node`` is -1 if it is unknown.
    graphs
        The functions that ran there.
    steps
        How many typical steps there are.
    steps_ms
        How long these took in total.
    computing_ms
        For how long in total ops, and TensorFlow between them, were active in the typical steps.
    on_device
        Whether the ops are those of devices.
    functions
        The functions that ran in these steps, as rows of `Graphs.functions`.
    executor_entries
        How often per step threads began to run ops: about once for each op or chain of ops.
    labels
        What files are called: cells of the notebook.
    """

    ops: pd.DataFrame
    graphs: Graphs
    steps: int
    steps_ms: float
    computing_ms: float
    on_device: bool
    functions: frozenset[int] = frozenset()
    executor_entries: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    _results: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, analysis: Callable[["StepOps"], T]) -> T:
        """Return the result of an analysis of these ops, which runs once."""
        if analysis not in self._results:
            self._results[analysis] = analysis(self)
        result: T = self._results[analysis]
        return result

    def place(self, frame: int) -> str:
        """Return a line of `Graphs.frames` as people read it, ``cell line 3``; empty for -1."""
        if frame < 0:
            return ""
        file, line = self.graphs.frames[["file", "line"]].iloc[frame]
        return place_of(self.labels.get(file, file), line)

    def code(self, frame: int) -> str:
        """Return the code of a line of `Graphs.frames`; empty for -1."""
        return str(self.graphs.frames["text"].iloc[frame]) if frame >= 0 else ""

    def frame_of(self, node: int) -> int:
        """Return the line of `Graphs.frames` that made a node; -1 if that is unknown."""
        return int(self.graphs.once(creating_frames)[node]) if node >= 0 else -1

    @cached_property
    def per_node(self) -> pd.DataFrame:
        """Time and count per node and step: ``op_ms count``, by node."""
        ops = self.ops[self.ops["node"] >= 0]
        by_node = (ops["end_ps"] - ops["start_ps"]).groupby(ops["node"])
        return pd.DataFrame({"op_ms": by_node.sum() / PS_PER_MS, "count": by_node.size()}) / max(self.steps, 1)

    def ran(self, nodes: Bools) -> Bools:
        """Return per op whether its node is among some, given by a flag per node."""
        ran: Bools = np.append(nodes, np.zeros(1, dtype=bool))[self.ops["node"].to_numpy(np.int64)]
        return ran

    def share(self, chosen: Bools) -> Share:
        """Return which part of the steps' time ops take, given by a flag per op."""
        whole = self._all_covered_ms
        others = self._covered_ms(~chosen) if chosen.any() else whole
        covered = self._covered_ms(chosen)
        steps_ms = max(self.steps_ms, 1e-9)
        return Share(min((whole - others) / steps_ms, 1.0), min(covered / steps_ms, 1.0), covered / max(whole, 1e-9))

    def percent(self, nodes: Bools) -> float:
        """Return in how many percent of the steps' time some nodes run, given by a flag per node."""
        return 100 * self.share(self.ran(nodes)).covered

    @cached_property
    def _all_covered_ms(self) -> float:
        return self._covered_ms(np.ones(len(self.ops), dtype=bool))

    def _covered_ms(self, chosen: Bools) -> float:
        start, end = (self.ops[name].to_numpy(np.int64)[chosen] for name in ("start_ps", "end_ps"))
        return float(newly_covered(start, end).sum() / PS_PER_MS)


def step_ops(
    forests: Sequence[Forest],
    graphs: Sequence[Graphs],
    steps_of_events: Sequence[Ints],
    steps: Steps,
    labels: Mapping[str, str],
) -> StepOps:
    """Return the ops of the first host that knows its functions; without such a host there are none."""
    for forest, own, step in zip(forests, graphs, steps_of_events, strict=True):
        if len(own.nodes) and len(steps.table):
            return forest.anew(_of_host, own, step, steps, labels)
    return no_step_ops()


def no_step_ops() -> StepOps:
    """Return the result for profiles without steps or without functions."""
    columns = ["step", "node", "op_name", "op_type", "start_ps", "end_ps"]
    return StepOps(pd.DataFrame(columns=columns), read_graphs(None), 0, 0.0, 0.0, on_device=False)


def _of_host(forest: Forest, graphs: Graphs, step: Ints, steps: Steps, labels: Mapping[str, str]) -> StepOps:
    measured = steps.recorded[steps.recorded["host"] == forest.host.name]
    typical = measured[measured["step_ms"] <= _TYPICAL * measured["step_ms"].median()]
    named, host = forest.once(label_all_ops), forest.host
    in_steps = np.isin(step, typical.index.to_numpy(np.int64))
    chosen = in_steps & (named.code >= 0)
    chosen &= ~forest.with_names(forest.names.category == Category.TF_DATA)
    on_device = bool((chosen & on_device_timeline(forest)).any())
    events = np.flatnonzero(chosen & (on_device_timeline(forest) if on_device else forest.on_host))
    enclosing = nest(host.line[events], host.start_ps[events], host.duration_ps[events]).parent
    leaf = np.ones(len(events), dtype=bool)
    leaf[enclosing[enclosing >= 0]] = False
    events = events[leaf]
    events = events[np.argsort(host.start_ps[events], kind="stable")]
    ops = pd.DataFrame(
        {
            "step": step[events].astype(np.int64),
            "node": forest.once(graph_nodes, graphs)[events],
            "op_name": named.op_name[named.code[events]],
            "op_type": named.op_type[named.code[events]],
            "start_ps": host.start_ps[events],
            "end_ps": forest.ends_ps(events),
        }
    )
    steps_ms, *computing_ms = typical[["step_ms", "host_compute_ms", "device_compute_ms"]].sum().tolist()
    entries = int((in_steps & forest.named(EXECUTOR)).sum()) / max(len(typical), 1)
    calls = np.flatnonzero(in_steps & forest.name_starts(DISPATCH))
    called = {str(host.names[code]) for code in np.unique(host.metadata[calls])}
    functions = _with_callees(graphs, called, in_sessions=bool((in_steps & forest.named(SESSION_CALL)).any()))
    computing = float(sum(computing_ms))
    return StepOps(ops, graphs, len(typical), steps_ms, computing, on_device, functions, entries, labels)


def _with_callees(graphs: Graphs, called: set[str], *, in_sessions: bool) -> frozenset[int]:
    """Return the functions whose calls are among some events, with all that these call, and the graphs of sessions."""
    names, calls = graphs.functions["name"].astype(str), graphs.calls
    found = {number for number, name in enumerate(names) if f"{DISPATCH}{name}" in called}
    found |= {number for number, name in enumerate(names) if in_sessions and name.startswith(SESSION_GRAPH_NAME)}
    callers = graphs.nodes["function"].to_numpy(np.int64)[calls["node"].to_numpy(np.int64)]
    while True:
        inner = set(calls.loc[np.isin(callers, list(found)), "function"].tolist()) - found - {-1}
        if not inner:
            return frozenset(found)
        found |= inner


def with_called(graphs: Graphs, own: Bools) -> Bools:
    """Flag nodes, given by a flag per node, and those of functions that no other nodes call."""
    calls, function = graphs.calls, graphs.nodes["function"].to_numpy(np.int64)
    caller = calls["node"].to_numpy(np.int64)
    flags = own
    while True:
        called = set(calls.loc[flags[caller], "function"]) - set(calls.loc[~flags[caller], "function"]) - {-1}
        more: Bools = flags | np.isin(function, list(called))
        if (more == flags).all():
            return flags
        flags = more
