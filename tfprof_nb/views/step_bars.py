"""One bar per step, with those that are not in averages marked; of several hosts, the slowest host's."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import axis_unit, milliseconds
from tfprof_nb.analysis.steps.steps import is_measured, slowest_host
from tfprof_nb.analysis.steps.unrecorded import timed_steps
from tfprof_nb.render.panels import Series, StackedBars
from tfprof_nb.views.categories import Category

_MANY_GAPS = 24
_UNRECORDED = "ops not recorded, parts estimated"


def step_bars(title: str, table: pd.DataFrame, parts: dict[str, Category], quantity: str) -> StackedBars:
    """Return one bar per step; warm-up steps and those of other phases are marked, as averages exclude them.

    Of several hosts the slowest is shown, as the others wait for it.

    Parameters
    ----------
    title
        What the bars show; the name of the host is added if there are several.
    table
        One row per step and host, with ``host step_ms phase warm_up`` and the parts.
    parts
        The category of each column, from the axis upwards; columns of zeros are left out.
    quantity
        The quantity of the parts. Its unit is the one in which the average step is a number for people.
    """
    table = table.assign(measured=is_measured(table))
    if (hosts := table["host"].nunique()) > 1:
        host = slowest_host(table)
        table, title = table[table["host"] == host], f"{title} on {host}, the slowest of {hosts} hosts"
    shown = [key for key in parts if table[key].any()] or list(parts)[:1]
    total = table[shown].sum(axis=1)
    unit, symbol, per_ms = axis_unit(float(total[table["measured"]].mean() or total.mean()))
    series = [
        Series(parts[key].label, per_ms * table[key].to_numpy(np.float64), parts[key].color, parts[key].meaning)
        for key in shown
    ]
    x = table.index.to_numpy(np.float64) if table.index.is_unique else np.arange(len(table), dtype=np.float64)
    marked = tuple(x[~table["measured"].to_numpy(bool)].tolist())
    recorded = table["ops_recorded"].to_numpy(bool) if "ops_recorded" in table else np.ones(len(table), bool)
    some = recorded.any() and not recorded.all()
    timed = timed_steps(table[table["measured"]]).index if "ops_recorded" in table else table.index
    return StackedBars(
        title,
        x,
        series,
        "step",
        f"{quantity} ({symbol})",
        marked,
        _excluded(table),
        selects="step",
        unit=unit,
        pale=tuple(x[~recorded].tolist()) if some else (),
        pale_label=_UNRECORDED if some else "",
        gaps=_gaps(table, x),
        uncounted=tuple(x[~table.index.isin(timed)].tolist()),
    )


def _gaps(table: pd.DataFrame, x: Floats) -> tuple[tuple[float, str], ...]:
    """Find where steps do not follow one another: between epochs, and where something else took long."""
    if "start_ms" not in table:
        return ()
    start, length = (table[name].to_numpy(np.float64) for name in ("start_ms", "step_ms"))
    between = start[1:] - (start + length)[:-1]
    epoch = table["epoch"].fillna(-1).to_numpy(np.int64) if "epoch" in table else np.zeros(len(table), np.int64)
    long = between > np.median(length) if len(length) else np.zeros(0, bool)
    new = (np.diff(epoch) != 0) if len(epoch) else long
    missing = np.diff(x) > 1
    if (new | long | missing).sum() > _MANY_GAPS:
        new, long, missing = new & False, long & (between >= np.sort(between)[-_MANY_GAPS:][0]), missing & False
    found = np.flatnonzero(new | long | missing)
    return tuple(
        (float(x[k + 1]), _gap_name(epoch[k + 1] if new[k] else -1, between[k] if long[k] else 0)) for k in found
    )


def _gap_name(epoch: int, gap_ms: float) -> str:
    """Name a gap by its length, else by the epoch that begins; epochs are counted from 1, as Keras prints them."""
    if gap_ms > 0:
        return f"{milliseconds(gap_ms)} gap"
    return f"epoch {epoch + 1}" if epoch >= 0 else ""


def _excluded(table: pd.DataFrame) -> str:
    """Name the steps that averages exclude: warm-up, and phases other than the one that counts."""
    without = table[~table["measured"]]
    phases = without.loc[~without["warm_up"].astype(bool), "phase"].unique().tolist()
    return ", ".join([*(["warm-up"] if without["warm_up"].any() else []), *phases])
