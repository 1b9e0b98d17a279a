"""Takes the pictures in docs/images: run this file by name, ``pytest tests/browser/pictures.py``.

They show the quickstart in JupyterLab, and what it has none of: a function that is traced again and again, two
workers, and the GPU of somebody else's program.
"""

import io
import subprocess
import sys

import nbformat
import pytest
from PIL import Image

from browser.conftest import free_port
from browser.lab import open_page

pytestmark = pytest.mark.timeout(900)

WIDTH, MOST_HEIGHT = 1340, 1120
COLORS = 256
PAUSES_S = ("0.002", "0.02")
QUICKSTART_CELLS = ("load", "setup", "baseline")
MENDED_CELLS = ("fix", "fixed")
FUNCTION = """
import tfprof_nb as tp

weights = tf.Variable(tf.random.normal((256, 256)))


@tf.function
def train_step(number, rate):
    x = tf.random.normal((512, 256))
    weights.assign_sub(rate * tf.matmul(x, x, transpose_a=True))
"""
RETRACED = """
%%tfprofile retraced --views functions
for number in range(12):
    with tp.step(number):
        train_step(tf.constant(number), 0.9**number)
"""
COMPARED = "%tfprofile_compare baseline fixed"
ADVICE = "baseline.advice"
GPU = "tp.load({path!r}, name='GPU').dashboard('kernels')"
# A program that trains, and takes as long as it is told over the data of each step.
WORKER = """
import sys
import time

import keras
import tensorflow as tf

import tfprof_nb as tp

tp.start_server(int(sys.argv[1]))
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(256), keras.layers.Dense(1)])
model.compile("sgd", "mse")


def read(x):
    time.sleep(float(sys.argv[2]))
    return x


def prepare(number):
    x = tf.ensure_shape(tf.py_function(read, [tf.ones((64, 64))], tf.float32), (64, 64))
    return x, tf.ones((64, 1))


data = tf.data.Dataset.range(1_000_000).map(prepare)
model.fit(data.take(2), verbose=0)
print("training", flush=True)
model.fit(data, verbose=0)
"""
WORKERS = """
import tfprof_nb as tp

workers = tp.capture_remote({addresses!r}, seconds=1, name="two workers")
workers.dashboard("pods")
"""
DIALOG = "tp.CaptureDialog({addresses!r}, seconds=2)"
TABS = {
    "breakdown": "Breakdown",
    "steps": "Steps",
    "source": "Lines",
    "input_pipeline": "Waiting",
    "tf_data": "tf.data",
    "ops": "Ops",
    "memory": "Memory",
    "layers": "Layers",
    "flame": "Flame graph",
    "graph": "Graph",
    "trace": "Trace",
}


@pytest.fixture(scope="module")
def run_notebook(open_lab, tmp_path_factory):
    """``run_notebook(name, cells)`` runs cells in JupyterLab."""

    def run(name, cells):
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        path = tmp_path_factory.mktemp(name) / f"{name}.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
        lab = open_lab(path)
        with lab.evidence(name):
            lab.page.set_viewport_size({"width": WIDTH, "height": 2400})
            lab.run_all()
        return lab

    return run


@pytest.fixture(scope="module")
def quickstart(run_notebook, root, shared_data):
    """The quickstart's first profile, then one with a function that is retraced, then that of a GPU."""
    cells = {cell.id: cell for cell in nbformat.read(root / "notebooks" / "00_quickstart.ipynb", 4).cells}
    gpu = max((shared_data / "tf2-gpu-pong").rglob("*.xplane.pb"), key=lambda path: path.stat().st_size)
    more = map(nbformat.v4.new_code_cell, [FUNCTION, RETRACED, GPU.format(path=str(gpu))])
    mended = [*(cells[name] for name in MENDED_CELLS), *map(nbformat.v4.new_code_cell, [COMPARED, ADVICE])]
    return run_notebook("pictures", [*(cells[name] for name in QUICKSTART_CELLS), *more, *mended])


@pytest.fixture(scope="module")
def workers(quickstart, run_notebook, tmp_path_factory):
    """Two programs that train, as one profile, and the dialog that asks them; not while the quickstart is measured."""
    program = tmp_path_factory.mktemp("worker") / "worker.py"
    program.write_text(WORKER)
    ports = [free_port(), free_port()]
    commands = [[sys.executable, str(program), str(port), pause] for port, pause in zip(ports, PAUSES_S, strict=True)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    try:
        for one in programs:
            assert one.stdout.readline() == "training\n"
        addresses = ", ".join(f"127.0.0.1:{port}" for port in ports)
        texts = [text.format(addresses=addresses) for text in (WORKERS, DIALOG)]
        yield run_notebook("workers", [nbformat.v4.new_code_cell(text) for text in texts])
    finally:
        for one in programs:
            one.kill()
            one.wait()


@pytest.fixture
def take(root):
    """``take(lab, name, element)`` stores a picture of an element, from ``below`` on if that is given."""

    def stored(lab, name, element, below=None):
        lab.page.mouse.move(0, 0)
        lab.wait_until_settled()
        box = element.bounding_box()
        top = below.bounding_box()["y"] if below else box["y"]
        height = min(box["y"] + box["height"] - top, MOST_HEIGHT)
        clip = {"x": box["x"], "y": top, "width": box["width"], "height": height}
        picture = Image.open(io.BytesIO(lab.page.screenshot(clip=clip))).convert("RGB")
        few_colors = picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        few_colors.save(root / "docs" / "images" / f"{name}.png", optimize=True)

    return stored


def dashboard(lab, k):
    """Scroll to the k-th dashboard of the notebook."""
    view = lab.page.locator(".tfp-view").nth(k)
    view.scroll_into_view_if_needed()
    return view


def test_overview(quickstart, take):
    view = dashboard(quickstart, 0)
    view.locator(".bqplot .bargroup").first.wait_for(state="attached")
    take(quickstart, "overview", view)


@pytest.mark.parametrize("name", TABS)
def test_page(quickstart, take, name):
    view = dashboard(quickstart, 0)
    open_page(view, TABS[name])
    if name == "trace":
        canvas = view.locator(".tfp-trace canvas").first
        canvas.wait_for()
        quickstart.wait_for_colors(canvas, 5)
    take(quickstart, name, view, below=view.locator(".tfp-tabs").first)


def test_functions(quickstart, take):
    take(quickstart, "functions", dashboard(quickstart, 1))


def test_kernels(quickstart, take):
    view = dashboard(quickstart, 2)
    take(quickstart, "kernels", view, below=view.locator(".tfp-tabs").first)


def test_compare(quickstart, take):
    view = dashboard(quickstart, 4)
    view.evaluate("element => element.scrollIntoView()")  # it is taller than the window
    view.locator(".bqplot .bargroup").first.wait_for(state="attached")
    take(quickstart, "compare", view)


def test_advice(quickstart, take):
    take(quickstart, "advice", dashboard(quickstart, 5))


def test_pods(workers, take):
    view = dashboard(workers, 0)
    take(workers, "pods", view, below=view.locator(".tfp-tabs").first)


def test_capture_dialog(workers, take):
    cell = workers.page.locator(".jp-CodeCell").nth(1)
    cell.scroll_into_view_if_needed()
    take(workers, "capture_dialog", cell.locator(".jp-OutputArea-output").last)
