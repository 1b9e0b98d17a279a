"""The line of a running capture in a real JupyterLab, and the dashboard that takes its place."""

import nbformat
import pytest

pytestmark = pytest.mark.browser

SETUP = """%load_ext tfprof_nb
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
ABOVE = """line => {
    const output = line.closest('.jp-OutputArea-child');
    return [...output.parentElement.children].indexOf(output) + ':' + line.getBoundingClientRect().top;
}"""


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    cells = [SETUP, "%%tfprofile slow\nprint('epoch 1')\ntrain()\nprint('done')"]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in cells]
    path = tmp_path_factory.mktemp("live") / "live.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return open_lab(path)


def test_steps_are_seen_while_the_cell_runs_and_the_dashboard_comes_where_they_were(lab, notebooks_folder):
    stop = notebooks_folder / "stop"
    with lab.evidence("live"):
        lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        line = lab.page.locator(".tfp-live")
        lab.page.wait_for_function(
            "() => /[2-9]\\d steps, .*\\d% waiting for data/.test(document.querySelector('.tfp-live')?.innerText)"
        )
        assert lab.page.locator("pre", has_text="epoch 1").is_visible()
        where = line.evaluate(ABOVE)
        lab.screenshot("live-running", settled=False)
        stop.touch()
        view = lab.page.locator(".tfp-view")
        view.get_by_text("input-bound").first.wait_for()
        lab.wait_until_settled()
        head = view.locator(".tfp-head")
        assert lab.page.locator(".tfp-live:visible, [id^=tfp-static]:visible").count() == 0
        assert head.evaluate("head => head.getBoundingClientRect().top") - float(where.split(":")[1]) < 30
        printed = lab.page.locator("pre", has_text="done").bounding_box()
        assert printed["y"] > head.bounding_box()["y"]
        lab.screenshot("live-done")
    assert lab.errors == []
