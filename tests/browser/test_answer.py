"""The answer's buttons and links in a real JupyterLab: the change applied and tried, the event shown in the trace."""

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import open_page

# Making the data is nearly all of each step, and it is made anew in each epoch; a trial takes one round.
SETUP = """
%load_ext tfprof_nb
import time
import keras, numpy as np, tensorflow as tf
import tfprof_nb as tp
from tfprof_nb.capture.trial import turns
turns.MAX_ROUNDS = 1

def prepare(i):
    time.sleep(0.02)
    return np.full(8, i, "float32")

def load(i):
    return tf.ensure_shape(tf.numpy_function(prepare, [i], tf.float32), (8,)), i

model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
PROFILED = """%%tfprofile p
dataset = tf.data.Dataset.range(40).map(load).batch(8)
history = model.fit(dataset, epochs=4, verbose=0)"""
TEXTS = "() => window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.sharedModel.getSource())"


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    pytest.importorskip("tensorflow")
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in (SETUP, PROFILED)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    path = tmp_path_factory.mktemp("answer") / "answer.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    lab = open_lab(path)
    with lab.evidence("answer"):
        lab.run_all()
        lab.page.locator(".tfp-card .tfp-diff").first.wait_for()
        lab.wait_until_settled()
    return lab


def test_the_answer_stands_first_with_its_change_and_what_it_would_gain(lab):
    card = lab.page.locator(".tfp-card").first
    expect(card.locator(".tfp-diff b").first).to_have_text(".cache()")
    expect(card.get_by_text("now", exact=True)).to_be_visible()
    expect(card.get_by_text("then", exact=True)).to_be_visible()
    expect(lab.page.locator(".tfp-view").get_by_text("What a step is made of")).to_be_visible()
    expect(lab.page.get_by_text("Top ops by self time")).to_have_count(0)


def test_a_link_to_the_trace_selects_its_event(lab):
    with lab.evidence("answer-link"):
        view = lab.page.locator(".tfp-view").first
        view.get_by_role("button", name="Show in the trace").first.click()
        trace = view.locator(".tfp-trace:visible")
        trace.wait_for()
        expect(trace.locator(".tfp-hits")).not_to_have_text("0 hits")
        expect(trace.get_by_text("Iterator::").first).to_be_visible()  # what is known of the selected event
        open_page(view, "Answer")


def test_the_change_is_put_below_as_a_whole_cell_and_runs(lab):
    with lab.evidence("answer-apply"):
        lab.page.locator(".tfp-card .tfp-apply").first.click()
        lab.wait_until(lambda: len(lab.page.evaluate(TEXTS)) == 3)
        setup, profiled, changed = lab.page.evaluate(TEXTS)
        assert (setup, profiled) == (SETUP.strip(), PROFILED)
        assert changed == PROFILED.replace("map(load)", "map(load).cache()")
        expect(lab.page.locator(".tfp-card .tfp-apply").first).to_have_text("It is below")
        lab.execute("notebook:run-cell")
        lab.page.locator(".tfp-view").nth(1).wait_for()
        assert lab.ask("p.steps.summary['steps']") == "20"


def test_the_change_is_tried_in_place(lab):
    with lab.evidence("answer-try"):
        view = lab.page.locator(".tfp-view").first
        view.get_by_role("button", name="Try it").click()
        expect(view.get_by_text("times as fast").first).to_be_visible()
        expect(view.get_by_role("button", name="Try it")).to_have_count(0)
        assert lab.errors == []
