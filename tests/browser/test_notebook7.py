"""Jupyter Notebook 7: the same server's other front end, with pages of its own for files and for one notebook."""

import json
import re

import nbformat
import pytest
from playwright.sync_api import expect

from browser.conftest import TIMEOUT_S
from browser.lab import Notebook7, open_page
from builders import XSpace

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]

CAPTURE = """%%tfprofile mine
for i in range(12):
    with tp.step(i):
        tf.linalg.matmul(x, x)"""
CELLS = [
    "%load_ext tfprof_nb\nimport tensorflow as tf\nimport tfprof_nb as tp\nx = tf.ones((64, 64))",
    CAPTURE,
    "tp.load('elsewhere').dashboard()",
]
ANSWER = "HIGHLY input-bound: 80.0% of each step"
BROKEN = re.compile("model not found|Error displaying widget|Loading widget", re.IGNORECASE)
# Notebook 7.6 says so for a notebook without widgets, and with our extension turned off, too.
NOTEBOOKS_OWN = re.compile(r"reading 'schema'|Settings failed to load|Command 'filebrowser:open-path' not registered")


def elsewhere(folder):
    """Write a profile of three steps of 1 ms; 0.8 ms of each wait for the next batch."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=1000, step_num=step, _r=1)
        python.event("IteratorGetNext::Batch", start_us=1000 * step, duration_us=800)
        python.event("MatMul:MatMul", start_us=1000 * step + 800, duration_us=200)
    space.write(folder / "elsewhere" / "host.xplane.pb")


@pytest.fixture(scope="module")
def page(chromium):
    """A page of a browser that has been nowhere yet."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def seven(page, server_url, notebooks_folder, root):
    """A notebook that captures a cell and opens a profile, run and saved."""
    elsewhere(notebooks_folder)
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), notebooks_folder / "seven.ipynb")
    artifacts = root / "build" / "screenshots"
    artifacts.mkdir(parents=True, exist_ok=True)
    notebook = Notebook7(page, server_url, artifacts, TIMEOUT_S)
    with notebook.evidence("notebook7"):
        notebook.open("seven.ipynb")
        notebook.run_all()
        page.locator(".tfp-view .bqplot .bargroup").nth(12 + 2).wait_for(state="attached")
        notebook.save()
    return notebook


def test_the_dashboards_stand_under_their_cells(seven):
    views = seven.page.locator(".tfp-view")
    assert "12 steps" in views.first.inner_text()
    assert ANSWER in views.last.inner_text()
    seven.screenshot("notebook7")


def test_the_static_forms_make_room(seven):
    assert seven.page.locator("[id^=tfp-static]").count() == 2
    assert seven.page.locator("[id^=tfp-static]:visible").count() == 0


def test_the_trace_is_drawn(seven):
    view = seven.page.locator(".tfp-view").last
    open_page(view, "Trace")
    canvas = view.locator(".tfp-trace canvas").first
    canvas.wait_for()
    seven.wait_for_colors(canvas, 5)
    open_page(view, "Answer")


def test_scripts_complain_about_nothing(seven):
    assert [error for error in seven.errors if not NOTEBOOKS_OWN.search(error)] == []


@pytest.mark.parametrize("situation", ["fresh kernel", "untrusted"])
def test_opened_again_it_still_says_what_was_found(seven, notebooks_folder, situation):
    notebook = json.loads((notebooks_folder / "seven.ipynb").read_text(encoding="utf-8"))
    if situation == "untrusted":
        for output in notebook["cells"][-1]["outputs"]:
            output["metadata"]["from"] = "elsewhere"
    name = f"seven-{situation.replace(' ', '-')}"
    (notebooks_folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with seven.evidence(name):
        seven.open(f"{name}.ipynb")
        seven.page.get_by_text(ANSWER).first.wait_for()
        if situation == "untrusted":
            seven.ask("0")  # JupyterLab asked the kernel for its widgets before
        else:
            expect(seven.page.get_by_text("model not found")).to_have_count(2)  # hidden by our rule
        seven.screenshot(name)
        assert seven.page.locator(".tfp-view").count() == 0
        assert seven.page.locator(".jp-OutputArea-output img:visible").count() > 1
        assert seven.page.get_by_text(BROKEN).locator("visible=true").count() == 0


def test_a_profile_opens_from_the_list_of_files(seven):
    page = seven.page
    with seven.evidence("notebook7-files"):
        page.goto(f"{seven.url}/tree/elsewhere")
        page.locator(".jp-DirListing-item", has_text=".xplane.pb").click(button="right")
        with page.context.expect_page() as opening:
            page.locator(".lm-Menu-item", has_text="Open with tfprof").click()
        report = opening.value.frame_locator("iframe")
        report.get_by_text("3 steps").first.wait_for()
