"""A cell that shows a profile and runs again, in a real JupyterLab: its dashboards don't pile up."""

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import ASK, open_page
from builders import XSpace

WIDGETS = "len(__import__('ipywidgets').widgets.widget._instances)"


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    """A notebook that shows a profile in two cells."""
    space, folder = XSpace(), tmp_path_factory.mktemp("rerun")
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("MatMul:MatMul", start_us=1000 * step, duration_us=300)
    file = str(space.write(folder / "host.xplane.pb"))
    cells = [f"import tfprof_nb as tp\np = tp.load({file!r})\ndisplay(p)", "display(p.steps)"]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "rerun.ipynb")
    return open_lab(folder / "rerun.ipynb")


def test_dashboards_of_a_cell_that_runs_again_do_not_pile_up(lab):
    with lab.evidence("rerun"):
        lab.run_all()
        shown = lab.page.locator(".tfp-view:visible")
        expect(shown).to_have_count(2)
        once = lab.ask(WIDGETS)
        for _ in range(3):
            lab.run_all()
            lab.page.wait_for_function(f"async ([held, once]) => await ({ASK})(held) === once", arg=[WIDGETS, once])
        open_page(shown.first, "Ops")
        lab.page.get_by_text("MatMul").locator("visible=true").first.wait_for()
        assert shown.count() == 2
        lab.screenshot("rerun")
        assert lab.errors == []
