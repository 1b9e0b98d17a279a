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

EXTENSIONS = Path("share", "jupyter", "labextensions")
KERNELS_NOW = "const running = window.jupyterapp.serviceManager.sessions._models.size;"
KERNELS = f"() => {{ {KERNELS_NOW} return running }}"
LOCKED = f"jupyterlab=={version('jupyterlab')}"
OTHERS = ["jupyterlab==4.4.*", "jupyterlab==4.5.*", "jupyterlab"]


@pytest.fixture(scope="module", params=[LOCKED, *(pytest.param(one, marks=pytest.mark.nightly) for one in OTHERS)])
def jupyterlab(request):
    """The requirement of a JupyterLab: the locked one, or the newest patch of another supported minor."""
    return request.param


@pytest.fixture(scope="module")
def server_url(jupyterlab, server_url, request, notebooks_folder, tmp_path_factory):
    """The address of a server with that JupyterLab; kernels and widgets come from this environment."""
    if jupyterlab == LOCKED:
        yield server_url
        return
    wheel = request.getfixturevalue("wheel")  # the locked one needs none to be built
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
    run = notebooks_folder / "plugins/profile/2026_01_02_03_04_05"
    run.mkdir(parents=True, exist_ok=True)
    space.write(run / "host.xplane.pb")
    cell = nbformat.v4.new_code_cell("import tensorflow as tf\nx = tf.square([1.0, 2.0])")
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=metadata), tmp_path / "cell.ipynb")
    return open_lab(tmp_path / "cell.ipynb")


def test_profiles_open_from_the_file_browser_and_cells_from_the_palette(lab, notebooks_folder, jupyterlab):
    page = lab.page
    before = set(notebooks_folder.rglob("*"))
    with lab.evidence("labextension"):
        assert page.evaluate("window.jupyterapp.version") in Requirement(jupyterlab).specifier
        lab.execute("filebrowser:activate")
        kernels = page.evaluate(KERNELS)
        page.locator(".jp-DirListing-item", has_text=".xplane.pb").dblclick()
        report = page.frame_locator(".jp-IFrame:visible iframe")
        report.locator(".tfp-headline").first.wait_for()
        page.wait_for_function(f"(count) => {{ {KERNELS_NOW} return running === count }}", arg=kernels)
        page.screenshot(path=lab.artifacts / "labextension-opened.png")
        lab.execute("application:close")

        lab.execute("filebrowser:open-path", path="plugins/profile")
        item = page.locator(".jp-DirListing-item", has_text="2026_01_02_03_04_05")
        item.click(button="right")
        page.locator(".lm-Menu-item", has_text="Open with tfprof").click()
        report.locator(".tfp-headline").first.wait_for()
        lab.execute("application:close")
        lab.execute("filebrowser:go-to-path", path="/")
        page.locator(".jp-DirListing-item", has_text="plugins").click(button="right")
        page.locator(".lm-Menu-item:visible").first.wait_for()
        assert page.locator(".lm-Menu-item:visible", has_text="Open with tfprof").count() == 0
        page.keyboard.press("Escape")
        assert {path for path in notebooks_folder.rglob("*") if ".ipynb_checkpoints" not in path.parts} <= before

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
