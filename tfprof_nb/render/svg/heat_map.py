"""SVG of a heat map: rows of cells in shades of one colour, which reads on white and on black."""

import numpy as np
from markupsafe import Markup

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb._units import cell, count, shorten
from tfprof_nb.render.panels import HeatMap
from tfprof_nb.render.svg.picture import FONT, INK, WIDTH, Picture, compact, text_width

SHADES = (0.1, 0.3, 0.5, 0.75, 1.0)  # opacities, from the smallest values to the largest
MAX_ROWS, MAX_COLUMNS = 48, 80
# What is larger than nearly all has the darkest shade, too: one outlier must not make all others alike.
_OUTLIERS_FROM = 0.99
_ROOM_FOR_NAMES, _TOP, _BOTTOM, _TALLEST = 200.0, 6.0, 58.0, 22.0
_LEAST_PITCH = 13.0  # of names that stand below each other


def heat_map(chart: HeatMap) -> Markup:
    """Draw the cells, the names of as many rows as have room, the first and last column, and what the shades mean."""
    values = reduced(chart.values)
    shades, bounds = shaded(values)
    names = [shorten(name, 28) for name in chart.rows[: len(values)]]
    left = min(_ROOM_FOR_NAMES, max(map(text_width, names)) + 12)
    high = min(_TALLEST, max(8.0, 420 / len(values)))
    wide = (WIDTH - left - 8) / values.shape[1]
    bottom = _TOP + high * len(values)
    picture = Picture(label(chart), bottom + _BOTTOM)
    for shade, opacity in enumerate(SHADES):
        runs = [_run(left, _TOP, wide, high, *run) for run in _runs(shades == shade)]
        if runs:
            picture.path("".join(runs), fill=chart.color, fill_opacity=opacity)
    for row in range(0, len(names), int(np.ceil(_LEAST_PITCH / high))):
        picture.text(left - 6, _TOP + high * (row + 0.5) + 4, names[row], "end")
    picture.text(left, bottom + 16, str(chart.columns[0]))
    picture.text(WIDTH - 8, bottom + 16, str(chart.columns[-1]), "end")
    picture.text(left + (WIDTH - 8 - left) / 2, bottom + 16, chart.column_label, "middle")
    picture.text(left - 6, bottom + 16, chart.row_label, "end")
    _legend(picture, chart, bounds, left, bottom + 44)
    return picture.svg()


def reduced(values: Floats) -> Floats:
    """Return the first rows, and means of neighbouring columns where there are too many to be seen."""
    values = values[:MAX_ROWS]
    if values.shape[1] <= MAX_COLUMNS:
        return values
    starts = np.linspace(0, values.shape[1], MAX_COLUMNS + 1).astype(np.int64)[:-1]
    known = np.isfinite(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts, axis=1)
    counts = np.add.reduceat(known.astype(np.float64), starts, axis=1)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def shaded(values: Floats) -> tuple[Int64, Floats]:
    """Return the shade of each value, -1 where there is none, and the least value of each shade.

    Examples
    --------
    >>> shades, bounds = shaded(np.array([[1.0, 2.0, np.nan, 6.0]]))
    >>> shades.tolist(), bounds.tolist()
    ([[0, 1, -1, 4]], [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    known = values[np.isfinite(values)]
    low, high = (float(np.quantile(known, part, method="higher")) for part in (0.0, _OUTLIERS_FROM))
    bounds = low + (high - low) * np.arange(len(SHADES)) / len(SHADES)
    found = np.searchsorted(bounds[: 1 if high <= low else None], np.nan_to_num(values, nan=low), side="right") - 1
    shades = np.where(np.isfinite(values), np.clip(found, 0, len(SHADES) - 1), -1)
    return shades.astype(np.int64), bounds


def label(chart: HeatMap) -> str:
    """Say what is darkest."""
    means = np.array([row[np.isfinite(row)].mean() if np.isfinite(row).any() else -np.inf for row in chart.values])
    most = int(means.argmax())
    return (
        f"{chart.title}: {count(len(chart.rows))} {chart.row_label}; the largest mean has {chart.rows[most]}, "
        f"{cell(float(means[most]), chart.unit)}"
    )


def _runs(chosen: np.ndarray) -> list[tuple[int, int, int]]:
    """Return row, first column and length of neighbouring cells of one shade."""
    padded = np.pad(chosen.astype(np.int8), ((0, 0), (1, 1)))
    rows, starts = np.nonzero(np.diff(padded, axis=1) == 1)
    _, ends = np.nonzero(np.diff(padded, axis=1) == -1)
    return [(int(row), int(start), int(end - start)) for row, start, end in zip(rows, starts, ends, strict=True)]


def _run(left: float, top: float, wide: float, high: float, row: int, start: int, length: int) -> str:
    x, y = compact(left + wide * start), compact(top + high * row)
    width = compact(wide * length)
    return f"M{x} {y}h{width}v{compact(high - 1)}h-{width}z"


def _legend(picture: Picture, chart: HeatMap, bounds: Floats, left: float, y: float) -> None:
    x = left
    texts = {
        f"from {cell(float(bound), chart.unit)}": opacity
        for bound, opacity in zip(bounds[::-1], SHADES[::-1], strict=True)
    }
    for text, opacity in reversed(texts.items()):  # one if all values are alike
        picture.path(f"M{compact(x)} {compact(y - 9)}h10v10h-10z", fill=chart.color, fill_opacity=opacity)
        picture.text(x + 15, y, text, color=INK)
        x += text_width(text) + FONT + 21
