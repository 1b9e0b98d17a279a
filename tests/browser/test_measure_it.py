"""The button that measures the pipeline, in a real JupyterLab: in place, once, and until it is stopped."""

import gzip
import json

import nbformat
import pytest
from playwright.sync_api import expect

from builders import XSpace

# Measuring takes less time than a reader would give it, and is counted.
SETUP = """
import time
import tensorflow as tf
import tfprof_nb as tp

def wait(i):
    time.sleep(0.005)
    return i

dataset = tf.data.Dataset.range(400).map(lambda i: tf.ensure_shape(tf.numpy_function(wait, [i], tf.int64), ())).batch(4)
measure, seconds, calls = tp.benchmark_input, [3], []

def counted(*given, **options):
    calls.append(1)
    return measure(*given, seconds=seconds[0], **options)

tp.benchmark_input = counted
"""


@pytest.fixture(scope="module")
def lab(open_lab, tmp_path_factory):
    """A notebook with a profile whose steps wait, shown twice, and the dataset."""
    pytest.importorskip("tensorflow")
    space, folder = XSpace(), tmp_path_factory.mktemp("measure")
    python = space.plane("/host:CPU").line("python")
    for step in range(20):
        python.event("train", start_ms=10 * step, duration_ms=10, step_num=step, _r=1)
        python.event("IteratorGetNext:x", start_ms=10 * step, duration_ms=8)
    file = space.write(folder / "host.xplane.pb")
    cell = {"text": "%%tfprofile p\nmodel.fit(dataset)", "file": "c.py", "line": [], "hits": [], "spent_ns": []}
    section = {"version": 1, "cell": cell | {"estimated": [], "first": 0, "last": 0}}
    file.with_name("host.tfprof.json.gz").write_bytes(gzip.compress(json.dumps(section).encode()))
    show = 'display(p.dashboard("overview"))'
    cells = [f"{SETUP}\np = tp.load({str(file)!r})", show, show]
    cells = [nbformat.v4.new_code_cell(text) for text in cells]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "measure.ipynb")
    return open_lab(folder / "measure.ipynb")


def test_measured_in_place_once_and_stopped(lab):
    with lab.evidence("measure"):
        lab.run_all()
        first, second = (lab.page.locator(".tfp-offer:visible").nth(k) for k in range(2))
        expect(first.get_by_role("button", name="Measure it")).to_be_visible()
        first.get_by_role("button", name="Measure it").dblclick()
        expect(first.get_by_text("a batch every").first).to_be_visible()
        expect(first.get_by_role("button", name="Measure it")).to_have_count(0)
        lab.screenshot("measured")
        assert lab.ask("len(calls)") == "1"

        assert lab.ask("seconds.__setitem__(0, 600)") == "None"
        second.get_by_role("button", name="Measure it").click()
        expect(second.get_by_text("round 1 of")).to_be_visible()
        second.get_by_role("button", name="Stop").click()
        expect(second.get_by_text("interrupted").first).to_be_visible()  # in any case of its letters
        assert lab.ask("len(calls)") == "2"
        assert lab.errors == []


def test_a_saved_notebook_has_the_code(lab):
    lab.save()
    kept = [output for output in lab.outputs() if "text/html" in output.get("data", {})]
    assert kept
    for output in kept:
        assert "tp.benchmark_input(dataset, profile=p)" in output["data"]["text/html"]
        assert "Measure it" not in output["data"]["text/html"]
