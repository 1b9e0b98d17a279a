"""JupyterLab's own menus: open a profile from the file browser, profile a cell from the command palette."""

import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

from browser.conftest import jupyter_server
from builders import XSpace
from environments import install

pytestmark = pytest.mark.browser

EXTENSIONS = Path("share", "jupyter", "labextensions")
LOCKED = f"jupyterlab=={version('jupyterlab')}"
OLDEST = "jupyterlab==4.4.*"
OTHERS = ["jupyterlab==4.5.*", "jupyterlab"]


@pytest.fixture(scope="module", params=[LOCKED, OLDEST, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def jupyterlab(request):
    """The requirement of a JupyterLab: the locked one, or the newest patch of another supported minor."""
    return request.param


@pytest.fixture(scope="module")
def server_url(jupyterlab, server_url, wheel, notebooks_folder, tmp_path_factory):
    """The address of a server with that JupyterLab; kernels and widgets come from this environment."""
    if jupyterlab == LOCKED:
        yield server_url
        return
    home = tmp_path_factory.mktemp("jupyterlab")
    packages = home / "packages"
    install(sys.executable, "--no-deps", "--target", str(packages), jupyterlab, str(wheel))
    # Not Notebook's extension: it works in one minor of JupyterLab only.
    for name in ["@jupyter-widgets", "anywidget", "bqplot", "bqscales"]:
        (packages / EXTENSIONS / name).symlink_to(sys.prefix / EXTENSIONS / name)
    with jupyter_server(home, notebooks_folder, packages) as url:
        yield url


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


def test_profiles_open_from_the_file_browser_and_cells_from_the_palette(lab, notebooks_folder, jupyterlab):
    page = lab.page
    before = set(notebooks_folder.glob("Untitled*.ipynb"))
    with lab.evidence("labextension"):
        assert page.evaluate("window.jupyterapp.version") in Requirement(jupyterlab).specifier
        lab.execute("filebrowser:activate")
        page.locator(".jp-DirListing-item", has_text=".xplane.pb").click(button="right")
        page.locator(".lm-Menu-item", has_text="Open with tfprof").click()
        page.locator(".tfp-view").get_by_text("Average step").first.wait_for()
        lab.screenshot("labextension-opened")
        (opened,) = set(notebooks_folder.glob("Untitled*.ipynb")) - before
        assert 'tp.load("a \\"machine\\".xplane.pb")' in nbformat.read(opened, as_version=4).cells[0].source

        lab.open("cell.ipynb")
        page.locator(".jp-Cell .cm-content").first.click()
        lab.execute("apputils:activate-command-palette")
        page.keyboard.type("Profile the current cell")
        page.keyboard.press("Enter")
        page.locator(".tfp-view").first.wait_for()
        lab.wait_until(lambda: page.locator(".tfp-tabs").count() > 0)
        first = "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.getSource()"
        assert page.evaluate(first).startswith("%%tfprofile\nimport tensorflow")
        assert lab.errors == []
