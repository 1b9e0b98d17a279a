"""What a pointer on a chart reads: names, colours and values (see ``js/src/readout``); and the legend of bars."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb._units import cell, number, shorten
from tfprof_nb.render.panels import Bars, Lines, Series, StackedBars
from tfprof_nb.render.thinning import thin_bars, thin_lines

# The background of a legend's swatch, in CSS.
_HATCHED = "repeating-linear-gradient(135deg, #8a8a8a 0 2px, transparent 2px 4px)"
_PALE = "rgba(138, 138, 138, .45)"


def readout(panel: StackedBars | Lines | Bars) -> dict[str, Any]:
    """Return what the chart of a panel says at each of its marks, and in its legend."""
    match panel:
        case StackedBars():
            return _of_stacked_bars(panel)
        case Lines():
            return _of_lines(panel)
        case Bars():
            places = [f"{shorten(part.label, 400)}: {cell(part.value, panel.unit)}" for part in panel.parts]
            return {"x": places, "x_label": "", "entries": [], "summary": "", "notes": []}


def used(panel: StackedBars) -> StackedBars:
    """Return the panel without the series that are zero everywhere; with one if all are."""
    layers = [layer for layer in panel.series if np.nan_to_num(layer.values).any()]
    return replace(panel, series=layers or list(panel.series[:1]))


def _of_stacked_bars(panel: StackedBars) -> dict[str, Any]:
    whole = used(panel)
    drawn, _ = thin_bars(whole)
    legend = _entries(drawn.series, legend_values(whole))
    if panel.marked_label and len(drawn.marked):
        legend.append({"label": hatched_label(panel.marked_label), "color": _HATCHED, "values": [], "mean": ""})
    if panel.pale_label and len(drawn.pale):
        legend.append({"label": pale_label(panel.pale_label), "color": _PALE, "values": [], "mean": ""})
    places = [shorten(name, 400) for name in drawn.names] or np.asarray(drawn.x, dtype=np.float64).tolist()
    return {"x": places, "x_label": panel.x_label, "entries": legend, "summary": legend_title(panel), "notes": []}


def _of_lines(panel: Lines) -> dict[str, Any]:
    curves = [*panel.series, *([panel.percent] if panel.percent else [])]
    means = [number(float(np.nan_to_num(curve.values).mean())) for curve in curves]
    drawn = thin_lines(panel)
    return {
        "x": [float(f"{v:.6g}") for v in np.asarray(drawn.x, dtype=np.float64)],
        "x_label": panel.x_label.split(",")[0],
        "entries": _entries([*drawn.series, *([drawn.percent] if drawn.percent else [])], means),
        "summary": f"mean, {panel.y_label}",
        "notes": [shorten(note, 400) for note in drawn.notes],
    }


def _entries(series: Sequence[Series], means: Sequence[str]) -> list[dict[str, Any]]:
    """Return the legend's entry for each series: its values, and its mean, which is shown at rest."""
    return [
        {
            "label": item.label,
            "title": item.meaning,
            "color": item.color,
            "values": [float(f"{v:.4g}") if np.isfinite(v) else None for v in np.asarray(item.values, dtype=float)],
            "mean": mean,
        }
        for item, mean in zip(series, means, strict=True)
    ]


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
