"""The widgets' own JavaScript, in a real browser, on what their Python sides really send."""

import pandas as pd

from tfprof_nb.render.browser_widgets import TableWidget, TabsWidget
from tfprof_nb.render.panels import Column


def test_columns_of_the_table_line_up_with_their_headers(host):
    frame = pd.DataFrame({"op": ["gradient_tape/" * 8, "Relu"], "self_us": [12345.6, 0.5], "share": [0.9, 0.1]})
    columns = [Column("op", "Op"), Column("self_us", "Self", "us"), Column("share", "Share", "share", bar=True)]
    fake = host("table")
    fake.show(TableWidget(frame, columns))
    lefts = "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().left))"
    cells = fake.page.locator("[data-place='0'] [role=gridcell]")
    assert fake.page.locator("[role=columnheader]").evaluate_all(lefts) == cells.evaluate_all(lefts)
    assert cells.all_inner_texts()[1:] == ["12.3 ms", "90.0%"]
    fake.page.get_by_text("Self").click()
    fake.page.locator("[role=grid]").press("End")
    assert fake.get("selected_row") == 1


def test_numbers_in_sight_share_what_a_column_out_of_sight_leaves(host):
    """One that had all of it would stand far from those that it belongs to."""
    names = [f"number {k}" for k in range(8)]
    frame = pd.DataFrame({name: [1.0, 2.0] for name in names})
    fake = host("table")
    fake.page.set_viewport_size({"width": 320, "height": 400})
    fake.show(TableWidget(frame, [Column(name, name, "ms") for name in names]))
    fake.page.locator("[role=gridcell]").first.wait_for()
    widths = (
        "cells => cells.map(cell => cell.getBoundingClientRect()).filter(box => box.right <= 321).map(box => box.width)"
    )
    seen = fake.page.locator("[role=columnheader]").evaluate_all(widths)
    assert len(seen) > 2
    assert sum(seen) > 290, "they fill the width"
    assert max(seen) - min(seen) < 1


def test_tabs_switch_panes_without_a_kernel(host):
    strip = TabsWidget(["Overview", "Steps"])
    fake = host("tabs")
    fake.show(strip)
    fake.page.evaluate(
        "(names) => names.forEach((name) => document.body.append(Object.assign(document.createElement('p'),"
        " {className: name, textContent: name})))",
        [strip.pane_class(0), strip.pane_class(1)],
    )
    panes = [fake.page.locator(f".{strip.pane_class(k)}") for k in (0, 1)]
    assert [pane.is_visible() for pane in panes] == [True, False]
    fake.page.get_by_role("tab", name="Steps").click()
    assert [pane.is_visible() for pane in panes] == [False, True]
    assert fake.get("selected") == 1
