"""JupyterLab's own menus: open a profile from the file browser, profile a cell from the command palette."""

import nbformat
import pytest

from builders import XSpace

pytestmark = pytest.mark.browser


@pytest.fixture
def lab(open_lab, notebooks_folder, tmp_path):
    """JupyterLab with a notebook open, and a profile in its folder."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=100, step_num=step, _r=1)
        python.event("MatMul:MatMul", start_us=1000 * step, duration_us=90)
    space.write(notebooks_folder / 'a "machine".xplane.pb')
    cell = nbformat.v4.new_code_cell("import tensorflow as tf\nx = tf.square([1.0, 2.0])")
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=metadata), tmp_path / "cell.ipynb")
    return open_lab(tmp_path / "cell.ipynb")


def test_profiles_open_from_the_file_browser_and_cells_from_the_palette(lab, notebooks_folder):
    page = lab.page
    with lab.evidence("labextension"):
        lab.execute("filebrowser:activate")
        page.locator(".jp-DirListing-item", has_text=".xplane.pb").click(button="right")
        page.locator(".lm-Menu-item", has_text="Open with tfprof").click()
        page.locator(".tfp-view").get_by_text("Average step").first.wait_for()
        lab.screenshot("labextension-opened")
        opened = next(notebooks_folder.glob("Untitled*.ipynb"))
        assert 'tp.load("a \\"machine\\".xplane.pb")' in nbformat.read(opened, as_version=4).cells[0].source

        lab.open("cell.ipynb")
        page.locator(".jp-Cell .cm-content").first.click()
        lab.execute("apputils:activate-command-palette")
        page.keyboard.type("Profile the current cell")
        page.keyboard.press("Enter")
        page.locator(".tfp-view").first.wait_for()
        page.locator(".tfp-tabs").first.wait_for()
        first = "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.getSource()"
        assert page.evaluate(first).startswith("%%tfprofile\nimport tensorflow")
        assert lab.errors == []
