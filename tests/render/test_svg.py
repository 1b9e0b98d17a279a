"""The pictures: XML that parses, one mark per value, at the place that the value says."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from render import samples
from tfprof_nb.render import bar_layout, theme
from tfprof_nb.render.panels import Bars, Box, Network, Part, Series, Timeline
from tfprof_nb.render.svg import bars as svg_bars
from tfprof_nb.render.svg import lines as svg_lines
from tfprof_nb.render.svg import network as svg_network

SERIES = (theme.BLUE, theme.VERMILLION, theme.YELLOW)
NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ET.fromstring(svg)


def texts(root):
    return [node.text for node in root.iter(f"{NAMESPACE}text")]


def strokes(root, color):
    """(x, bottom, top) of every bar of a colour."""
    paths = [node.get("d") for node in root.iter(f"{NAMESPACE}path") if node.get("stroke") == color]
    return [tuple(map(float, found)) for d in paths for found in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", d)]


@pytest.mark.parametrize("count", [1, 2, 40, 400])
def test_one_bar_per_step_and_series(count):
    root = parsed(svg_bars.stacked_bars(samples.steps(count)))
    assert len(strokes(root, theme.BLUE)) == count
    assert len(strokes(root, theme.VERMILLION)) == count
    assert len(strokes(root, theme.YELLOW)) == 1


def test_bars_stand_on_one_another_in_proportion():
    root = parsed(svg_bars.stacked_bars(samples.steps(3)))
    _, base, top = strokes(root, theme.BLUE)[0]
    _, above_base, above_top = strokes(root, theme.VERMILLION)[0]
    assert above_base == top
    # Ends are rounded to half a pixel.
    assert above_base - above_top == pytest.approx(2 * (base - top), abs=1.5)


def test_marked_bars_are_hatched_and_explained():
    root = parsed(svg_bars.stacked_bars(samples.steps(10)))
    hatched = [node.get("d") for node in root.iter(f"{NAMESPACE}path") if node.get("mask") == "url(#apart)"]
    # Two steps of two series and one that compiled; the last is the legend's.
    assert sum(d.count("V") for d in hatched[:-1]) == 2 + 2 + 1
    assert "hatched: warm-up, not in averages" in texts(root)
    assert "compilation (warm-up)" in texts(root)
    assert root.find(f"{NAMESPACE}mask").get("id") == "apart"


def test_a_bar_that_is_cut_off_keeps_its_proportions_and_says_its_value():
    root = parsed(svg_bars.stacked_bars(samples.steps(10)))
    heights = [strokes(root, color)[-2 if color != theme.YELLOW else 0] for color in SERIES]
    compute, waited, compiled = (bottom - top for _, bottom, top in heights)
    # 1, 2 and 9 ms; ends are rounded to half a pixel.
    assert waited == pytest.approx(2 * compute, abs=1.5)
    assert compiled == pytest.approx(9 * compute, rel=0.05)
    value = next(node for node in root.iter(f"{NAMESPACE}text") if node.text == "12.0 ms")
    assert float(value.get("x")) == pytest.approx(heights[0][0])
    assert 0 < heights[2][2] - float(value.get("y")) < 10


def test_the_legend_stands_below_the_bars_and_says_the_mean():
    root = parsed(svg_bars.stacked_bars(samples.steps(10)))
    legend = next(node for node in root.iter(f"{NAMESPACE}text") if node.text == "input 2.00")
    height = float(root.get("viewBox").split()[-1])
    assert max(y for _, *ends in strokes(root, theme.VERMILLION)[:10] for y in ends) < float(legend.get("y")) < height
    assert "step" in texts(root)
    assert "ms" in texts(root)


def test_more_bars_than_fit_are_averaged_and_say_so():
    root = parsed(svg_bars.stacked_bars(samples.steps(1000)))
    assert len(strokes(root, theme.VERMILLION)) == 334
    assert any("each bar: the mean of 3" in text for text in texts(root))


def test_pale_bars_and_gaps_are_drawn_and_named():
    panel = replace(
        samples.steps(40, ()), pale=(20.0,), pale_label="not recorded", gaps=((10.0, "epoch 2"), (30.0, ""))
    )
    root = parsed(svg_bars.stacked_bars(panel))
    assert {"epoch 2", "pale: not recorded"} <= set(texts(root))
    faint = [node for node in root.iter(f"{NAMESPACE}path") if node.get("stroke-opacity") == str(bar_layout.PALE)]
    assert {node.get("stroke") for node in faint} >= {theme.BLUE, theme.VERMILLION}
    (dashed,) = [node for node in root.iter(f"{NAMESPACE}path") if node.get("stroke-dasharray")]
    assert dashed.get("d").count("M") == 2


def test_missing_values_count_as_zero():
    chart = samples.steps(3)
    holes = Series("input", np.array([2.0, np.nan, 2.0]), theme.VERMILLION)
    root = parsed(svg_bars.stacked_bars(replace(chart, series=[chart.series[0], holes])))
    assert len(strokes(root, theme.VERMILLION)) == 2


def test_hostile_names_are_text():
    root = parsed(svg_bars.bars(samples.bars()))
    assert {node.tag.removeprefix(NAMESPACE) for node in root.iter()} <= {"svg", "g", "path", "rect", "text", "title"}
    assert any("script><img" in text for text in texts(root))


def test_bars_are_in_proportion():
    root = parsed(svg_bars.bars(samples.bars()))
    first, second = (float(node.get("width")) for node in root.iter(f"{NAMESPACE}rect"))
    assert first == pytest.approx(3 * second, rel=0.01)


def test_bars_of_nothing_but_zero_can_be_drawn():
    assert parsed(svg_bars.bars(Bars("Nothing", [Part("a", 0.0, theme.GREY)])))


@pytest.mark.parametrize("stacked", [True, False])
def test_lines_reach_their_peak(stacked):
    root = parsed(svg_lines.lines(samples.memory(stacked=stacked)))
    curves = [
        node.get("d") for node in root.iter(f"{NAMESPACE}path") if theme.TEAL in (node.get("fill"), node.get("stroke"))
    ]
    assert len(curves) == 1
    heights = [float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", curves[0])]
    # The axis is a twenty-fifth higher than the highest value: 10 MiB stacked, 8 MiB alone.
    assert min(heights) == pytest.approx(26 + 174 * (1 - 1 / 1.04), abs=0.5)


def test_lines_differ_by_more_than_colour():
    root = parsed(svg_lines.lines(samples.memory(stacked=False)))
    dashes = [node.get("stroke-dasharray") for node in root.iter(f"{NAMESPACE}path") if node.get("fill") == "none"]
    assert len(dashes) == len(set(dashes)) == 2


def test_timeline_shows_each_track_where_it_is_busy():
    root = parsed(svg_lines.timeline(Timeline("Trace", samples.Events())))
    busy = [node.get("d") for node in root.iter(f"{NAMESPACE}path") if node.get("stroke") == theme.BLUE]
    assert len(busy) == 2
    first, second = (float(re.match(r"M([\d.]+)", d)[1]) for d in busy)
    assert second - first == pytest.approx(330, abs=1)
    assert "2.00 s" in texts(root)


@pytest.mark.parametrize(("color", "text"), [(theme.VERMILLION, "#000"), (theme.BLUE, "#fff"), ("#FFFFFF", "#000")])
def test_text_on_a_colour_is_the_one_that_reads_better(color, text):
    assert svg_bars.readable_on(color) == text


def test_a_network_leads_from_the_sources_down_to_the_end_and_marks_the_bottleneck():
    root = parsed(svg_network.network(samples.pipeline()))
    names = {node.text: (float(node.get("x")), float(node.get("y"))) for node in root.iter(f"{NAMESPACE}text")}
    assert names["Range"][1] < names["Zip"][1] < names["Root"][1]
    assert names["Range"][0] > names["Zip"][0] == names["Root"][0]
    assert texts(root).count("10.0%") == 3
    assert any(text.endswith("bottleneck 70.0%") for text in texts(root))
    boxes = [node for node in root.iter(f"{NAMESPACE}path") if node.get("d").endswith("z") and node.get("stroke")]
    assert [box.get("stroke") for box in boxes] == [theme.VERMILLION, *[svg_network.INK] * 3]


def test_a_box_stands_just_above_the_first_that_it_feeds():
    boxes = [Box("a", (), 0, ()), Box("b", (), 0, (0,)), Box("late", (), 0, ()), Box("sum", (), 0, (1, 2))]
    names = {
        node.text: float(node.get("y"))
        for node in parsed(svg_network.network(Network("", boxes, theme.BLUE))).iter(f"{NAMESPACE}text")
    }
    assert names["a"] < names["late"] == names["b"] < names["sum"]


def layers(count):
    """A network of that many layers beside one another."""
    return Network("", tuple(Box(f"layer {k}", ("Dense",), 1 / count, ()) for k in range(count)), theme.BLUE)


def test_boxes_with_text_stay_legible_in_a_narrow_place():
    for count in (2, 3, 8):
        root = parsed(svg_network.network(layers(count)))
        width = float(root.get("viewBox").split()[2])
        widest, narrowest = map(int, re.fullmatch(r"max-width:(\d+)px;min-width:(\d+)px", root.get("style")).groups())
        assert 9 < 12 * narrowest / width <= 12 * widest / width < 14, "the size of the text"


def test_a_percentage_has_an_axis_of_its_own_and_leaves_the_areas_in_sight():
    chart = samples.memory(3)
    percent = Series("fragmentation (%)", np.array([0.0, 100.0, 50.0]), theme.ROSE)
    drawn = parsed(svg_lines.lines(replace(chart, percent=percent, held=True)))
    by_color = {path.get("stroke"): path for path in drawn.iter(f"{NAMESPACE}path") if path.get("fill") == "none"}
    # The axis goes from 200 (0%) to 26 + 174 * 4/104 (100%); the plot ends 46 pixels before the legend.
    assert re.findall(r"V([\d.]+)", by_color[theme.ROSE].get("d")) == ["32.5", "116.5"]
    assert float(re.findall(r"H([\d.]+)", by_color[theme.ROSE].get("d"))[-1]) == 860 - 150 - 16 - 30
    areas = [path for path in drawn.iter(f"{NAMESPACE}path") if path.get("fill") in (theme.TEAL, theme.WINE)]
    assert len(areas) == 2
    assert {"0%", "50%", "100%", "fragmentation (%)"} <= set(texts(drawn))
    assert "50%" not in texts(parsed(svg_lines.lines(chart)))
