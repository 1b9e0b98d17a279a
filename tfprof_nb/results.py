"""The results of one run: each is computed on first use, and kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, Self, TypeVar
from weakref import WeakSet

import pandas as pd

from tfprof_nb._errors import CaptureError, ProfileNotFoundError
from tfprof_nb.analysis.advice.advice import Advice, advice
from tfprof_nb.analysis.advice.catalogue import known
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.answer import Answer, answer
from tfprof_nb.analysis.breakdown.breakdown import Breakdown, breakdown
from tfprof_nb.analysis.compare.measured import Measured
from tfprof_nb.analysis.compare.pace import Pace, pace
from tfprof_nb.analysis.compare.work import work
from tfprof_nb.analysis.events.compilations import compilations
from tfprof_nb.analysis.events.forest import events
from tfprof_nb.analysis.events.removals import sleeps
from tfprof_nb.analysis.flame import Flame, flame
from tfprof_nb.analysis.functions.functions import Functions, functions
from tfprof_nb.analysis.graph.from_events import from_events
from tfprof_nb.analysis.graph.from_session import from_session
from tfprof_nb.analysis.graph.graph import Graph, graph
from tfprof_nb.analysis.input_pipeline import InputPipeline, input_pipeline
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.layers import Layers, layers
from tfprof_nb.analysis.memory.memory import Memory, memory
from tfprof_nb.analysis.memory.process_memory import PROCESS, process_peak
from tfprof_nb.analysis.ops.ops import Ops, ops
from tfprof_nb.analysis.overview import Overview, idle_devices, overview, steady_ms
from tfprof_nb.analysis.pods import Pods, pods
from tfprof_nb.analysis.python import Python, python
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.source import SourceLines, source
from tfprof_nb.analysis.step_ops.step_ops import StepOps, step_ops
from tfprof_nb.analysis.steps.capture_notes import capture_notes, stopped_notes
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import Steps, steps
from tfprof_nb.analysis.tf_data.tf_data import TfData, tf_data
from tfprof_nb.analysis.trace.counters import Counter, memory_counters, metric_counters, recorded_counters
from tfprof_nb.analysis.trace.event_names import line_of
from tfprof_nb.analysis.trace.python_samples import sampled_python
from tfprof_nb.analysis.trace.trace import Trace, trace
from tfprof_nb.decode.redaction import redacted, without_paths
from tfprof_nb.decode.run_metadata import read_session
from tfprof_nb.decode.sections.machine import read_other_load, read_tensorflow
from tfprof_nb.export.tfprof_output import write_view
from tfprof_nb.formats.project import ignored_rules
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.measurement import datasets, measurement
from tfprof_nb.pending_run import PendingRun
from tfprof_nb.run_data import RunData
from tfprof_nb.runs import Run
from tfprof_nb.views import dashboard

R = TypeVar("R", bound=Result)


def _kept(of: type[R], name: str = "") -> Callable[[Callable[[Results], R]], cached_property[R]]:
    """Make a property of a method that computes a result: computed once, and kept for when the run is opened again."""

    def decorated(compute: Callable[[Results], R]) -> cached_property[R]:
        kept_as = name or compute.__name__

        @wraps(compute)
        def result(self: Results) -> R:
            cache = self.data.cache
            if found := cache.get(kept_as, of):
                return self._page(kept_as, found)
            return cache.put(kept_as, compute(self))

        return cached_property(result)

    return decorated


_living: WeakSet[Results] = WeakSet()


def run_folders_in_use() -> set[Path]:
    """Return the folders of all profiles of this process, which read their files when a result is first used."""
    folders = set()
    for profile in list(_living):
        with suppress(CaptureError):  # it is still being captured
            folders.add(run_folder(profile))
    return folders


def run_folder(profile: Results) -> Path:
    """Return the folder of a profile's files."""
    return profile._run.path  # noqa: SLF001


class Results:
    """What the files of a run's hosts tell."""

    def __init__(
        self,
        run: Run | PendingRun,
        name: str | None = None,
        *,
        redact: bool = False,
        cache: bool = True,
        client: Any = None,
        ignore: Iterable[str] = (),
    ) -> None:
        self._source = run
        self._name = name
        self._redact, self._cache, self._client = redact, cache, client
        by_project, file = ignored_rules()
        self._ignored = known(ignore) | known(by_project, str(file))
        _living.add(self)

    @property
    def _run(self) -> Run:
        return self._source.get() if isinstance(self._source, PendingRun) else self._source

    @cached_property
    def data(self) -> RunData:
        """The decoded files, from which the results are computed."""
        return RunData(self._run, redact=self._redact, cached=self._cache, client=self._client)

    @property
    def name(self) -> str:
        """What the profile is called in titles."""
        return self._name or self._run.name

    @property
    def origin(self) -> str:
        """Which of several runs was taken, where a logdir with several was opened; else empty."""
        count = self._run.newest_of
        return f"the newest of {count} runs" if count > 1 else ""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it was read from, one per host: copies, where they are at a URL."""
        _ = self.data.extent  # which fetches them
        return self.data.run.files

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts' names: the files' names without their ending."""
        return self.data.run.hosts

    def host(self, name: str) -> Self:
        """Return the profile of one host.

        Raises
        ------
        ProfileNotFoundError
            If the run has no host of that name.
        """
        if name not in self.hosts:
            raise ProfileNotFoundError(f"There is no host {name!r} in this profile: it has {', '.join(self.hosts)}.")
        return type(self)(self.data.run.only(name), f"{self.name} · {name}", redact=self._redact, cache=self._cache)

    @property
    def device_type(self) -> str:
        """``CPU``, or the kind of accelerator."""
        return self.data.extent.device_type

    @property
    def duration_ms(self) -> float:
        """Time from the start of the capture to the end of its last event; without events, the time recorded."""
        return self.data.extent.duration_ms

    @property
    def event_count(self) -> int:
        """How many events were recorded."""
        return self.data.extent.events

    @cached_property
    def events(self) -> pd.DataFrame:
        """Every complete event: ``host plane line name start_ps duration_ps``, times from the start of the capture."""
        return events(self.data.forests)

    @property
    def metrics(self) -> pd.DataFrame:
        """What ``metrics=True`` sampled beside the capture: ``time_ms host metric value unit``."""
        return self.data.metrics

    @_kept(Steps)
    def steps(self) -> Steps:
        """Step times and what each step spent its time on."""
        result = steps(self.data.forests, self.data.groupings)
        recorded = int(result.table["ops_recorded"].sum())
        result.notes += capture_notes(self.data.forests, recorded, stopped=bool(self.data.stopped))
        return self._page("steps", result)

    @_kept(Ops)
    def ops(self) -> Ops:
        """Time by op, on hosts and devices."""
        found = ops(self.data.forests, self.data.graphs, self.data.groupings)
        return self._page("ops", self._in_part(found, _ESTIMATED))

    @_kept(Overview)
    def overview(self) -> Overview:
        """Verdict, headline numbers and the ops that take most."""
        sampled = any(len(stacks.time_ns) for stacks in self.data.stacks)
        result = overview(
            self.data.forests,
            self.steps,
            self.ops,
            python_sampled=sampled,
            own_cores=self.data.own_cores,
            examples_per_step=self._pace.per_step,
            process_peak_bytes=process_peak(self.data.process_memory),
        )
        marked = self.steps.summary["source"] == "marked"
        result.notes += stopped_notes(self.data.stopped, len(self.steps.table), marked=marked)
        result.notes += self.data.notes
        return self._page("overview", result)

    @_kept(Breakdown)
    def breakdown(self) -> Breakdown:
        """Where the cell's wall time went: a tree of parts that have names, and add up."""
        data = self.data
        if len(self.hosts) > 1:
            return self._page("breakdown", _noted(self._one_host.breakdown, self._only("breakdown", self._one_host)))
        result = breakdown(
            data.forests[0],
            self.steps,
            data.graphs[0],
            data.cells[0],
            data.stacks[0],
            data.names_of_files,
            Code(data.texts),
        )
        return self._page("breakdown", result)

    @_kept(InputPipeline)
    def input_pipeline(self) -> InputPipeline:
        """How far steps wait for data, and what getting the data is made of."""
        return self._page("input_pipeline", input_pipeline(self.steps, self.ops, self.overview))

    @_kept(TfData)
    def tf_data(self) -> TfData:
        """The pipelines of tf.data, and the stage that delays them."""
        return self._page(
            "tf_data", self._in_part(tf_data(self.data.forests, self.overview.summary["waiting_percent"]))
        )

    @_kept(Kernels)
    def kernels(self) -> Kernels:
        """GPU kernels, by op and launch shape."""
        return self._page("kernels", kernels(self.data.forests))

    @_kept(Memory)
    def memory(self) -> Memory:
        """Each allocator's memory over time, and what was alive at its peak."""
        result = memory(self.data.forests, self._steps_of_events, self.data.process_memory)
        return self._page("memory", self._in_part(result))

    @_kept(Functions)
    def functions(self) -> Functions:
        """Calls of tf.functions, and how many of them had to trace."""
        return self._page("functions", functions(self.data.forests, self.data.graphs))

    @_kept(SourceLines)
    def source(self) -> SourceLines:
        """Time by line of code and by Keras layer."""
        data = self.data
        if data.reduced:
            return self._page("source", _noted(self._one_host.source, self._only("source", self._one_host)))
        earlier_runs = Code(data.texts).earlier_runs
        lines = source(data.forests, data.graphs, data.cells, data.labels, data.groupings, earlier_runs)
        return self._page("source", self._in_part(lines, _ESTIMATED))

    @_kept(Python)
    def python(self) -> Python:
        """Python by line, sampled, and time in Keras callbacks."""
        data = self.data
        return self._page("python", python(data.forests, data.groupings, self.steps, data.stacks, data.names_of_files))

    @_kept(Flame)
    def flame(self) -> Flame:
        """Time of ops by name scope, and of Python by call, as flame graphs."""
        data = self.data
        ops = self.source.all_ops
        phases = dict(zip(ops["op_name"], ops["phase"], strict=True))
        found = flame(self.ops, phases, data.forests, data.stacks, data.names_of_files)
        return self._page("flame", self._in_part(found, _ESTIMATED))

    @_kept(Layers)
    def layers(self) -> Layers:
        """The model's layers in the order of data flow: what each costs, and what it gives."""
        return self._page("layers", layers(self._step_ops, self.data.forests, self.data.graphs))

    @cached_property
    def graph(self) -> Graph:
        """The graph that ran, as tfprof's four views: by name scope, data flow, op type and code."""
        if self.data.reduced:
            return self._page("graph", _noted(self._one_host.graph, self._only("graph", self._one_host)))
        if session := read_session(self.files):
            if self._redact:
                session = session._replace(sidecar=redacted(session.sidecar))
            result = graph(from_session(session), write_view)
            result.notes += session.sidecar.notes
        else:
            data = self.data
            measured = self.steps.recorded.index
            model = from_events(data.forests, data.graphs, self._steps_of_events, data.names_of_files, measured)
            result = graph(model, write_view)
        result.show_part = partial(dashboard.part, self.name)
        return self._page("graph", result)

    @_kept(Pods)
    def pods(self) -> Pods:
        """The hosts side by side, step by step."""
        return self._page("pods", pods(self.data.forests, self.steps))

    @cached_property
    def advice(self) -> Advice:
        """What to change, the most severe first."""
        return self._page("advice", advice(self._evidence, self._ignored)) if self._ignored else self._all_advice

    @_kept(Advice, "advice")
    def _all_advice(self) -> Advice:
        return self._page("advice", advice(self._evidence))

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(
            overview=self.overview,
            steps=self.steps,
            ops=self.ops,
            functions=self.functions,
            tf_data=self.tf_data,
            python=self.python,
            line_of=self._made_at,
            code=self._code,
            step_ops=lambda: self._step_ops,
            memory=lambda: self.memory,
            source=lambda: self.source,
            gpus=self.data.gpus,
            idle_devices=idle_devices(self.data.forests),
            own_cores=self.data.own_cores,
            events=self.event_count,
            kernels=lambda: self.kernels,
            compilations=lambda: compilations(self.data.forests),
            sleeps=lambda: sleeps(self.data.forests),
            breakdown=lambda: self.breakdown,
        )

    @cached_property
    def answer(self) -> Answer:
        """What the first screen says: the finding that explains the cell's largest cost, or that cost by its name."""
        return answer(self.breakdown, self.advice, self._code, steady_ms(self.overview.summary))

    @cached_property
    def _code(self) -> Code:
        return Code(self.data.texts, self.data.name_objects)

    @cached_property
    def _datasets(self) -> dict[str, Any]:
        """The datasets that the program's code tells of, kept as results are."""
        cache = self.data.cache
        return cache.get("datasets", dict) or cache.put("datasets", datasets(self.data.texts, self.data.cells))

    @cached_property
    def _pace(self) -> Pace:
        data = self.data
        return pace(data.forests, data.graphs, data.groupings, self.steps, self.duration_ms)

    @cached_property
    def measured(self) -> Measured:
        """What comparisons of runs use of it."""
        data = self.data
        done = self._pace
        loads = [sidecar.read(Section.MACHINE_LOAD, read_other_load) for sidecar in data.sidecars]
        versions = {sidecar.read(Section.VERSIONS, read_tensorflow) for sidecar in data.sidecars}
        return Measured(
            self.steps,
            self.ops,
            self.kernels,
            self.memory,
            done,
            work(data.forests, data.graphs, self.steps, data.groupings, versions, done, self.functions),
            max((load for load in loads if not math.isnan(load)), default=math.nan),
            self.name,
            max((forest.host.began_ns for forest in data.forests), default=0),
        )

    @cached_property
    def trace(self) -> Trace:
        """Every event on its row of time."""
        data = self.data
        if data.reduced:
            some = self._among(self.pods.typical_hosts or self.hosts[:1])
            return self._page("trace", _noted(some.trace, self._only("trace", some)))
        samples = sampled_python(data.forests, data.stacks, data.names_of_files)
        forests, groupings = [*data.forests, *samples], [*data.groupings, *map(group_events, samples)]
        return self._page("trace", trace(forests, groupings, self.steps, self._counters, self._line_of))

    @cached_property
    def _step_ops(self) -> StepOps:
        data = self.data
        return step_ops(data.forests, data.graphs, self._steps_of_events, self.steps, data.names_of_files)

    @property
    def _steps_of_events(self) -> Any:
        return self.steps.of_events(self.data.groupings)

    @cached_property
    def _one_host(self) -> Self:
        """The host that stands for many where a page shows single events: with lines of code, else the slowest."""
        with_lines = [host for host, sidecar in zip(self.hosts, self.data.sidecars, strict=True) if sidecar.sections]
        return self.host(next(iter(with_lines), self.pods.summary["slowest_host"] or self.hosts[0]))

    def _among(self, hosts: Sequence[str]) -> Self:
        return type(self)(self.data.run.only(*hosts), self.name, redact=self._redact)

    def _only(self, result: str, shown: Results) -> str:
        hosts = ", ".join(shown.hosts)
        return f"Of {len(self.hosts)} hosts this shows {hosts}: p.host(name).{result} shows another."

    def _line_of(self, event: str) -> str:
        """The line of code that an event of the trace comes from; empty if that is not known."""
        return line_of(self.source, event) if self.data.has_lines else ""

    def _made_at(self, function: str) -> str:
        """The line that passed the slowest function of this name to tf.data; empty if that is not known."""
        return self.source.slowest_function(function) if self.data.has_lines else ""

    def _counters(self) -> list[Counter]:
        """What the trace draws as lines above the events."""
        sampled_too = () if self.metrics.empty else (PROCESS,)
        made = [*memory_counters(self.memory, without=sampled_too), *metric_counters(self.metrics)]
        # A trace that was written by `to_chrome_trace` holds those made from its events, too.
        return [*recorded_counters(self.data.forests, {counter.name for counter in made}), *made]

    def _in_part(self, result: R, of_the_rest: str = "") -> R:
        """Let a result say of which steps its ops are, where those of some were not recorded, and what of the rest."""
        table = self.steps.table
        if not table["ops_recorded"].all():
            result.notes = [
                _IN_PART.format(int(table["ops_recorded"].sum()), len(table), of_the_rest or _LEFT_OUT),
                *result.notes,
            ]
        return result

    def _page(self, name: str, result: R) -> R:
        """Let a result show itself as its page of the dashboard."""
        if self._redact:
            result.notes = [without_paths(note) for note in result.notes]
        if isinstance(result, Advice):
            result.measurement = measurement(self, self._datasets)
        return result.shown_by(partial(dashboard.page_by_itself, self, name))


_IN_PART = "Ops were recorded in {:,} of {:,} steps: {} (%%tfprofile --all records all)."
_LEFT_OUT = "sums are those of the recorded ones"
_ESTIMATED = "the times and runs of ops are estimated for all steps from these"


def _noted(result: R, note: str) -> R:
    noted = copy(result)
    noted.notes = [note, *result.notes]
    return noted
