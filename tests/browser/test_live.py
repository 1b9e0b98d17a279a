"""The line of a running capture in a real JupyterLab, and the dashboard that takes its place."""

import nbformat
import pytest

SETUP = (
    """%load_ext tfprof_nb
import pathlib, time, tensorflow as tf, keras
def load(i):
    time.sleep(0.04)
    return i
data = tf.data.Dataset.range(10_000).map(lambda i: tf.py_function(load, [i], tf.int64))
def train():
    i, batches = 0, iter(data)
    while not pathlib.Path("stop").exists():
        with __import__("tfprof_nb").step(i):
            next(batches)
            time.sleep(0.02)
        i += 1
"""
    + "# So long a cell that the notebook is scrolled.\n" * 40
)
TOP = "place => document.querySelector(place)?.getBoundingClientRect().top"
LINE, HEAD, NEXT_CELL = ".tfp-live", ".tfp-head", ".jp-CodeCell.jp-mod-active"


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    cells = [SETUP, "%%tfprofile slow\nprint('epoch 1')\ntrain()\nprint('done')"]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in cells]
    path = tmp_path_factory.mktemp("live") / "live.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return open_lab(path)


def top(lab, place):
    """Where the first such element is; the line is drawn anew all the time."""
    return lab.page.wait_for_function(TOP, arg=place).json_value()


def test_steps_are_seen_while_the_cell_runs_and_the_dashboard_comes_where_they_were(lab, notebooks_folder):
    stop = notebooks_folder / "stop"
    with lab.evidence("live"):
        lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        lab.page.wait_for_function(
            "() => /[2-9]\\d steps, .*\\d% waiting for data/.test(document.querySelector('.tfp-live')?.innerText)"
        )
        assert lab.page.locator("pre", has_text="epoch 1").is_visible()
        lab.screenshot("live-running", settled=False)
        before = top(lab, LINE)
        stop.touch()
        view = lab.page.locator(".tfp-view")
        view.locator(".tfp-answer").first.wait_for()
        lab.wait_until_settled()
        head = view.locator(".tfp-head")
        assert lab.page.locator(".tfp-live:visible, [id^=tfp-static]:visible").count() == 0
        assert abs(top(lab, HEAD) - before) < 30
        printed = lab.page.locator("pre", has_text="done").bounding_box()
        assert printed["y"] > head.bounding_box()["y"]
        lab.screenshot("live-done")
    assert lab.errors == []


@pytest.mark.parametrize("written", ["", "later = 1"], ids=["the next cell is new", "the next cell is being written"])
def test_after_shift_enter_nothing_jumps(lab, notebooks_folder, written):
    stop, page = notebooks_folder / "stop", lab.page
    stop.unlink(missing_ok=True)
    with lab.evidence("live-shift-enter"):
        page.locator(".jp-CodeCell .cm-content", has_text="%%tfprofile").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_function("() => / steps, /.test(document.querySelector('.tfp-live')?.innerText)")
        if written:
            page.keyboard.press("Enter")
            page.keyboard.type(written)
        before = top(lab, NEXT_CELL if written else LINE)
        assert page.locator(".jp-WindowedPanel-outer").first.evaluate("scroller => scroller.scrollTop") > 0
        stop.touch()
        page.locator(".tfp-view").locator(".tfp-answer").first.wait_for()
        lab.wait_until_settled()
        assert abs(top(lab, NEXT_CELL if written else HEAD) - before) < 30
