"""The texts of a bar chart's legend, the same in SVG, bqplot and text.

In: panels. Out: text.
"""

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb._units import number
from tfprof_nb.render.panels import StackedBars


def legend_title(chart: StackedBars) -> str:
    """Return what the numbers in the legend are, with their unit."""
    return f"mean, {chart.y_label}"


def legend_values(chart: StackedBars) -> list[str]:
    """Return the mean of each series; a series that only marked bars have gets their label instead."""
    return [
        f"({chart.marked_label})" if not mean and np.nan_to_num(layer.values).any() else number(mean)
        for layer, mean in zip(chart.series, means(chart), strict=True)
    ]


def means(chart: StackedBars) -> list[float]:
    """Return the mean of each series over the bars in averages."""
    return [float(np.nan_to_num(layer.values)[counted(chart)].mean()) for layer in chart.series]


def counted(chart: StackedBars) -> Bools:
    """Return which bars are in averages: those neither marked nor uncounted; all if there are none."""
    others: Bools = ~np.isin(chart.x, [*chart.marked, *chart.uncounted])
    return others if others.any() else ~others


def hatched_label(label: str) -> str:
    """Return the legend's text for hatched bars."""
    return f"hatched: {label}, not in averages"


def pale_label(label: str) -> str:
    """Return the legend's text for pale bars."""
    return f"pale: {label}"
