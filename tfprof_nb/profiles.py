"""The profile that people hold: every result computed on first use, and the dashboard that shows them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from tfprof_nb import runs, xprof_tools
from tfprof_nb._errors import CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.analysis.advice import Advice, Evidence, advice
from tfprof_nb.analysis.devices import device_type
from tfprof_nb.analysis.events import events
from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.functions import Functions, functions
from tfprof_nb.analysis.groups import Grouping, group_events
from tfprof_nb.analysis.input_pipeline import InputPipeline, input_pipeline
from tfprof_nb.analysis.kernels import Kernels, kernels
from tfprof_nb.analysis.memory import Memory, memory
from tfprof_nb.analysis.ops import Ops, ops
from tfprof_nb.analysis.overview import Overview, overview
from tfprof_nb.analysis.pods import Pods, pods
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps import Steps, steps
from tfprof_nb.analysis.tf_data import TfData, tf_data
from tfprof_nb.analysis.trace import Trace, trace
from tfprof_nb.decode import load_hosts
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.runs import Run
from tfprof_nb.sql import Frames, run_sql

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

R = TypeVar("R", bound=Result)

RESULTS = (
    "overview",
    "advice",
    "steps",
    "ops",
    "input_pipeline",
    "tf_data",
    "kernels",
    "memory",
    "functions",
    "pods",
    "trace",
)


class Profile:
    """One run: the files of its hosts, and everything that they tell.

    Made by `profile` and `load`. Displaying it in a notebook shows its dashboard; ``str()`` gives the same as text.

    Each of its results (``overview advice steps ops input_pipeline tf_data kernels memory functions pods trace``) has
    ``table`` (a DataFrame), ``summary``, ``notes`` and ``view()``, and is computed when it is first asked for.

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

    def _attach(self, run: Run) -> None:
        """Give a profile that was made before its capture the files that the capture wrote."""
        self._run = run

    @property
    def _files(self) -> Run:
        if self._run is None:
            raise CaptureError(
                "This profile is still being captured, or its capture failed: use it after its block ended."
            )
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
        return [Forest(host) for host in load_hosts(self.files, self.hosts)]

    @cached_property
    def _sidecars(self) -> list[Sidecar]:
        """What the capture wrote beside the profile of each host."""
        return [read_sidecar(file) for file in self.files]

    @cached_property
    def _groupings(self) -> list[Grouping]:
        return [group_events(forest) for forest in self._forests]

    @cached_property
    def steps(self) -> Steps:
        """Step times and what each step spent its time on."""
        return self._shown("steps", steps(self._forests, self._groupings))

    @cached_property
    def ops(self) -> Ops:
        """Time by op, on hosts and devices."""
        return self._shown("ops", ops(self._forests))

    @cached_property
    def overview(self) -> Overview:
        """Verdict, headline numbers and the ops that take most."""
        return self._shown("overview", overview(self._forests, self.steps, self.ops))

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
        return self._shown("memory", memory(self._forests, self.steps.of_events(self._groupings)))

    @cached_property
    def functions(self) -> Functions:
        """Calls of tf.functions, and how many of them had to trace."""
        return self._shown("functions", functions(self._forests))

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
        return self._shown("trace", trace(self._forests, self.steps))

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
        results = {name: partial(_table_of, self, name) for name in RESULTS}
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

        target = Path(path).expanduser()
        if target.is_dir():
            raise TfprofError(f"{target} is a folder. Name a file, for example {target / 'report.html'}.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dashboard.report(self), encoding="utf-8")
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


def _table_of(profile: Profile, name: str) -> pd.DataFrame:
    table: pd.DataFrame = getattr(profile, name).table
    return table


Source = str | os.PathLike[str]


def load(path: Source | Sequence[Source], *, name: str | None = None) -> Profile:
    """Open a profile that was made before, here or elsewhere.

    Parameters
    ----------
    path
        A logdir (its newest run is taken), a run's folder, a file, or several files: the hosts of one run.
    name
        What to call it; None takes the run's name.

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
    run = runs.resolve(path)
    profile = Profile(run, name)
    profile._forests  # noqa: B018, SLF001  (a bad file fails here, where it was named)
    return profile
