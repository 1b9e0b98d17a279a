"""A chart in a report: what a pointer on its picture reads, for the script that also draws the widget."""

from markupsafe import Markup

from tfprof_nb.render.markup import embedded
from tfprof_nb.render.panels import Bars, Lines, StackedBars
from tfprof_nb.render.readout import readout
from tfprof_nb.render.svg.bars import rows_span, stacked_span
from tfprof_nb.render.svg.lines import lines_span


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
