"""The texts of a bar chart's legend, the same in SVG, bqplot and text.

In: panels. Out: text.
"""

import numpy as np

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
    """Return the mean of each series over the bars that are not marked; over all bars if every one is marked."""
    marked = np.isin(chart.x, np.asarray(chart.marked))
    counted = ~marked if not marked.all() else np.ones_like(marked)
    return [float(np.nan_to_num(layer.values)[counted].mean()) for layer in chart.series]


def hatched_label(label: str) -> str:
    """Return the legend's text for hatched bars."""
    return f"hatched: {label}, not in averages"


def pale_label(label: str) -> str:
    """Return the legend's text for pale bars."""
    return f"pale: {label}"
