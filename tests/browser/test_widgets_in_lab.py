"""The trace viewer in a real JupyterLab: it gets its events over a real comm, and keys stay with it."""

import nbformat
import pytest

from builders import XSpace

pytestmark = pytest.mark.browser

SHOW = """
import tfprof_nb as tp
from tfprof_nb.render.timeline_widget import TraceWidget

widget = TraceWidget(tp.load({path!r}).trace)
widget
"""


@pytest.fixture
def notebook(tmp_path):
    """A notebook whose first cell shows a trace of 1,000 events."""
    space = XSpace()
    line = space.plane("/host:CPU").line("python", line_id=1)
    for k in range(1000):
        line.event("MatMul" if k % 2 else "Relu", start_us=10 * k, duration_us=8, index=k)
    path = space.write(tmp_path / "host.xplane.pb")
    cells = [nbformat.v4.new_code_cell(SHOW.format(path=str(path))), nbformat.v4.new_code_cell("1 + 1")]
    # Without a kernel's name JupyterLab would ask for it.
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), tmp_path / "trace.ipynb")
    return tmp_path / "trace.ipynb"


def test_the_viewer_works_over_a_comm_and_keeps_its_keys(open_lab, notebook):
    lab = open_lab(notebook)
    with lab.evidence("trace_in_lab"):
        lab.run_all()
        canvas = lab.page.locator("canvas")
        canvas.wait_for()
        lab.page.wait_for_timeout(300)
        assert lab.colors(canvas) > 10
        canvas.click(position={"x": 400, "y": 48})
        details = lab.page.locator(".tfp-details")
        # The stat comes from the kernel, by a message of its own.
        details.get_by_text("index").wait_for()

        # In JupyterLab's command mode A, B and D D would add and delete cells, S would save, 0 0 restart the kernel.
        for key in ("a", "b", "d", "d", "s", "0", "0"):
            canvas.press(key)
        cells = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells.length"
        assert lab.page.evaluate(cells) == 2
        assert lab.page.locator(".jp-Dialog").count() == 0
        canvas.press("/")
        lab.page.keyboard.type("relu")
        lab.page.get_by_text("500 hits").wait_for()
        assert lab.errors == []
