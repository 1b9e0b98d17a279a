"""The profile that people hold: the results of one run, their dashboard, and ways to take them elsewhere."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from tfprof_nb._errors import BudgetError, CaptureError, TfprofError
from tfprof_nb._units import printable
from tfprof_nb.analysis import budget as budgets
from tfprof_nb.analysis.digest import Digested, digest
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.trial import Trial
from tfprof_nb.capture.run_folder import copied
from tfprof_nb.export import xprof
from tfprof_nb.export.chrome_trace import write_chrome_trace
from tfprof_nb.export.markdown import to_markdown
from tfprof_nb.export.sql import Frames, run_sql
from tfprof_nb.formats.files import local_path
from tfprof_nb.formats.unfinished import maker, remove_abandoned
from tfprof_nb.pending_run import PendingRun
from tfprof_nb.render.content import Content
from tfprof_nb.results import Results
from tfprof_nb.storage import is_url, send
from tfprof_nb.trials import change_of, note_refuted, put_into_notebook, tried
from tfprof_nb.views import answer, dashboard
from tfprof_nb.views import budget as budget_view
from tfprof_nb.views.pages import PAGES

if TYPE_CHECKING:
    from tfprof_nb.render.view import View

_WRITING = ".tfprof_nb-writing-"


class Profile(Results):
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

    def sql(self, query: str) -> pd.DataFrame:
        """Return what an SQL query over the profile's tables gives (DuckDB's dialect).

        The tables are ``events`` and the results' names, with the results' columns; ``tf_data_pipelines``,
        ``memory_timeline`` and ``memory_allocators`` are the frames that those results have besides.

        Raises
        ------
        ValueError
            If the query is wrong, or names an unknown table.

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
            XProf does not work with the packages that are installed.
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
            If they cannot be written there, there is no profile, or its files are no longer those that were opened.

        Examples
        --------
        >>> import tfprof_nb as tp
        >>> with tp.profile() as p:
        ...     pass
        >>> tp.load(p.save("build/copies")).hosts == p.hosts
        True
        """
        pending = self._source if isinstance(self._source, PendingRun) and not self._source.is_complete else None
        if not pending and (changed := self.data.cache.changed()):
            raise CaptureError(
                f"The profile cannot be copied: {changed[0]} is gone, or was changed since it was opened."
            )
        if is_url(logdir):
            with tempfile.TemporaryDirectory() as folder:
                run = copied(self.files, Path(folder), self._run.name)
                send(Path(folder), os.fspath(logdir))
                return f"{os.fspath(logdir).rstrip('/')}/{run.relative_to(folder).as_posix()}"
        target = local_path(logdir).absolute()
        if pending:
            pending.save(target)
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

    def try_change(self, rule: str | None = None, *, seconds: float = 60) -> Trial:
        """Run the profiled cell as it is and with a finding's change, in turns, and say what the change gains.

        Both start from the same state and under the same seeds in each round. Afterwards your variables, models,
        optimizers, metrics, random states and iterators are as they were, bit for bit, and files that the cells wrote
        to relative paths are gone with a scratch folder. Cells that take long are ended after as many steps each,
        unless the change acts between epochs.

        Parameters
        ----------
        rule
            The rule whose change to try, from the column ``rule`` of ``p.advice.table``; None takes the first finding
            that has one.
        seconds
            How long to try, about. A change that acts between epochs takes as long as two runs of each cell, if that
            is at most five minutes.

        Returns
        -------
        Trial
            ``summary`` has ``speedup``, ``speedup_low`` and ``speedup_high`` (95%, between rounds), ``first_cost_ms``
            and ``results``: whether the changed cell makes the same. ``table`` has the runs, ``notes`` the words.

        Raises
        ------
        TfprofError
            If no finding has such a change, or the cell can't be repeated: it uses up a generator, asks somebody, uses
            the network, writes outside of its working folder, or names that the notebook no longer holds.

        Notes
        -----
        An interrupt (the kernel's stop button) ends it, and the rounds up to there are kept. If results become others
        than the rule says, the change is refuted, and ``p.advice`` says so from then on.
        """
        change = change_of(self.advice, self.data.texts, rule)
        made = tried(change, self.data.texts, seconds, self.breakdown.summary["cell_ms"] / 1000)
        if made.summary["refuted"]:
            note_refuted(self.advice, made)
        return made

    def apply_change(self, rule: str | None = None) -> str | None:
        """Put the whole cell with a finding's change into a new cell below, to look at and to run.

        Parameters
        ----------
        rule
            The rule whose change to put in, from the column ``rule`` of ``p.advice.table``; None takes the first
            finding that has one.

        Returns
        -------
        str or None
            Nothing in a notebook, where the new cell appears; elsewhere the text of the changed cell.

        Raises
        ------
        TfprofError
            If no finding has such a change.
        """
        return put_into_notebook(change_of(self.advice, self.data.texts, rule))

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
        shown = (
            Profile(self._source, self._name, redact=True, client=self._client, ignore=self._ignored)
            if redact
            else self
        )
        with _replacing(path, "report.html") as part:
            part.write_text(dashboard.report(shown), encoding="utf-8")
        return local_path(path)

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
            answer.lead(self.answer, self.advice, self.breakdown, self.overview).text,
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
        return local_path(path)

    def _ipython_display_(self) -> None:
        dashboard.content(self)._ipython_display_()

    def _repr_html_(self) -> str:
        return dashboard.content(self)._repr_html_()

    def __str__(self) -> str:
        """The answer as text; each result prints in full by itself."""
        return str(dashboard.content(self))

    def __repr__(self) -> str:
        if isinstance(self._source, PendingRun) and not self._source.is_complete:
            return "<Profile being captured>"
        return printable(f"<Profile {self.name!r}: {', '.join(self.hosts)} in {self.files[0].parent}>")


@contextmanager
def _replacing(path: str | os.PathLike[str], example: str) -> Iterator[Path]:
    """Make a file and its folder: the block gets a path to write to, which takes the file's place if all goes well."""
    if not isinstance(path, str | os.PathLike):
        raise TfprofError(f"{path!r} is no path. Name a file, for example {example!r}.")
    part = target = local_path(path)
    try:
        if target.is_dir():
            raise TfprofError(f"{target} is a folder. Name a file, for example {target / example}.")
        if target.is_file() or not target.exists():
            remove_abandoned(target.parent, _WRITING)
            part = target.with_name(f"{_WRITING}{maker()}{target.name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except OSError as error:
        raise TfprofError(f"{target} cannot be written: {error.strerror or error}. Choose another place.") from None
    finally:
        if part != target:
            with suppress(OSError):
                part.unlink()
