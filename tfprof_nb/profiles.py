"""The profile that people hold: the results of one run, their dashboard, and ways to take them elsewhere."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import pandas as pd

from tfprof_nb._errors import BudgetError, CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.analysis import budget as budgets
from tfprof_nb.analysis.advice.advice import Advice, Measurement, advice
from tfprof_nb.analysis.advice.findings import Evidence
from tfprof_nb.analysis.benchmark_input import InputBenchmark
from tfprof_nb.analysis.compare.measured import Measured
from tfprof_nb.analysis.compare.pace import pace
from tfprof_nb.analysis.compare.work import work
from tfprof_nb.analysis.digest import Digested, digest
from tfprof_nb.analysis.events.table import events
from tfprof_nb.analysis.flame import Flame, flame
from tfprof_nb.analysis.functions.functions import Functions, functions
from tfprof_nb.analysis.graph.from_events import from_events
from tfprof_nb.analysis.graph.from_session import from_session
from tfprof_nb.analysis.graph.graph import Graph, graph
from tfprof_nb.analysis.input_pipeline import InputPipeline, input_pipeline
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.layers import Layers, layers
from tfprof_nb.analysis.memory.memory import Memory, memory
from tfprof_nb.analysis.memory.process_memory import PROCESS
from tfprof_nb.analysis.ops.ops import Ops, ops
from tfprof_nb.analysis.overview import Overview, idle_devices, overview
from tfprof_nb.analysis.pods import Pods, pods
from tfprof_nb.analysis.python import Python, python
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.source import SourceLines, source
from tfprof_nb.analysis.source.taken_from import dataset_expressions, root_of
from tfprof_nb.analysis.step_ops.step_ops import StepOps, step_ops
from tfprof_nb.analysis.steps.capture_notes import capture_notes, stopped_notes
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import Steps, steps
from tfprof_nb.analysis.tf_data.tf_data import TfData, tf_data
from tfprof_nb.analysis.trace.counters import Counter, memory_counters, metric_counters, recorded_counters
from tfprof_nb.analysis.trace.event_names import line_of
from tfprof_nb.analysis.trace.python_samples import sampled_python
from tfprof_nb.analysis.trace.trace import Trace, trace
from tfprof_nb.capture.benchmark_input.variable import called_in_notebook, holds_dataset, variables
from tfprof_nb.capture.run_folder import copied
from tfprof_nb.decode.redaction import redacted
from tfprof_nb.decode.sections.machine_load import read_other_load
from tfprof_nb.decode.sections.versions import read_tensorflow
from tfprof_nb.decode.session_graph import read_session
from tfprof_nb.export import xprof
from tfprof_nb.export.chrome_trace import write_chrome_trace
from tfprof_nb.export.markdown import to_markdown
from tfprof_nb.export.sql import Frames, run_sql
from tfprof_nb.export.tfprof_output import write_view
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.render.content import Content
from tfprof_nb.run_data import RunData
from tfprof_nb.runs import Run, resolve
from tfprof_nb.storage import is_url, send
from tfprof_nb.views import budget as budget_view
from tfprof_nb.views import dashboard
from tfprof_nb.views.headline import headline
from tfprof_nb.views.pages import PAGES

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

R = TypeVar("R", bound=Result)
_OF_CELL = re.compile(r"In\[[0-9]+\]")
_NAMED_BY_MAGIC = re.compile(r"%%tfprofile +([A-Za-z_][A-Za-z0-9_]*)")


def _kept(of: type[R]) -> Callable[[Callable[[Profile], R]], cached_property[R]]:
    """Make a property of a method that computes a result: computed once, and kept for when the run is opened again."""

    def decorated(compute: Callable[[Profile], R]) -> cached_property[R]:
        name = compute.__name__

        @wraps(compute)
        def result(self: Profile) -> R:
            cache = self.data.cache
            if found := cache.get(name, of):
                return self._page(name, found)
            return cache.put(name, compute(self))

        return cached_property(result)

    return decorated


class PendingRun:
    """A run that a capture is still writing: `get` raises until the capture has completed it."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._write: Callable[[Path], Path] | None = None
        self._why_not = "This profile is still being captured, or its capture failed: use it after its block ended."

    @property
    def is_complete(self) -> bool:
        """Whether the capture has saved the run."""
        return self._run is not None

    def complete(self, run: Run) -> None:
        """Provide the run that the capture saved."""
        self._run = run

    def fail(self, why: str) -> None:
        """Store the error that `get` raises from now on."""
        self._why_not = why

    def keep(self, write: Callable[[Path], Path]) -> None:
        """Store how to write the run, which is only in memory, to a folder."""
        self._write = write

    def save(self, logdir: Path) -> None:
        """Write the run to a folder if it is only in memory."""
        if self._write is not None:
            self.complete(resolve(self._write(logdir)))
            self._write = None

    def get(self) -> Run:
        """Return the run.

        Raises
        ------
        CaptureError
            If the capture has not saved it yet, or failed.
        """
        if self._run is None:
            raise CaptureError(self._why_not)
        return self._run


_living: WeakSet[Profile] = WeakSet()


def run_folders_in_use() -> set[Path]:
    """Return the folders of all profiles of this process, which read their files when a result is first used."""
    folders = set()
    for profile in list(_living):
        with suppress(CaptureError):  # it is still being captured
            folders.add(run_folder(profile))
    return folders


def run_folder(profile: Profile) -> Path:
    """Return the folder of a profile's files."""
    return profile._run.path  # noqa: SLF001


class Profile:
    """One run: the files of its hosts, and everything that they tell.

    Made by `profile` and `load`. Displaying it in a notebook shows its dashboard; ``str()`` gives the same as text.

    Each of its results (``overview advice steps source python ops input_pipeline tf_data kernels memory functions
    layers flame graph pods trace``) has ``table`` (a DataFrame), ``summary``, ``notes`` and ``view()``. It is computed
    on first use.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile() as p:
    ...     pass
    >>> p.steps.summary["steps"]
    0
    """

    def __init__(
        self,
        run: Run | PendingRun,
        name: str | None = None,
        *,
        redact: bool = False,
        cache: bool = True,
        client: Any = None,
    ) -> None:
        self._source = run
        self._name = name
        _living.add(self)
        self._redact, self._cache, self._client = redact, cache, client

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
        """The files that it was read from, one per host; of a profile at a URL, their copies."""
        _ = self.data.extent  # which fetches them
        return self.data.run.files

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts' names: the files' names without their ending."""
        return self.data.run.hosts

    def host(self, name: str) -> Profile:
        """Return the profile of one host.

        Raises
        ------
        ProfileNotFoundError
            If the run has no host of that name.
        """
        if name not in self.hosts:
            raise ProfileNotFoundError(f"There is no host {name!r} in this profile: it has {', '.join(self.hosts)}.")
        return Profile(self.data.run.only(name), f"{self.name} · {name}", redact=self._redact, cache=self._cache)

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
        result.notes += capture_notes(self.data.forests, len(result.table))
        return self._page("steps", result)

    @_kept(Ops)
    def ops(self) -> Ops:
        """Time by op, on hosts and devices."""
        return self._page("ops", ops(self.data.forests, self.data.graphs))

    @_kept(Overview)
    def overview(self) -> Overview:
        """Verdict, headline numbers and the ops that take most."""
        sampled = any(len(stacks.time_ns) for stacks in self.data.stacks)
        result = overview(self.data.forests, self.steps, self.ops, python_sampled=sampled)
        marked = self.steps.summary["source"] == "marked"
        result.notes += stopped_notes(self.data.stopped, len(self.steps.table), marked=marked)
        result.notes += self.data.notes
        return self._page("overview", result)

    @_kept(InputPipeline)
    def input_pipeline(self) -> InputPipeline:
        """How far steps wait for data, and what getting the data is made of."""
        return self._page("input_pipeline", input_pipeline(self.steps, self.ops, self.overview.summary["framework"]))

    @_kept(TfData)
    def tf_data(self) -> TfData:
        """The pipelines of tf.data, and the stage that delays them."""
        waiting = [self.overview.summary[name] for name in ("input_percent", "input_between_steps_percent")]
        return self._page("tf_data", tf_data(self.data.forests, sum(waiting)))

    @_kept(Kernels)
    def kernels(self) -> Kernels:
        """GPU kernels, by op and launch shape."""
        return self._page("kernels", kernels(self.data.forests))

    @_kept(Memory)
    def memory(self) -> Memory:
        """Each allocator's memory over time, and what was alive at its peak."""
        return self._page("memory", memory(self.data.forests, self._steps_of_events, self.data.process_memory))

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
        return self._page("source", source(data.forests, data.graphs, data.cells, data.labels))

    @_kept(Python)
    def python(self) -> Python:
        """Python by line, sampled, and time in Keras callbacks."""
        data = self.data
        return self._page("python", python(data.forests, data.groupings, self.steps, data.stacks, data.names_of_files))

    @_kept(Flame)
    def flame(self) -> Flame:
        """Time of ops by name scope, and of Python by call, as flame graphs."""
        data = self.data
        return self._page("flame", flame(self.ops, data.forests, data.stacks, data.names_of_files))

    @_kept(Layers)
    def layers(self) -> Layers:
        """The model's layers in the order of data flow: what each costs, and what it gives."""
        return self._page("layers", layers(self._step_ops))

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
            result = graph(from_events(self.data.forests, self.data.graphs, self._steps_of_events), write_view)
        result.show_part = partial(dashboard.part, self.name)
        return self._page("graph", result)

    @_kept(Pods)
    def pods(self) -> Pods:
        """The hosts side by side, step by step."""
        return self._page("pods", pods(self.data.forests, self.steps))

    @_kept(Advice)
    def advice(self) -> Advice:
        """What to change, the most severe first."""
        evidence = Evidence(
            self.overview,
            self.steps,
            self.ops,
            self.functions,
            self.tf_data,
            self.python,
            self._made_at,
            Code(self.data.texts),
            lambda: self._step_ops,
            lambda: self.memory,
            lambda: self.source,
            gpus=self.data.gpus,
            idle_devices=idle_devices(self.data.forests),
            own_cores=self.data.own_cores,
            kernels=lambda: self.kernels,
        )
        result = advice(evidence)
        result.measurement = self._measurement()
        return self._page("advice", result)

    def _measurement(self) -> Measurement | None:
        """How to measure the pipeline that the profiled cell took its batches from, where its code tells."""
        cells = {name: text for name, text in self.data.texts.items() if name == "cell" or _OF_CELL.fullmatch(name)}
        known = [dataset_expressions(cells[name]) for name in sorted(cells, key=lambda name: name != "cell")]
        fitted, others = ([one for pair in known for one in pair[k]] for k in range(2))
        there = (one for one in [*fitted, *others] if holds_dataset(root_of(one)))
        dataset = next(there, fitted[0] if fitted else "")
        if not dataset:
            return None
        code = f"import tfprof_nb as tp\n\ntp.benchmark_input({dataset}, profile={self._variable()})"
        return Measurement(dataset, code, partial(self._measure, dataset))

    def _measure(self, dataset: str) -> InputBenchmark:
        root = root_of(dataset)
        if not holds_dataset(root):
            raise TfprofError(
                f"`{root}` is no dataset in this notebook, or no longer: run the cell that makes it, then click again."
            )
        call = f"__import__('tfprof_nb').benchmark_input({dataset}, profile=_profile)"
        measured: InputBenchmark = called_in_notebook(call, _profile=self)
        return measured

    def _variable(self) -> str:
        """The name of the notebook's variable that holds this profile, as far as it is known."""
        held = (name for name, value in variables().items() if value is self and not name.startswith("_"))
        named = _NAMED_BY_MAGIC.match(next((cell.text for cell in self.data.cells if cell.text), ""))
        return next(held, named[1] if named else "p")

    @cached_property
    def measured(self) -> Measured:
        """What comparisons of runs use of it."""
        data = self.data
        done = pace(data.forests, data.graphs, data.groupings, self.steps, self.duration_ms)
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
    def _one_host(self) -> Profile:
        """The host that stands for many where a page shows single events: with lines of code, else the slowest."""
        with_lines = [host for host, sidecar in zip(self.hosts, self.data.sidecars, strict=True) if sidecar.sections]
        return self.host(next(iter(with_lines), self.pods.summary["slowest_host"] or self.hosts[0]))

    def _among(self, hosts: Sequence[str]) -> Profile:
        return Profile(self.data.run.only(*hosts), self.name, redact=self._redact)

    def _only(self, result: str, shown: Profile) -> str:
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

    def _page(self, name: str, result: R) -> R:
        """Let a result show itself as its page of the dashboard."""
        return result.shown_by(partial(dashboard.page_by_itself, self, name))

    def sql(self, query: str) -> pd.DataFrame:
        """Return what an SQL query over the profile's tables gives (DuckDB's dialect).

        The tables are ``events`` and the results' names, with the results' columns; ``tf_data_pipelines``,
        ``memory_timeline`` and ``memory_allocators`` are the frames that those results have besides.

        Raises
        ------
        ValueError
            If the query is wrong, or names an unknown table.
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
        """The tables of `sql`, each computed only if a query names it."""
        return {
            "events": lambda: self.events,
            **{name: partial(self._table, name) for name in PAGES},
            "tf_data_pipelines": lambda: self.tf_data.pipelines,
            "memory_timeline": lambda: self.memory.timeline,
            "python_callbacks": lambda: self.python.callbacks,
            "memory_allocators": lambda: self.memory.allocators,
        }

    def _table(self, name: str) -> pd.DataFrame:
        result: Result = getattr(self, name)
        return result.table

    def xprof(self, tool: str, **params: Any) -> xprof.Answer:
        """Return the answer of a tool of the installed XProf, with its tables as frames.

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
        return xprof.run_tool(self.data.run, tool, params)

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
            If a name is not that of a page.
        """
        return dashboard.content(self, views, static=static).view()

    def save(self, logdir: str | os.PathLike[str]) -> Path | str:
        """Write the profile's files to another log folder, here or at a URL.

        This also saves a profile that a capture kept in memory because its disk was full.

        Returns
        -------
        Path or str
            The run's folder, which `load` and TensorBoard open; a text if it is a URL.

        Raises
        ------
        CaptureError
            If they cannot be written there, or there is no profile.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     pass
        >>> tp.load(p.save("build/copies")).hosts == p.hosts
        True
        """
        if is_url(logdir):
            with tempfile.TemporaryDirectory() as folder:
                run = copied(self.files, Path(folder), self._run.name)
                send(Path(folder), os.fspath(logdir))
                return f"{os.fspath(logdir).rstrip('/')}/{run.relative_to(folder).as_posix()}"
        target = Path(os.path.expandvars(logdir)).expanduser().absolute()
        if isinstance(self._source, PendingRun) and not self._source.is_complete:
            self._source.save(target)
            return self._run.path
        return copied(self.files, target, self._run.name)

    def check_budget(
        self,
        *,
        step_ms: float | None = None,
        input_percent: float | None = None,
        peak_bytes: float | None = None,
        retraced: int | None = None,
    ) -> pd.DataFrame:
        """Raise an error if the profile exceeds a limit, for tests.

        Parameters
        ----------
        step_ms
            The most that the median measured step may take, in ms.
        input_percent
            The most that steps may wait for data, in percent of their time (0 to 100).
        peak_bytes
            The most that any allocator may hold at its peak; without allocators' events the sampled process counts.
        retraced
            How many calls may trace a function again. The first two tracings of each function since the program began
            do not count: Keras needs two.

        Returns
        -------
        DataFrame
            ``budget limit measured within``, a row per limit.

        Raises
        ------
        BudgetError
            If a limit is exceeded, or what it limits could not be measured. The message has all limits as a table.
        TfprofError
            If no limit is given, or one is below zero.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     for i in range(3):
        ...         with tp.step(i):
        ...             pass
        >>> p.check_budget(step_ms=1000, retraced=0)["within"].all()
        np.True_
        """
        limits = {"step_ms": step_ms, "input_percent": input_percent, "peak_bytes": peak_bytes, "retraced": retraced}
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if not given or not all(limit >= 0 for limit in given.values()):
            raise TfprofError("Give at least one limit, from 0 on, such as p.check_budget(step_ms=30).")
        measure: dict[str, Callable[[], float]] = {
            "step_ms": lambda: budgets.median_step_ms(self.steps),
            "input_percent": lambda: float(self.overview.summary["input_percent"]),
            "peak_bytes": lambda: budgets.peak_bytes(self.memory),
            "retraced": lambda: budgets.retraced(self.functions),
        }
        checked = budgets.budget(given, {name: measure[name]() for name in given})
        if not checked["within"].all():
            raise BudgetError(str(Content(self.name, budget_view.panels(checked))))
        return checked

    def to_html(self, path: str | os.PathLike[str], *, redact: bool = False) -> Path:
        """Write a report that opens in any browser, offline: one file.

        The script of its tables and timelines comes along; without script it shows first rows and pictures. It carries
        the names of hosts, ops, layers and functions, the text of the notebook cell and of the lines of code that ran,
        and the paths of their files; neither environment variables nor command lines.

        Parameters
        ----------
        path
            Where to write it.
        redact
            Leave out the text of the cell and of lines of code, and the folders of files.

        Returns
        -------
        Path
            Where it was written.
        """
        shown = Profile(self._source, self._name, redact=True, client=self._client) if redact else self
        with _replacing(path, "report.html") as part:
            part.write_text(dashboard.report(shown), encoding="utf-8")
        return Path(path).expanduser()

    def to_dict(self, rows: int = 10) -> dict[str, Any]:
        """Return the profile in brief, as JSON can hold it: for programs and assistants.

        It has the verdict, the findings with evidence and fix, statistics of the steps, and the ops and lines that take
        most, in less than 4,000 tokens; ``docs/digest.md`` names all keys. It has neither environment variables nor
        names of hosts, and paths without their folders.

        Parameters
        ----------
        rows
            How many ops and lines to list.

        Returns
        -------
        dict
            Keys whose names end in ``_ms`` are milliseconds, ``_percent`` 0 to 100; None is unknown.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile("example") as p:
        ...     pass
        >>> p.to_dict()["version"], p.to_dict()["name"]
        (1, 'example')
        """
        of = Digested(
            self.name,
            headline(self.overview),
            self.overview,
            self.advice,
            self.ops,
            self.source,
            self.measured,
            self.duration_ms,
        )
        return digest(of, rows)

    def to_markdown(self, rows: int = 10) -> str:
        """Return the profile in brief as Markdown, to paste into an issue or to an assistant: `to_dict` as text.

        Parameters
        ----------
        rows
            How many ops and lines to list.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile("example") as p:
        ...     pass
        >>> p.to_markdown().splitlines()[0]
        '# example'
        """
        return to_markdown(self.to_dict(rows))

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
        with _replacing(path, "trace.json.gz") as part:
            write_chrome_trace(part, self.data.forests, self._counters())
        return Path(path).expanduser()

    def _ipython_display_(self) -> None:
        dashboard.content(self)._ipython_display_()

    def __str__(self) -> str:
        """The answer as text; each result prints in full by itself."""
        answer = dashboard.content(self, "overview")
        return f"{answer}\n\nMore: print the profile's .advice, .steps, .tf_data, .ops, .memory ..."

    def __repr__(self) -> str:
        if isinstance(self._source, PendingRun) and not self._source.is_complete:
            return "<Profile being captured>"
        return f"<Profile {self.name!r}: {', '.join(self.hosts)} in {self.files[0].parent}>"


def _noted(result: R, note: str) -> R:
    noted = copy(result)
    noted.notes = [note, *result.notes]
    return noted


@contextmanager
def _replacing(path: str | os.PathLike[str], example: str) -> Iterator[Path]:
    """Make a file and its folder: the block gets a path to write to, which takes the file's place if all goes well."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise TfprofError(f"{target} is a folder. Name a file, for example {target / example}.")
    part = target.with_name(f".{os.getpid()}-{target.name}") if target.is_file() or not target.exists() else target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except OSError as error:
        raise TfprofError(f"{target} cannot be written: {error.strerror or error}. Choose another place.") from None
    finally:
        if part != target:
            with suppress(OSError):
                part.unlink()
