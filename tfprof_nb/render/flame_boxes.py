"""The boxes of a flame graph as columns: what the widget is sent, and what a report holds for its script."""

from typing import Any

from markupsafe import Markup

from tfprof_nb._units import printable
from tfprof_nb.render.markup import embedded
from tfprof_nb.render.panels import Flame

_LONGEST = 300  # characters of a name


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
