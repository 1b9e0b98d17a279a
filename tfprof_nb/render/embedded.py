"""What a report's script draws: data of charts, tables and timelines in script elements, which browsers don't run."""

import json
import zlib
from typing import Any

from markupsafe import Markup

from tfprof_nb._units import printable
from tfprof_nb.render.markup import base64_of, element, embedded
from tfprof_nb.render.panels import Bars, Flame, Lines, StackedBars, Table, TimelineSource
from tfprof_nb.render.readout import readout
from tfprof_nb.render.svg.bars import rows_span, stacked_span
from tfprof_nb.render.svg.lines import lines_span
from tfprof_nb.render.table.format import columns_of, cut_notice, encode_table, flat

_LONGEST = 300  # characters of a name
# More rows make a report slow to open.
_MAX_ROWS = 5000
_MAX_BINS, _MIN_BINS = 65_536, 64
_MAX_HEIGHT = 480  # CSS pixels


def boxes(panel: Flame) -> dict[str, list[Any]]:
    """Return the columns that are sent to the browser; times have six digits."""
    frame = panel.frame
    texts = list(dict.fromkeys(frame["name"]))
    number = {text: k for k, text in enumerate(texts)}
    times = {name: [float(f"{value:.6g}") for value in frame[name]] for name in ("start", "total", "own")}
    return {
        "names": [printable(str(text))[:_LONGEST] for text in texts],
        "name": [number[text] for text in frame["name"]],
        "depth": [int(depth) for depth in frame["depth"]],
        "color": [str(color) for color in frame["color"]],
        **times,
    }


def embedded_flame(panel: Flame) -> Markup:
    """Put a flame graph's boxes into a script element that browsers don't run."""
    data = {"boxes": boxes(panel), "legend": [list(entry) for entry in panel.legend]}
    return embedded(data, "tfp-flame-data")


def embedded_chart(panel: StackedBars | Lines | Bars) -> Markup:
    """Put a chart's values into a script element that browsers don't run."""
    data = {"title": panel.title, "rows": isinstance(panel, Bars), "span": _span(panel), **readout(panel)}
    return embedded(data, "tfp-chart-data")


def _span(panel: StackedBars | Lines | Bars) -> tuple[float, float]:
    """Return where in the picture the middles of its first and last marks are, as shares of its width or height."""
    match panel:
        case Bars():
            return rows_span(panel)
        case Lines():
            return lines_span(panel)
        case StackedBars():
            return stacked_span(panel)


def embedded_table(panel: Table) -> Markup:
    """Put a table's rows into a script element that browsers don't run; the report's script draws them.

    Parameters
    ----------
    panel
        The table; of more than 5,000 rows only the first are embedded, with a notice.
    """
    panel = flat(panel)
    columns = columns_of(panel)
    headers, buffers, depths = encode_table(panel.frame.head(_MAX_ROWS), columns, panel.depth)
    data = {
        "title": panel.title,
        "rows": min(len(panel.frame), _MAX_ROWS),
        "columns": headers,
        "buffers": [base64_of(values) for values in buffers],
        "depths": base64_of(depths),
        "selected_row": None,
    }
    script = embedded(data, "tfp-table-data")
    notice = cut_notice(min(len(panel.frame), _MAX_ROWS), len(panel.frame), "rows", panel)
    return script + element("p", f"The first {notice}") if notice else script


def embedded_timeline(source: TimelineSource, budget_bytes: int) -> Markup:
    """Put a timeline's events into a script element that browsers don't run; the report's script draws them.

    It contains all events if they fit, otherwise the finest level of detail that does, with a visible notice. It lacks
    the events' stats.

    Parameters
    ----------
    budget_bytes
        The most that the HTML may take; the coarsest level, some 20 kB, is returned in any case.
    """
    data = _timeline_data(source.header(), source.payload())
    return data if len(data) <= budget_bytes else _finest_timeline(source, budget_bytes)


def _finest_timeline(source: TimelineSource, budget_bytes: int) -> Markup:
    """Return the finest level that fits, where each level has twice as many bins; the coarsest if none does."""
    bins = _MIN_BINS
    data = _timeline_data(*source.level(bins))
    while bins < _MAX_BINS and len(finer := _timeline_data(*source.level(2 * bins))) <= budget_bytes:
        data, bins = finer, 2 * bins
    return data


def _timeline_data(header: dict[str, object], payload: bytes) -> Markup:
    packed = zlib.compress(json.dumps(header | {"alone": True}).encode(), level=9)
    data = {"header": base64_of(packed), "payload": base64_of(payload), "height": _MAX_HEIGHT}
    # Numbers and base64 have no characters that end the element.
    return element("script", Markup(json.dumps(data)), type="application/json", class_="tfp-trace-data")  # noqa: S704
