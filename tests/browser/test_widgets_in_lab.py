"""The trace viewer in a real JupyterLab: events over a real comm, keys that stay with it, linked to the other views."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import ASK, KERNEL, open_page
from builders import XSpace

SHOW = """
import tfprof_nb as tp
from tfprof_nb.render.browser_widgets import TraceWidget

profile = tp.load({path!r})
widget = TraceWidget(profile.trace)
widget
"""
WIDGETS = "__import__('ipywidgets').widgets.widget._instances.values()"
ZOOMED = f"sum(getattr(widget, 'time_range', None) is not None for widget in {WIDGETS})"
# The viewer sets the canvas's size when it draws.
DRAWN = "(canvas) => canvas.width > 0 && Math.abs(canvas.width - canvas.clientWidth * devicePixelRatio) <= 1"
CELLS = [SHOW, "TraceWidget(profile.trace, height=200)", "profile.dashboard(['steps', 'ops', 'trace'])"]


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    """A notebook with two viewers and a dashboard of ten steps, run once for all tests."""
    folder = tmp_path_factory.mktemp("lab")
    space = XSpace()
    line = space.plane("/host:CPU").line("python", line_id=1)
    for step in range(10):
        line.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        for k in range(100):
            name = "MatMul:MatMul" if k % 2 else "Relu:Relu"
            line.event(name, start_us=1000 * step + 8 * k, duration_us=8 if k % 2 else 4, index=k)
    path = space.write(folder / "host.xplane.pb")
    cells = [nbformat.v4.new_code_cell(text.format(path=str(path))) for text in CELLS]
    # Without a kernel's name JupyterLab would ask for it.
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "trace.ipynb")
    lab = open_lab(folder / "trace.ipynb")
    with lab.evidence("trace_in_lab"):
        lab.run_all()
    return lab


@pytest.fixture
def viewer(lab):
    """The n-th viewer's element: 0 and 1 by themselves, 2 in the dashboard."""

    def nth(n):
        root = lab.page.locator(".tfp-trace").nth(n)
        lab.wait_for(root.locator(".tfp-canvas"), DRAWN)
        return root

    with lab.evidence("trace_in_lab"):
        yield nth
    assert lab.errors == []


def visible_time(root):
    return root.locator(".tfp-toolbar .tfp-push").inner_text()


def test_the_viewer_works_over_a_comm_and_keeps_its_keys(lab, viewer):
    root = viewer(0)
    canvas = root.locator(".tfp-canvas")
    assert lab.colors(canvas) > 10
    canvas.click(position={"x": 400, "y": 85})
    # The stat comes from the kernel, by a message of its own.
    root.get_by_label("Selected event").get_by_text("index").wait_for()

    # In JupyterLab's command mode A, B and D D would add and delete cells, S would save, 0 0 restart the kernel,
    # 1 to 4 and M make the cell a heading or Markdown.
    for key in ("a", "b", "d", "d", "s", "1", "2", "3", "4", "m", "m", "2", "0", "0"):
        canvas.press(key)
    root.locator(".tfp-minimap").press("ArrowLeft")
    cells = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells.map((cell) => cell.cell_type)"
    assert lab.page.evaluate(cells) == ["code"] * 3
    assert lab.page.locator(".jp-Dialog").count() == 0
    canvas.press("/")
    lab.page.keyboard.type("relu")
    root.get_by_text("500 hits").wait_for()


def test_two_viewers_of_one_profile_go_their_own_ways(lab, viewer):
    first, second = viewer(0), viewer(1)
    before = visible_time(first)
    second.get_by_role("button", name="Zoom in (W)").click()
    lab.page.wait_for_function(f"async (zoomed) => await ({ASK})(zoomed) === '1'", arg=ZOOMED)
    lab.ask("0")  # messages of the kernel to the viewers arrive before its answer
    assert visible_time(first) == before != visible_time(second)


def test_a_step_picked_in_the_chart_and_an_op_picked_in_the_table_are_shown_by_the_trace(lab, viewer):
    dashboard = lab.page.locator(".tfp-view").last
    bars = dashboard.locator(".bqplot .bargroup")
    bars.nth(3).wait_for(state="attached")
    bars.nth(3).locator("rect").first.click(force=True)
    open_page(dashboard, "Ops")
    dashboard.locator("[role=grid]:visible").get_by_text("MatMul", exact=True).first.click()
    open_page(dashboard, "Trace")
    root = viewer(2)
    assert re.match(r"3(\.0\d*)? ms to 3\.9", visible_time(root))
    assert "500 hits" in root.locator(".tfp-toolbar").inner_text()
    canvas = root.locator(".tfp-canvas")
    canvas.press("Escape")
    canvas.press("Escape")
    open_page(dashboard, "Ops")
    expect(dashboard.locator("[role=grid]:visible [aria-selected=true]")).to_have_count(0)


def test_a_viewer_in_a_hidden_tab_draws_when_it_is_shown_at_another_size(lab, viewer):
    dashboard = lab.page.locator(".tfp-view").last
    open_page(dashboard, "Steps")
    lab.page.set_viewport_size({"width": 1000, "height": 900})
    open_page(dashboard, "Trace")
    canvas = viewer(2).locator(".tfp-canvas")
    lab.wait_for(canvas, f"(canvas) => ({DRAWN})(canvas) && canvas.width < 900")
    assert lab.colors(canvas) > 10
    lab.page.set_viewport_size({"width": 1280, "height": 900})


def test_dark_theme(lab, viewer):
    lab.change_theme("Light")
    canvas = viewer(1).locator(".tfp-canvas")
    corner = "(canvas) => canvas.getContext('2d').getImageData(4, 4, 1, 1).data[0]"
    assert canvas.evaluate(corner) > 200
    lab.change_theme("Dark")
    lab.wait_for(canvas, f"(canvas) => ({corner})(canvas) < 60")
    lab.screenshot("trace-dark")
    lab.change_theme("Light")
    lab.wait_for(canvas, f"(canvas) => ({corner})(canvas) > 200")


def test_a_viewer_whose_kernel_was_restarted_stays_explorable(lab, viewer):
    root = viewer(0)
    canvas = root.locator(".tfp-canvas")
    canvas.press("Escape")
    lab.page.evaluate(f"() => {KERNEL}.restart()")
    before = visible_time(root)
    canvas.press("w")
    assert visible_time(root) != before
    root.get_by_role("searchbox").fill("train")
    root.get_by_text("10 hits").wait_for()
    canvas.press("ArrowRight")
    root.get_by_text("The kernel is busy or gone").wait_for()
    canvas.press("m")
    root.locator(".tfp-range table").wait_for()
