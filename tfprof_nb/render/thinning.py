"""How charts with more bars or points than fit are thinned out: bars to their means, lines to their peaks.

In: panels. Out: panels with fewer values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfprof_nb.render.bar_layout import stack
from tfprof_nb.render.panels import Lines, StackedBars

MAX_BARS = 400
MAX_POINTS = 1000


def thin_bars(chart: StackedBars, limit: int = MAX_BARS) -> tuple[StackedBars, int]:
    """Replace neighbouring bars by their mean if there are more than ``limit``.

    Returns
    -------
    chart, per_bar
        The chart to draw, and how many of the original bars each of its bars stands for.
    """
    count = len(chart.x)
    per_bar = -(-count // limit)
    if per_bar <= 1:
        return chart, 1
    starts = np.arange(0, count, per_bar)
    sizes = np.diff(np.append(starts, count))
    series = [
        replace(one, values=np.add.reduceat(np.nan_to_num(one.values.astype(np.float64)), starts) / sizes)
        for one in chart.series
    ]
    marked = np.isin(chart.x, np.asarray(chart.marked))
    thinned_marked = np.logical_or.reduceat(marked, starts)
    x = np.asarray(chart.x)[starts]
    return replace(chart, x=x, series=series, marked=[float(v) for v in x[thinned_marked]], names=()), per_bar


def thin_lines(chart: Lines, limit: int = MAX_POINTS) -> Lines:
    """Keep the first and the last point and, of each run of neighbours, the highest, if there are more than ``limit``.

    Peaks are what a reader looks for in memory and rate curves, so they must survive.
    """
    count = len(chart.x)
    per_point = -(-count // limit)
    if per_point <= 1:
        return chart
    total = stack([one.values for one in chart.series])[-1]
    padded = np.full(-(-count // per_point) * per_point, -np.inf)
    padded[:count] = total
    runs = padded.reshape(-1, per_point)
    keep = np.unique(np.r_[0, runs.argmax(axis=1) + np.arange(len(runs)) * per_point, count - 1])
    series = [replace(one, values=np.asarray(one.values)[keep]) for one in chart.series]
    notes = [chart.notes[k] for k in keep] if chart.notes else ()
    return replace(chart, x=np.asarray(chart.x)[keep], series=series, notes=notes)
