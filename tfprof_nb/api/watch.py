"""``watch``: the training cells of a notebook, cheaply, over hours, and their history."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import escape

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.watched_cells import MOST_COMPARED, History, earlier, history
from tfprof_nb.api.session import LOGDIR, running
from tfprof_nb.capture.watched_cells import Watcher
from tfprof_nb.formats.files import local_path
from tfprof_nb.formats.watched_cells import WatchedCell, append_cell, read_cells
from tfprof_nb.render.content import Content
from tfprof_nb.render.display import Place, in_notebook
from tfprof_nb.render.markup import element
from tfprof_nb.views import watched_cells as view


@dataclass
class _Watching:
    watch: Watch | None = None


_watching = _Watching()


class Watch:
    """The watch of a notebook's training cells: what `watch` returns. Displayed, it shows their history."""

    def __init__(self, shell: Any, folder: Path, *, quiet: bool) -> None:
        self._shell, self.folder, self.quiet = shell, folder, quiet
        self._watcher = Watcher(self._ended, lambda: running() is not None)
        shell.events.register("pre_run_cell", self._begin_cell)
        shell.events.register("post_run_cell", self._end_cell)

    def _begin_cell(self, info: Any = None) -> None:
        self._watcher.begin_cell(str(getattr(info, "raw_cell", None) or ""))

    def _end_cell(self, result: Any = None) -> None:
        number = getattr(result, "execution_count", None) or self._shell.execution_count
        self._watcher.end_cell(f"In[{number}]")

    def _ended(self, cell: WatchedCell) -> None:
        try:
            append_cell(self.folder, cell)
        except OSError as error:
            warnings.warn(f"The history of this cell could not be written: {error}.", stacklevel=2)
            return
        if not self.quiet:
            cells, _ = read_cells(self.folder, MOST_COMPARED + 1)
            before = earlier(cells, len(cells) - 1)
            found = history(cells[-1:] if before is None else [cells[before], cells[-1]])
            _say(" ".join(view.sentences(found, found.summary["newest"])))

    @property
    def history(self) -> History:
        """The runs of training cells up to now."""
        found = history(*read_cells(self.folder))
        return found.shown_by(partial(Content, "Training cells", view.panels(found)))

    @property
    def table(self) -> Any:
        """A row for each run of a training cell (`History`)."""
        return self.history.table

    def stop(self) -> None:
        """Watch no more. The history stays in its folder."""
        for event, callback in (("pre_run_cell", self._begin_cell), ("post_run_cell", self._end_cell)):
            if callback in self._shell.events.callbacks[event]:
                self._shell.events.unregister(event, callback)
        self._watcher.stop()
        if _watching.watch is self:
            _watching.watch = None

    def _ipython_display_(self) -> None:
        self.history._ipython_display_()

    def __str__(self) -> str:
        return str(self.history)


def watch(logdir: str | os.PathLike[str] | None = None, *, quiet: bool = False) -> Watch:
    """Watch every training cell of this notebook from now on, without a profiler.

    Where a cell takes much longer than the last time, or its steps become slower while it runs, a line below it says
    so, and what changed.

    Parameters
    ----------
    logdir
        Where the history is kept, in a file ``watched_cells.jsonl``. None is ``tfprof_logs`` in the working folder.
    quiet
        Whether to say nothing below cells.

    Returns
    -------
    Watch
        Displayed, it shows the history. ``table`` has a row for each run of a training cell: ``cell began seconds steps
        batch step_ms example_us waiting_share peak_memory_bytes other_processors compared_to times_as_long``.
        ``history.timelines`` has each run's steps, waiting, memory and the load by other programs over time. ``stop()``
        ends it. A second call returns the watch that runs.

    Raises
    ------
    TfprofError
        Outside of IPython and Jupyter, where there are no cells.

    Notes
    -----
    A step is one of Keras' ``fit`` and ``train_on_batch``, or of ``tfprof_nb.step``; in a cell without these, a pass of
    a loop that takes batches from a dataset. Watching costs about 4 µs a step, and a look at the process once a
    second.

    Examples
    --------
    >>> import tempfile
    >>> import tfprof_nb as tp
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell.instance()  # a notebook has one
    >>> watched = tp.watch(tempfile.mkdtemp())
    >>> watched.table.empty
    True
    >>> watched.stop()
    >>> InteractiveShell.clear_instance()
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        raise TfprofError(
            "tp.watch() watches the cells of a notebook, and here are none. Profile a block with tp.profile()."
        )
    folder = local_path(LOGDIR if logdir is None else logdir).absolute()
    if _watching.watch is not None:
        if logdir is not None and folder != _watching.watch.folder:
            _watching.watch.stop()
        else:
            _watching.watch.quiet = quiet
            return _watching.watch
    _watching.watch = Watch(shell, folder, quiet=quiet)
    return _watching.watch


def _say(text: str) -> None:
    """Show a line below the cell, if there is one to show."""
    if not text:
        return
    if in_notebook():
        Place(has_widget=False).reserve(element("div", escape(text), style="margin:4px 0"), text)
    else:
        print(text)  # noqa: T201 - a terminal's way to show something
