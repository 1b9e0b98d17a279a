"""The profile that people hold: every result computed on first use, and the dashboard that shows them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from tfprof_nb import runs, xprof_tools
from tfprof_nb._errors import CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.analysis.advice import Advice, advice
from tfprof_nb.analysis.capture_notes import capture_notes
from tfprof_nb.analysis.chrome_trace import chrome_trace
from tfprof_nb.analysis.counters import Counter, memory_counters, metric_counters
from tfprof_nb.analysis.devices import device_type
from tfprof_nb.analysis.events import events
from tfprof_nb.analysis.findings import Evidence
from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.functions import Functions, functions
from tfprof_nb.analysis.graph import Graph
from tfprof_nb.analysis.graph_of_run import graph_of_run
from tfprof_nb.analysis.groups import Grouping, group_events
from tfprof_nb.analysis.input_pipeline import InputPipeline, input_pipeline
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.memory import Memory, memory
from tfprof_nb.analysis.metrics import sampled
from tfprof_nb.analysis.ops import Ops, ops
from tfprof_nb.analysis.overview import Overview, overview
from tfprof_nb.analysis.pods import Pods, pods
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source import SourceLines, source
from tfprof_nb.analysis.steps import Steps, steps
from tfprof_nb.analysis.tf_data import TfData, tf_data
from tfprof_nb.analysis.trace import Trace, trace
from tfprof_nb.analysis.trace_totals import line_of
from tfprof_nb.decode import load_run
from tfprof_nb.decode.graphs import Graphs, read_graphs
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.runs import Run
from tfprof_nb.sql import Frames, run_sql
from tfprof_nb.views.pages import PAGES

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

R = TypeVar("R", bound=Result)


class Profile:
    """One run: the files of its hosts, and everything that they tell.

    Made by `profile` and `load`. Displaying it in a notebook shows its dashboard; ``str()`` gives the same as text.

    Each of its results (``overview advice steps source ops input_pipeline tf_data kernels memory functions graph
    pods trace``) has ``table`` (a DataFrame), ``summary``, ``notes`` and ``view()``, and is computed when first asked for.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile() as p:
    ...     pass
    >>> p.steps.summary["steps"]
    0
    """

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
    def origin(self) -> str:
        """Which of several runs was taken, where a logdir with several was opened; else empty."""
        count = self._files.newest_of
        return f"the newest of {count} runs" if count > 1 else ""

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
        return max((forest.end_ps for forest in self._forests), default=0) / 1e9

    def host(self, name: str) -> Profile:
        """Return the profile of one host.

        Raises
        ------
        ProfileNotFoundError
            If the run has no host of that name.
        """
        if name not in self.hosts:
            raise ProfileNotFoundError(f"There is no host {name!r} in this profile: it has {', '.join(self.hosts)}.")
        return Profile(self._files.only(name), f"{self.name} · {name}")

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
        found.notes += [note for sidecar in self._sidecars for note in sidecar.notes]
        found.notes += dict.fromkeys(note for forest in self._forests for note in forest.host.notes)
        return self._shown("overview", found)

    @cached_property
    def input_pipeline(self) -> InputPipeline:
        """How far steps wait for data, and what getting the data is made of."""
        return self._shown("input_pipeline", input_pipeline(self.steps, self.ops))

    @cached_property
    def tf_data(self) -> TfData:
        """The pipelines of tf.data, and the stage that holds them up."""
        return self._shown("tf_data", tf_data(self._forests))

    @cached_property
    def kernels(self) -> Kernels:
        """GPU kernels, by op and launch shape."""
        return self._shown("kernels", kernels(self._forests))

    @cached_property
    def memory(self) -> Memory:
        """Each allocator's memory over time, and what was alive at its peak."""
        steps_of_events = self.steps.of_events(self._groupings)
        return self._shown("memory", memory(self._forests, steps_of_events, self._sampled("process_memory")))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """What ``metrics=True`` sampled beside the capture: ``time_ms host metric value unit``."""
        return self._sampled("metrics")

    def _sampled(self, section: str) -> pd.DataFrame:
        sections = [sidecar.sections.get(section, {}) for sidecar in self._sidecars]
        return sampled([forest.host for forest in self._forests], sections)

    @cached_property
    def _graphs(self) -> list[Graphs]:
        """The functions that ran on each host, as far as the capture described them."""
        return [read_graphs(sidecar.sections.get("graphs")) for sidecar in self._sidecars]

    @cached_property
    def graph(self) -> Graph:
        """The graph that ran, as tfprof's four views: by name scope, data flow, op type and code."""
        found = graph_of_run(self.files, self._forests, self._graphs, self.steps.of_events(self._groupings))
        found.show_part = self._part_view
        return self._shown("graph", found)

    def _part_view(self, title: str, part: Result) -> View:
        from tfprof_nb.views import dashboard

        return dashboard.part_view(self, title, part)

    @cached_property
    def functions(self) -> Functions:
        """Calls of tf.functions, and how many of them had to trace."""
        return self._shown("functions", functions(self._forests))

    @cached_property
    def source(self) -> SourceLines:
        """Time by line of code and by Keras layer."""
        sections = [sidecar.sections for sidecar in self._sidecars]
        return self._shown("source", source(self._forests, self._graphs, sections))

    @cached_property
    def pods(self) -> Pods:
        """The hosts side by side, step by step."""
        return self._shown("pods", pods(self._forests, self.steps))

    @cached_property
    def advice(self) -> Advice:
        """What to change, the gravest first."""
        evidence = Evidence(self.overview, self.steps, self.ops, self.functions, self.tf_data)
        return self._shown("advice", advice(evidence))

    @cached_property
    def trace(self) -> Trace:
        """Every event on its row of time."""
        return self._shown("trace", trace(self._forests, self._groupings, self.steps, self._counters, self._line_of))

    def _line_of(self, event: str) -> str:
        """The line of code that an event of the trace comes from; empty where that is not known."""
        return line_of(self.source, event) if any(sidecar.sections for sidecar in self._sidecars) else ""

    def _counters(self) -> list[Counter]:
        """What the trace draws as lines above the events."""
        return [*memory_counters(self.memory), *metric_counters(self.metrics)]

    @cached_property
    def events(self) -> pd.DataFrame:
        """Every complete event: ``host plane line name start_ps duration_ps``, times from the start of the capture."""
        return events(self._forests)

    def sql(self, query: str) -> pd.DataFrame:
        """Return what an SQL query over the profile's tables gives (DuckDB's dialect).

        The tables are ``events`` and the results' names, with the results' columns; ``tf_data_pipelines``,
        ``memory_timeline`` and ``memory_allocators`` are the frames that those results have besides.

        Raises
        ------
        ValueError
            If the query is wrong, or names a table that there is not.
        MissingDependencyError
            If DuckDB is not installed.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     pass
        >>> p.sql("select count(*) as steps from steps where step_ms > 10")["steps"][0]
        np.int64(0)
        """
        return run_sql(query, self._frames)

    @property
    def _frames(self) -> Frames:
        """What `sql` calls tables."""
        results = {name: partial(attrgetter(f"{name}.table"), self) for name in PAGES}
        return {
            "events": lambda: self.events,
            **results,
            "tf_data_pipelines": lambda: self.tf_data.pipelines,
            "memory_timeline": lambda: self.memory.timeline,
            "memory_allocators": lambda: self.memory.allocators,
        }

    def xprof(self, tool: str, **params: Any) -> xprof_tools.Answer:
        """Return what a tool of the installed XProf says of this profile, its tables as frames.

        Parameters
        ----------
        tool
            XProf's name of the tool, e.g. ``hlo_stats`` or ``roofline_model``.
        **params
            The tool's options.

        Returns
        -------
        DataFrame, dict or other
            A frame for one table, frames by name for several, parsed JSON or text for what is no table.

        Raises
        ------
        ValueError
            XProf has no such tool, or the tool can't read this profile.
        MissingDependencyError
            XProf is not installed.
        """
        return xprof_tools.run_tool(self._files, tool, params)

    def dashboard(self, views: str | Sequence[str] | None = None, *, static: bool = False) -> View:
        """Return the widget with the answer first and a page per result.

        Parameters
        ----------
        views
            The pages to show, by the results' names; None shows all (``pods`` only where there are several hosts).
        static
            Show plain HTML, without widgets.

        Raises
        ------
        ValueError
            If there is no page of a name.
        """
        from tfprof_nb.views import dashboard

        return dashboard.view(self, views, static=static)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a report that opens in any browser, offline: one file, without script.

        Returns
        -------
        Path
            Where it was written.
        """
        from tfprof_nb.views import dashboard

        target = _writable(path, "report.html")
        target.write_text(dashboard.report(self), encoding="utf-8")
        return target

    def to_chrome_trace(self, path: str | os.PathLike[str]) -> Path:
        """Write a Chrome trace, which Perfetto (ui.perfetto.dev) and chrome://tracing open, and `load` reads.

        It holds every event with its stats, arrows from causes to effects, and memory over time. Times are microseconds
        with picoseconds behind the point. A name that ends in ``.gz`` gives a compressed file.

        Returns
        -------
        Path
            Where it was written.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     pass
        >>> len(tp.load(p.to_chrome_trace("build/trace.json.gz")).events) >= len(p.events)
        True
        """
        target = _writable(path, "trace.json.gz")
        with gzip.open(target, "wb", 1) if target.suffix == ".gz" else target.open("wb") as stream:
            stream.writelines(text.encode() for text in chrome_trace(self._forests, self._counters()))
        return target

    def _shown(self, feature: str, result: R) -> R:
        """Let a result show itself: results know nothing of views."""

        def show() -> View:
            from tfprof_nb.views import dashboard

            return dashboard.feature_view(self, feature)

        result.show = show
        return result

    def _ipython_display_(self) -> None:
        self.dashboard()._ipython_display_()

    def __str__(self) -> str:
        """The answer as text; each result prints in full by itself."""
        return f"{self.dashboard('overview')}\n\nMore: print the profile's .advice, .steps, .tf_data, .ops, .memory ..."

    def __repr__(self) -> str:
        if self._run is None:
            return "<Profile being captured>"
        return f"<Profile {self.name!r}: {', '.join(self.hosts)} in {self.files[0].parent}>"


def _writable(path: str | os.PathLike[str], example: str) -> Path:
    """Return where to write a file, its folder made."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise TfprofError(f"{target} is a folder. Name a file, for example {target / example}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


Source = str | os.PathLike[str]


def load(path: Source | Sequence[Source], *, name: str | None = None, as_runs: bool = False) -> Profile:
    """Open a profile that was made before, here or elsewhere.

    Parameters
    ----------
    path
        A logdir (its newest run is taken), a run's folder, a file, or several files: the hosts of one run. Files are
        XSpace profiles (``*.xplane.pb``), Chrome traces (TensorFlow 1's timelines among them), or RunMetadata.
    name
        What to call it; None takes the run's name.
    as_runs
        Several paths are runs, shown on one timeline one after another; a logdir stands for all of its runs.

    Raises
    ------
    ProfileNotFoundError
        If there is nothing at the path, or no profile in the folder.
    BadProfileError
        If a file is empty, cut short or no profile.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile(logdir="logs"):
    ...     pass
    >>> tp.load("logs").hosts == tp.last().hosts
    True
    """
    run = runs.resolve(path, as_runs=as_runs)
    profile = Profile(run, name)
    profile._forests  # noqa: B018, SLF001  (a bad file fails here, where it was named)
    return profile
