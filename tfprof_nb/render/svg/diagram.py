"""SVG of a diagram: boxes, from the sources down to the end.

In: a Diagram panel. Out: SVG.
"""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from tfprof_nb._units import shorten
from tfprof_nb.render.panels import Diagram, Node
from tfprof_nb.render.svg.picture import INK, WIDTH, Picture, compact, legible, text_width
from tfprof_nb.render.theme import VERMILLION

_LINE = 16
_BOLD = 8.0  # width of a bold character, rather wide
_GAP = 26
_MIN_WIDTH, _MAX_WIDTH = 200.0, 300.0
_SPACE = 18.0
_PATH_INK = "#8a8a8a"


def diagram(chart: Diagram) -> Markup:
    """Draw the critical path bold, the bottleneck labelled and in a colour of its own, other nodes dashed."""
    places = _places(chart.nodes)
    columns = max(x for x, _ in places) + 1
    box = min(_MAX_WIDTH, max(_MIN_WIDTH, WIDTH / columns - _SPACE))
    width = columns * (box + _SPACE)
    height = 12 + _LINE * (1 + max(len(node.lines) for node in chart.nodes))
    depth = max(y for _, y in places)
    picture = Picture(_label(chart), (depth + 1) * (height + _GAP) + 4, width)
    middles = [(width * (x + 0.5) / columns, 4 + (depth - y) * (height + _GAP)) for x, y in places]
    for node, (x, y) in zip(chart.nodes, middles, strict=True):
        if node.feeds is not None:
            _arrow(picture, (x, y + height), middles[node.feeds], node.kind)
        _box(picture, node, x - box / 2, y, box, height)
    return picture.svg(legible(width))


def _places(nodes: Sequence[Node]) -> list[tuple[float, int]]:
    """Return per node its column and its distance from the end; a node is centred below the nodes that feed it."""
    feeding: dict[int | None, list[int]] = {}
    for k, node in enumerate(nodes):
        feeding.setdefault(node.feeds, []).append(k)
    order = [(end, 0) for end in feeding.get(None, [])]
    for k, depth in order:
        order += [(source, depth + 1) for source in feeding.get(k, [])]
    columns: dict[int, float] = {}
    for column, k in enumerate(_sources(feeding)):
        columns[k] = float(column)
    for k, _ in reversed(order):
        if k in feeding:
            columns[k] = (columns[feeding[k][0]] + columns[feeding[k][-1]]) / 2
    depths = dict(order)
    return [(columns[k], depths[k]) for k in range(len(nodes))]


def _sources(feeding: Mapping[int | None, Sequence[int]]) -> Iterator[int]:
    """Yield the nodes that nothing feeds, branch by branch; ``feeding`` has the nodes that feed each."""
    stack = [*reversed(feeding.get(None, []))]
    while stack:
        k = stack.pop()
        if k not in feeding:
            yield k
        stack.extend(reversed(feeding.get(k, [])))


def _box(picture: Picture, node: Node, x: float, y: float, width: float, height: float) -> None:
    color = VERMILLION if node.kind == "bottleneck" else INK
    style = {"plain": (1, "4 3"), "path": (2.5, ""), "bottleneck": (3, "")}[node.kind]
    outline = f"M{compact(x)} {compact(y)}h{compact(width)}v{compact(height)}h{compact(-width)}z"
    dashes = {"stroke_dasharray": style[1]} if style[1] else {}
    picture.path(outline, fill="none", stroke=color, stroke_width=style[0], **dashes)
    label = "bottleneck" if node.kind == "bottleneck" else ""
    room = int((width - 28 - text_width(label)) / _BOLD)
    weight = None if node.kind == "plain" else 600
    picture.text(x + 8, y + _LINE + 2, shorten(node.name, room), color=color, weight=weight)
    if label:
        picture.text(x + width - 8, y + _LINE + 2, label, "end", color, 600)
    for k, line in enumerate(node.lines):
        picture.text(x + 8, y + _LINE * (k + 2) + 2, shorten(line, int((width - 16) / 6.2)))


def _arrow(picture: Picture, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
    (x, y), (to_x, to_y) = start, end
    bold = kind != "plain"
    color = INK if bold else _PATH_INK
    bend = (y + to_y) / 2
    line = f"M{compact(x)} {compact(y)}V{compact(bend)}H{compact(to_x)}V{compact(to_y - 5)}"
    dashes = {} if bold else {"stroke_dasharray": "4 3"}
    picture.path(line, fill="none", stroke=color, stroke_width=2.5 if bold else 1, **dashes)
    picture.path(f"M{compact(to_x - 4)} {compact(to_y - 6)}h8l-4 6z", fill=color)


def _label(chart: Diagram) -> str:
    worst = next((node.name for node in chart.nodes if node.kind == "bottleneck"), "")
    return f"{chart.title}: {len(chart.nodes)} stages" + (f", the bottleneck is {worst}" if worst else "")
