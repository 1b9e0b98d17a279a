"""What goes on between steps: above all fetching data outside the marks, where no step counts the wait."""

from __future__ import annotations

import numpy as np

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.steps.groups import Grouping

_FETCHES = ("IteratorGetNext", "EagerLocalExecute: IteratorGetNext")


def input_between_steps_ps(forest: Forest, grouping: Grouping) -> int:
    """Return for how long threads with step marks fetched data between the first mark and the last, in no step."""
    host, spans = forest.host, grouping.spans
    marks = spans["row"].to_numpy(np.int64)
    marks = marks[marks >= 0]
    if grouping.source not in ("marked", "keras") or not len(marks):
        return 0
    has_marks = np.zeros(len(host.lines), dtype=bool)
    has_marks[host.line[marks]] = True
    rows = np.flatnonzero(forest.names_starting(*_FETCHES)[host.metadata] & has_marks[host.line])
    rows = rows[~np.isin(grouping.group[rows], spans["group"])]
    start = host.start_ps[rows]
    rows = rows[(start >= spans["start_ps"].min()) & (start < spans["end_ps"].max())]
    rows = rows[np.argsort(host.start_ps[rows], kind="stable")]
    return int(newly_covered(host.start_ps[rows], host.start_ps[rows] + host.duration_ps[rows]).sum())
