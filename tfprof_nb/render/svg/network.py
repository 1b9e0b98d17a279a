"""SVG of a network: boxes in levels, each below all that feed it."""

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from tfprof_nb._units import percent, shorten
from tfprof_nb.render.panels import Box, Network
from tfprof_nb.render.svg.picture import INK, WIDTH, Picture, compact, legible
from tfprof_nb.render.theme import VERMILLION

_LINE, _GAP, _BAR = 16, 22, 5
_WIDEST, _NARROWEST, _SPACE = 420.0, 150.0, 14.0
_LANE = 9  # between arrows that pass boxes by
_CHARACTER, _BOLD = 6.6, 7.8


def network(chart: Network) -> Markup:
    """Draw each box with its lines and a bar for its share; arrows that skip a level pass on the right."""
    boxes = chart.boxes
    level, column = _places(boxes)
    columns = max(column) + 1
    skips = _lanes(boxes, level)
    margin = _LANE * (max(skips.values(), default=-1) + 2)
    wide = min(_WIDEST, max(_NARROWEST, (WIDTH - margin) / columns - _SPACE))
    width = columns * (wide + _SPACE) + margin
    height = 12 + _LINE * (1 + max(len(box.lines) for box in boxes)) + _BAR
    per_level = Counter(level)
    picture = Picture(_label(chart), (max(level) + 1) * (height + _GAP) - _GAP + 8, width)
    middles = [(width - margin) * (x + 0.5) / per_level[y] for x, y in zip(column, level, strict=True)]
    tops = [4.0 + y * (height + _GAP) for y in level]
    right = max(middles) + wide / 2
    for k, box in enumerate(boxes):
        for source in box.inputs:
            end = (middles[k], tops[k])
            if (source, k) in skips:
                lane = right + _LANE * (skips[source, k] + 1)
                _around(picture, (middles[source] + wide / 2, tops[source] + height / 2), lane, end, wide)
            else:
                _down(picture, (middles[source], tops[source] + height), end)
        _box(picture, box, middles[k] - wide / 2, tops[k], wide, height, chart.color)
    return picture.svg(legible(width))


def _places(boxes: Sequence[Box]) -> tuple[list[int], list[int]]:
    """Return the level of each box, below what feeds it and next to the first that it feeds, and its number there."""
    level: list[int] = []
    fed: list[list[int]] = [[] for _ in boxes]
    for k, box in enumerate(boxes):
        before = [source for source in box.inputs if source < k]
        level.append(1 + max((level[source] for source in before), default=-1))
        for source in before:
            fed[source].append(k)
    for k in reversed(range(len(boxes))):
        level[k] = min((level[other] for other in fed[k]), default=level[k] + 1) - 1
    seen: Counter[int] = Counter()
    column: list[int] = []
    for one in level:
        column.append(seen[one])
        seen[one] += 1
    return level, column


def _lanes(boxes: Sequence[Box], level: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return a lane for each arrow that does not end one level below its start; lanes are shared where free."""
    arrows = [
        (level[source], level[k], source, k)
        for k, box in enumerate(boxes)
        for source in box.inputs
        if level[k] != level[source] + 1
    ]
    until: list[int] = []
    lanes: dict[tuple[int, int], int] = {}
    for start, end, source, k in sorted(arrows):
        lane = next((lane for lane, last in enumerate(until) if last <= start), len(until))
        until[lane:] = [max(start, end), *until[lane + 1 :]]
        lanes[source, k] = lane
    return lanes


def _box(picture: Picture, box: Box, x: float, y: float, width: float, height: float, color: str) -> None:
    outline = f"M{compact(x)} {compact(y)}h{compact(width)}v{compact(height)}h{compact(-width)}z"
    edge, wide = (VERMILLION, 3) if box.mark else (INK, 1)
    picture.path(outline, fill="none", stroke=edge, stroke_width=wide)
    color, share = VERMILLION if box.mark else color, " ".join(filter(None, (box.mark, percent(100 * box.share))))
    picture.rect(x, y + height - _BAR, width * min(1.0, box.share), _BAR, color, f"{box.name}: {share}")
    room = int((width - 24 - len(share) * _BOLD) / _BOLD)
    picture.text(x + 8, y + _LINE + 1, shorten(box.name, max(4, room)), weight=600)
    picture.text(x + width - 8, y + _LINE + 1, share, "end", edge, 600)
    for k, line in enumerate(box.lines):
        picture.text(x + 8, y + _LINE * (k + 2) + 1, shorten(line, int((width - 16) / _CHARACTER)))


def _down(picture: Picture, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x, y), (to_x, to_y) = start, end
    bend = (y + to_y) / 2
    line = f"M{compact(x)} {compact(y)}V{compact(bend)}H{compact(to_x)}V{compact(to_y - 5)}"
    picture.path(line, fill="none", stroke=INK, stroke_width=1.3)
    _head(picture, to_x, to_y)


def _around(picture: Picture, start: tuple[float, float], lane: float, end: tuple[float, float], width: float) -> None:
    (x, y), (middle, to_y) = start, end
    to_x = middle + width / 2 - 16
    line = f"M{compact(x)} {compact(y)}H{compact(lane)}V{compact(to_y - 11)}H{compact(to_x)}V{compact(to_y - 5)}"
    picture.path(line, fill="none", stroke=INK, stroke_width=1.3)
    _head(picture, to_x, to_y)


def _head(picture: Picture, x: float, y: float) -> None:
    picture.path(f"M{compact(x - 4)} {compact(y - 6)}h8l-4 6z", fill=INK)


def _label(chart: Network) -> str:
    most = max(chart.boxes, key=lambda box: box.share)
    return f"{len(chart.boxes)} layers; {most.name} takes the most, {percent(100 * most.share)}"
