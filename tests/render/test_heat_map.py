"""Heat maps: shades, what is drawn of many rows and columns, and of missing values."""

import re

import numpy as np

from tfprof_nb.render.html import chart_svg, draw
from tfprof_nb.render.panels import HeatMap
from tfprof_nb.render.selection import Selection
from tfprof_nb.render.svg.heat_map import MAX_COLUMNS, MAX_ROWS, reduced
from tfprof_nb.render.text import draw as as_text
from tfprof_nb.render.widgets import build


def panel(values):
    values = np.array(values, dtype=np.float64)
    rows, columns = values.shape
    return HeatMap("Steps", values, [f"host{k}" for k in range(rows)], range(columns), "host", "step", "#D55E00")


def test_each_shade_is_a_path_of_the_cells_that_have_it():
    svg = chart_svg(panel([[1, 2, np.nan, 6], [1, 1, 1, 1]]))
    opacities = re.findall(r'd="([^"]*)"[^>]*fill-opacity="([0-9.]+)"', svg)
    cells = {opacity: d.count("M") for d, opacity in opacities if "h10v10" not in d}
    # The ones stand side by side in each row: a run of four, and a single one.
    assert cells == {"0.1": 2, "0.3": 1, "1.0": 1}
    assert 'aria-label="Steps: 2 host; the largest mean has host0, 3.00 ms"' in svg


def test_columns_that_are_too_many_to_be_seen_are_averaged_and_rows_left_out():
    values = np.tile(np.arange(2.0 * MAX_COLUMNS), (MAX_ROWS + 5, 1))
    values[0, :2] = np.nan
    found = reduced(values)
    assert found.shape == (MAX_ROWS, MAX_COLUMNS)
    assert found[1, :3].tolist() == [0.5, 2.5, 4.5]
    assert np.isnan(found[0, 0])


def test_one_outlier_does_not_make_all_others_alike():
    values = np.linspace(1, 2, 400).reshape(4, 100)
    values[0, 0] = 1000
    assert len(set("".join(as_text(panel(values))[2].split()[-1]))) > 1


def test_without_values_each_form_says_so():
    nothing = panel([[np.nan, np.nan]])
    assert "Nothing to draw" in draw(nothing)
    assert "Nothing to draw" in "\n".join(as_text(nothing))
    widget = build(nothing, Selection())
    assert "Nothing to draw" in widget.value


def test_values_that_are_all_alike_have_one_pale_shade_and_one_entry():
    svg = chart_svg(panel([[3, 3], [3, 3]]))
    assert re.findall(r'fill-opacity="([0-9.]+)"', svg) == ["0.1", "0.1"]
    assert svg.count("from 3.00 ms") == 1
