"""``find_runs``: the runs of a logdir, as a list and as a menu that shows the chosen run."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from tfprof_nb import runs
from tfprof_nb.api.session import LOGDIR
from tfprof_nb.profiles import Profile
from tfprof_nb.runs import Run
from tfprof_nb.views import dashboard

if TYPE_CHECKING:
    from tfprof_nb.render.content import Content
    from tfprof_nb.render.view import View


class Runs(list[Run]):
    """Runs, newest last. Displaying them shows a menu, with the newest run's dashboard below it."""

    def view(self) -> View:
        """Return the widget: a menu of the runs, newest first, and the dashboard of the chosen run."""
        return self._content().view()

    def _content(self) -> Content:
        newest_first = self[::-1]
        return dashboard.runs(
            [run.label for run in newest_first], lambda k: Profile(newest_first[k], newest_first[k].title or None)
        )

    def _ipython_display_(self) -> None:
        if self:
            self._content()._ipython_display_()
        else:
            print("No runs.")  # noqa: T201

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "No runs."


def find_runs(logdir: str | PathLike[str] = LOGDIR) -> Runs:
    """Return all runs below a folder, newest last.

    Parameters
    ----------
    logdir
        A folder with runs at any depth, or a run folder itself; also a URL, whose files are copied when opened. By
        default the folder ``tfprof_logs`` of captures.

    Returns
    -------
    Runs
        A list of `Run`. In a notebook it shows itself as a menu with the chosen run's dashboard.

    Raises
    ------
    ProfileNotFoundError
        There is no such folder. In a folder without runs the list is empty.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile(logdir="build/logs"):
    ...     pass
    >>> [run.path.parent.name for run in tp.find_runs("build/logs")][-1]
    'profile'
    """
    return Runs(runs.find_runs(logdir))
