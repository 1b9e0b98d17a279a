"""Takes the pictures in docs/images: run this file by name, ``pytest tests/browser/pictures.py`` (``make pictures``).

They show the quickstart in JupyterLab, and what it has none of: a function that is traced again and again, two
workers, and the GPU of somebody else's program.
"""

import io

import nbformat
import pytest
from PIL import Image

from browser.conftest import free_port
from capture.programs import Program

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

WIDTH, MOST_HEIGHT, COLORS = 1340, 1000, 128
QUICKSTART_CELLS = ("load", "setup", "baseline")
RETRACED = """
%%tfprofile retraced --views functions
import tfprof_nb as tp

weights = tf.Variable(tf.random.normal((64, 64)))

@tf.function
def train_step(x, rate):
    weights.assign_sub(rate * tf.matmul(x, x, transpose_a=True))

for number in range(12):
    with tp.step(number):
        train_step(tf.random.normal((32, 64)), 0.9**number)
"""
WORKERS = """
workers = tp.capture_remote({addresses!r}, seconds=1, name="two workers")
workers.dashboard("pods")
"""
DIALOG = "tp.CaptureDialog({address!r}, seconds=2)"
GPU = "tp.load({path!r}, name='GPU').dashboard('kernels')"
RUNS = "tp.find_runs('tfprof_logs')"
TABS = {
    "advice": "Advice",
    "steps": "Steps",
    "source": "Lines",
    "input_pipeline": "Input",
    "tf_data": "tf.data",
    "ops": "Ops",
    "memory": "Memory",
    "graph": "Graph",
}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Two programs that train, each with a profiler server."""
    logs = tmp_path_factory.mktemp("programs")
    programs = [Program.start("keras", [free_port(), free_port()], logs / str(k)) for k in range(2)]
    for program in programs:
        program.wait_until_it_trains()
    yield [program.addresses[0] for program in programs]
    for program in programs:
        program.end()


@pytest.fixture(scope="module")
def lab(open_lab, root, tmp_path_factory, addresses, shared_data):
    """The notebook of the pictures, run."""
    quickstart = {cell.id: cell for cell in nbformat.read(root / "notebooks" / "00_quickstart.ipynb", 4).cells}
    gpu = max((shared_data / "tf2-gpu-pong").rglob("*.xplane.pb"), key=lambda path: path.stat().st_size)
    texts = [
        RETRACED,
        WORKERS.format(addresses=",".join(addresses)),
        GPU.format(path=str(gpu)),
        DIALOG.format(address=addresses[0]),
        RUNS,
    ]
    cells = [*(quickstart[name] for name in QUICKSTART_CELLS), *map(nbformat.v4.new_code_cell, texts)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    path = tmp_path_factory.mktemp("pictures") / "pictures.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    lab = open_lab(path)
    with lab.evidence("pictures"):
        lab.page.set_viewport_size({"width": WIDTH, "height": 900})
        lab.run_all()
        lab.screenshot("pictures")
        lab.page.set_viewport_size({"width": WIDTH, "height": 2400})
    return lab


@pytest.fixture(scope="module")
def view(lab):
    """``view(k)`` is the dashboard that the k-th cell with one shows."""

    def found(k):
        shown = lab.page.locator(".tfp-view").nth(k)
        shown.scroll_into_view_if_needed()
        return shown

    return found


@pytest.fixture
def take(lab, root):
    """``take(name, element)`` stores a picture of an element, from ``below`` on if that is given."""

    def stored(name, element, below=None):
        lab.page.mouse.move(0, 0)
        lab.page.wait_for_timeout(800)
        box = element.bounding_box()
        top = below.bounding_box()["y"] if below else box["y"]
        height = min(box["y"] + box["height"] - top, MOST_HEIGHT)
        clip = {"x": box["x"], "y": top, "width": box["width"], "height": height}
        picture = Image.open(io.BytesIO(lab.page.screenshot(clip=clip))).convert("RGB")
        picture.quantize(COLORS, dither=Image.Dither.NONE).save(root / "docs" / "images" / f"{name}.png", optimize=True)

    return stored


def test_overview(view, take):
    view(0).locator(".bqplot .bargroup").first.wait_for(state="attached")
    take("overview", view(0))


@pytest.mark.parametrize("name", TABS)
def test_page(view, take, name):
    view(0).get_by_role("tab", name=TABS[name], exact=True).click()
    take(name, view(0), below=view(0).locator(".tfp-tabs").first)


def test_trace(lab, view, take):
    view(0).get_by_role("tab", name="Trace", exact=True).click()
    canvas = view(0).locator(".tfp-trace canvas").first
    canvas.wait_for()
    lab.wait_until(lambda: lab.colors(canvas) > 5)
    take("trace", view(0), below=view(0).locator(".tfp-tabs").first)


@pytest.mark.parametrize(("name", "k"), [("functions", 1), ("pods", 2), ("kernels", 3)])
def test_page_of_another_profile(view, take, name, k):
    take(name, view(k))


def test_dialog(lab, take):
    button = lab.page.get_by_role("button", name="Capture", exact=True)
    button.scroll_into_view_if_needed()
    take("capture_dialog", lab.page.locator(".jp-Cell", has=button).locator(".jp-OutputArea-output").last)
