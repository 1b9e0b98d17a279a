"""What the files of one run tell: every result, computed on first use and kept."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import pandas as pd

from tfprof_nb._errors import CaptureError
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.advice.advice import Advice, advice
from tfprof_nb.analysis.advice.findings import Evidence
from tfprof_nb.analysis.events.devices import device_type
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.table import events
from tfprof_nb.analysis.functions.functions import Functions, functions
from tfprof_nb.analysis.graph.graph import Graph
from tfprof_nb.analysis.graph.of_run import graph_of_run
from tfprof_nb.analysis.input_pipeline import InputPipeline, input_pipeline
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.memory.memory import Memory, memory
from tfprof_nb.analysis.memory.process_memory import PROCESS
from tfprof_nb.analysis.metrics import sampled
from tfprof_nb.analysis.ops.ops import Ops, ops
from tfprof_nb.analysis.overview import Overview, overview
from tfprof_nb.analysis.pods import Pods, pods
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.source import SourceLines, source
from tfprof_nb.analysis.steps.capture_notes import capture_notes
from tfprof_nb.analysis.steps.groups import Grouping, group_events
from tfprof_nb.analysis.steps.steps import Steps, steps
from tfprof_nb.analysis.tf_data.tf_data import TfData, tf_data
from tfprof_nb.analysis.trace.counters import Counter, memory_counters, metric_counters
from tfprof_nb.analysis.trace.totals import line_of
from tfprof_nb.analysis.trace.trace import Trace, trace
from tfprof_nb.decode import load_run
from tfprof_nb.decode.sections.cell import Cell, read_cell, read_labels
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.runs import Run
from tfprof_nb.views import dashboard

R = TypeVar("R", bound=Result)


class Results:
    """The results of one run, each computed when it is first asked for; see `Profile`, which people hold."""

    def __init__(self, run: Run | None = None, name: str | None = None) -> None:
        self._run = run
        self._name = name
        self._failure = "This profile is still being captured, or its capture failed: use it after its block ended."

    def _attach(self, run: Run) -> None:
        """Give a profile that was made before its capture the files that the capture wrote."""
        self._run = run

    def _fail(self, why: str) -> None:
        """Let the use of a profile whose capture failed say why."""
        self._failure = why

    @property
    def _files(self) -> Run:
        if self._run is None:
            raise CaptureError(self._failure)
        return self._run

    @property
    def name(self) -> str:
        """What the profile is called in titles."""
        return self._name or self._files.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it was read from, one per host."""
        return self._files.files

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts' names: the files' names without their ending."""
        return self._files.hosts

    @property
    def device_type(self) -> str:
        """``CPU``, or the kind of accelerator."""
        return device_type(self._forests)

    @property
    def duration_ms(self) -> float:
        """Time from the start of the capture to the end of its last event."""
        return max((forest.end_ps for forest in self._forests), default=0) / PS_PER_MS

    @cached_property
    def _forests(self) -> list[Forest]:
        return [Forest(host) for host in load_run(self._files)]

    @cached_property
    def _sidecars(self) -> list[Sidecar]:
        """What the capture wrote beside the profile of each host."""
        if self._files.parts:  # what was sampled beside single runs has no place on their common timeline
            return [Sidecar()]
        return [read_sidecar(file) for file in self.files]

    @cached_property
    def _groupings(self) -> list[Grouping]:
        return [group_events(forest) for forest in self._forests]

    @cached_property
    def steps(self) -> Steps:
        """Step times and what each step spent its time on."""
        found = steps(self._forests, self._groupings)
        found.notes += capture_notes(self._forests, len(found.table))
        return self._shown("steps", found)

    @cached_property
    def ops(self) -> Ops:
        """Time by op, on hosts and devices."""
        return self._shown("ops", ops(self._forests, self._graphs))

    @cached_property
    def overview(self) -> Overview:
        """Verdict, headline numbers and the ops that take most."""
        found = overview(self._forests, self.steps, self.ops)
        found.notes += self._sidecar_notes
        found.notes += dict.fromkeys(note for forest in self._forests for note in forest.host.notes)
        return self._shown("overview", found)

    @cached_property
    def input_pipeline(self) -> InputPipeline:
        """How far steps wait for data, and what getting the data is made of."""
        return self._shown("input_pipeline", input_pipeline(self.steps, self.ops))

    @cached_property
    def tf_data(self) -> TfData:
        """The pipelines of tf.data, and the stage that holds them up."""
        waiting = [self.overview.summary[name] for name in ("input_percent", "input_between_steps_percent")]
        return self._shown("tf_data", tf_data(self._forests, sum(waiting)))

    @cached_property
    def kernels(self) -> Kernels:
        """GPU kernels, by op and launch shape."""
        return self._shown("kernels", kernels(self._forests))

    @cached_property
    def memory(self) -> Memory:
        """Each allocator's memory over time, and what was alive at its peak."""
        steps_of_events = self.steps.of_events(self._groupings)
        return self._shown("memory", memory(self._forests, steps_of_events, self._process_memory))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """What ``metrics=True`` sampled beside the capture: ``time_ms host metric value unit``."""
        return self._sampled(Section.METRICS)

    @cached_property
    def _process_memory(self) -> pd.DataFrame:
        return self._sampled(Section.PROCESS_MEMORY)

    def _sampled(self, section: str) -> pd.DataFrame:
        return sampled([forest.host for forest in self._forests], self._sidecars, section)

    @cached_property
    def _graphs(self) -> list[Graphs]:
        """The functions that ran on each host, as far as the capture described them."""
        return [sidecar.read(Section.GRAPHS, read_graphs) for sidecar in self._sidecars]

    @cached_property
    def _cells(self) -> list[Cell]:
        return [sidecar.read(Section.CELL, read_cell) for sidecar in self._sidecars]

    @cached_property
    def _labels(self) -> list[dict[str, str]]:
        return [sidecar.read(Section.CELLS, read_labels) for sidecar in self._sidecars]

    @property
    def _sidecar_notes(self) -> list[str]:
        """What the captures noted, and what of it cannot be read: for that, all is read."""
        _ = self._graphs, self._cells, self._labels, self.metrics, self._process_memory
        return [note for sidecar in self._sidecars for note in sidecar.notes]

    @cached_property
    def graph(self) -> Graph:
        """The graph that ran, as tfprof's four views: by name scope, data flow, op type and code."""
        found = graph_of_run(self.files, self._forests, self._graphs, self.steps.of_events(self._groupings))
        found.show_part = partial(dashboard.part, self)
        return self._shown("graph", found)

    @cached_property
    def functions(self) -> Functions:
        """Calls of tf.functions, and how many of them had to trace."""
        return self._shown("functions", functions(self._forests, self._graphs))

    @cached_property
    def source(self) -> SourceLines:
        """Time by line of code and by Keras layer."""
        return self._shown("source", source(self._forests, self._graphs, self._cells, self._labels))

    @cached_property
    def pods(self) -> Pods:
        """The hosts side by side, step by step."""
        return self._shown("pods", pods(self._forests, self.steps))

    @cached_property
    def advice(self) -> Advice:
        """What to change, the gravest first."""
        evidence = Evidence(self.overview, self.steps, self.ops, self.functions, self.tf_data, self._made_at)
        return self._shown("advice", advice(evidence))

    @cached_property
    def trace(self) -> Trace:
        """Every event on its row of time."""
        return self._shown("trace", trace(self._forests, self._groupings, self.steps, self._counters, self._line_of))

    def _line_of(self, event: str) -> str:
        """The line of code that an event of the trace comes from; empty where that is not known."""
        return line_of(self.source, event) if self._has_lines else ""

    def _made_at(self, function: str) -> str:
        """Where the slowest function of such a name was given to tf.data; empty where that is not known."""
        return self.source.slowest_function(function) if self._has_lines else ""

    @property
    def _has_lines(self) -> bool:
        return any(sidecar.sections for sidecar in self._sidecars)

    def _counters(self) -> list[Counter]:
        """What the trace draws as lines above the events."""
        sampled_too = () if self.metrics.empty else (PROCESS,)
        return [*memory_counters(self.memory, without=sampled_too), *metric_counters(self.metrics)]

    @cached_property
    def events(self) -> pd.DataFrame:
        """Every complete event: ``host plane line name start_ps duration_ps``, times from the start of the capture."""
        return events(self._forests)

    def _shown(self, feature: str, result: R) -> R:
        """Let a result show itself: results know nothing of views."""
        result.show = partial(dashboard.feature, self, feature)
        return result
