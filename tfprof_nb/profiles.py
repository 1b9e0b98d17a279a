"""The profile that people hold: its results, the dashboard that shows them, and ways to take them elsewhere."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from tfprof_nb import runs
from tfprof_nb._errors import ProfileNotFoundError, TfprofError
from tfprof_nb.export import xprof as xprof_tools
from tfprof_nb.export.chrome_trace import chrome_trace
from tfprof_nb.export.sql import Frames, run_sql
from tfprof_nb.results import Results
from tfprof_nb.views import dashboard
from tfprof_nb.views.pages import PAGES

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


class Profile(Results):
    """One run: the files of its hosts, and everything that they tell.

    Made by `profile` and `load`. Displaying it in a notebook shows its dashboard; ``str()`` gives the same as text.

    Each of its results (``overview advice steps source ops input_pipeline tf_data kernels memory functions graph pods
    trace``) has ``table`` (a DataFrame), ``summary``, ``notes`` and ``view()``, and is computed when first asked for.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile() as p:
    ...     pass
    >>> p.steps.summary["steps"]
    0
    """

    @property
    def origin(self) -> str:
        """Which of several runs was taken, where a logdir with several was opened; else empty."""
        count = self._files.newest_of
        return f"the newest of {count} runs" if count > 1 else ""

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
        return dashboard.content(self, views, static=static).view()

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a report that opens in any browser, offline: one file.

        The script of its tables and timelines comes along; without script it shows first rows and pictures.

        Returns
        -------
        Path
            Where it was written.
        """
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

    def _ipython_display_(self) -> None:
        dashboard.content(self)._ipython_display_()

    def __str__(self) -> str:
        """The answer as text; each result prints in full by itself."""
        answer = dashboard.content(self, "overview")
        return f"{answer}\n\nMore: print the profile's .advice, .steps, .tf_data, .ops, .memory ..."

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
