"""One bar per step, with warm-up steps marked; of several hosts, the slowest host's."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb.analysis.steps.steps import slowest_host
from tfprof_nb.render.panels import Series, StackedBars
from tfprof_nb.views.categories import Category


def step_bars(title: str, table: pd.DataFrame, parts: dict[str, Category], y_label: str) -> StackedBars:
    """Return one bar per step; warm-up steps are marked.

    Of several hosts the slowest is shown, as the others wait for it.

    Parameters
    ----------
    title
        What the bars show; the name of the host is added if there are several.
    table
        One row per step and host, with ``host step_ms phase warm_up`` and the parts.
    parts
        The category of each column, from the axis upwards; columns of zeros are left out.
    y_label
        The quantity of the parts, and its unit.
    """
    if (hosts := table["host"].nunique()) > 1:
        host = slowest_host(table)
        table, title = table[table["host"] == host], f"{title} on {host}, the slowest of {hosts} hosts"
    shown = [key for key in parts if table[key].any()] or list(parts)[:1]
    series = [
        Series(parts[key].label, table[key].to_numpy(np.float64), parts[key].color, parts[key].meaning) for key in shown
    ]
    x = table.index.to_numpy(np.float64) if table.index.is_unique else np.arange(len(table), dtype=np.float64)
    marked = tuple(x[table["warm_up"].to_numpy(bool)].tolist())
    return StackedBars(title, x, series, "step", y_label, marked, "warm-up", selects="step")
