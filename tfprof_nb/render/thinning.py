"""How charts with more bars or points than fit are thinned out: bars to their means, lines to their peaks."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
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
        replace(layer, values=np.add.reduceat(np.nan_to_num(layer.values.astype(np.float64)), starts) / sizes)
        for layer in chart.series
    ]
    marked = np.isin(chart.x, np.asarray(chart.marked))
    thinned_marked = np.logical_or.reduceat(marked, starts)
    thinned_pale = np.logical_and.reduceat(np.isin(chart.x, np.asarray(chart.pale)), starts)
    x = np.asarray(chart.x)[starts]
    marked_x, pale_x = ([float(v) for v in x[chosen]] for chosen in (thinned_marked, thinned_pale))
    return replace(chart, x=x, series=series, marked=marked_x, pale=pale_x, names=()), per_bar


def thin_lines(chart: Lines, limit: int = MAX_POINTS) -> Lines:
    """Keep the first and the last point and, of each run of neighbours, the highest, if there are more than ``limit``.

    Peaks are what a reader looks for in memory and rate curves, so they must survive.
    """
    count = len(chart.x)
    if count <= limit:
        return chart
    totals = stack([curve.values for curve in chart.series])[-1]
    keep = np.unique(np.r_[0, _peaks(totals, np.arange(count) // -(-count // limit)), count - 1])
    series = [replace(curve, values=np.asarray(curve.values)[keep]) for curve in chart.series]
    notes = [chart.notes[k] for k in keep] if chart.notes else ()
    percent = chart.percent and replace(chart.percent, values=np.asarray(chart.percent.values)[keep])
    return replace(chart, x=np.asarray(chart.x)[keep], series=series, notes=notes, percent=percent)


def thin_rows(frame: pd.DataFrame, column: str, limit: int = MAX_POINTS) -> pd.DataFrame:
    """Keep ``limit`` rows of a frame with more: of each run of neighbours the one with the highest value in a column.

    Examples
    --------
    >>> thin_rows(pd.DataFrame({"bytes": [1, 5, 2, 3, 3, 0]}), "bytes", limit=3).index.tolist()
    [1, 3, 4]
    """
    count = len(frame)
    runs = np.arange(count) * limit // max(count, limit)
    return frame.iloc[_peaks(frame[column].to_numpy(np.float64), runs)]


def _peaks(values: Floats, runs: Int64) -> Int64:
    """Return the position of the highest value of each run, the first of equal ones; runs are numbered from 0 on."""
    highest = np.maximum.reduceat(values, np.flatnonzero(np.diff(runs, prepend=-1)))
    at = np.flatnonzero(values == highest[runs])
    return at[np.unique(runs[at], return_index=True)[1]]
