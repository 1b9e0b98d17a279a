"""``check``: what can and cannot be captured here, and what to do about it."""

import os
import sys

import pandas as pd

from tfprof_nb.analysis.result import Result
from tfprof_nb.api.session import LOGDIR
from tfprof_nb.capture.check.diagnosis import Line, judge
from tfprof_nb.capture.check.environment import Facts, gather
from tfprof_nb.formats.files import local_path
from tfprof_nb.render.progress import progress_line
from tfprof_nb.views import check as check_view


def check(logdir: str | os.PathLike[str] | None = None) -> Result:
    """Find out what can be captured here, and how to fix what cannot.

    Parameters
    ----------
    logdir
        Where captures will go. None is ``tfprof_logs`` in the working folder.

    Returns
    -------
    Result
        ``table`` has a row for each check: ``check``, ``status`` (``fine``, ``attention`` for what
        costs some of the profile, ``problem`` for what prevents captures or empties a view), ``detail``, ``cure``.
        ``summary`` counts the rows by status. Displayed, it says first what to do.

    Notes
    -----
    Nothing is changed, and no profiler is started. TensorFlow is imported if it is installed.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> list(tp.check().table.columns)
    ['check', 'status', 'detail', 'cure']
    """
    with progress_line() as say:
        if "tensorflow" not in sys.modules:
            say("importing TensorFlow ...")
        facts = gather(local_path(LOGDIR if logdir is None else logdir).absolute())
    return report(facts)


def report(facts: Facts) -> Result:
    """Judge what was found."""
    table = pd.DataFrame(judge(facts), columns=list(Line._fields))
    counts = {status: int((table["status"] == status).sum()) for status in ("fine", "attention", "problem")}
    result = Result(table, counts)
    return result.shown_by(lambda: check_view.content(result))
