"""One bar per step: of which host, where it stands, and which bars are set apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb.analysis.steps.steps import slowest_host
from tfprof_nb.render.panels import Series, StackedBars
from tfprof_nb.views.categories import Category


def step_bars(title: str, table: pd.DataFrame, parts: dict[str, Category], y_label: str) -> StackedBars:
    """Return bars of steps; those that traced or compiled are marked.

    Of several hosts the slowest is shown: it is the one that the others wait for.

    Parameters
    ----------
    title
        What the bars show; of several hosts the one that is shown is added.
    table
        One row per step and host, with ``host step_ms phase warm_up`` and the parts.
    parts
        What each column is, from the axis upwards; those that are all zero are left out.
    y_label
        What the parts are, and their unit.
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
