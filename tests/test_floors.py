"""The oldest packages that we say suffice, with Colab's kernel, Colab's widgets and no TensorFlow.

Colab itself can't be had here: a module stands in for it (tests/colab), and what its pages do with the outputs is
not seen. The kernel, the packages and all that they send are real.
"""

import base64
import json
import subprocess
import sys
import tomllib

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from packaging.requirements import Requirement
from packaging.version import Version

from builders import XSpace
from environments import environment
from tfprof_nb.views.pages import PAGES

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.kernel,
    pytest.mark.skipif(sys.version_info >= (3, 13), reason="tests/floors.txt is for Python 3.11 and 3.12"),
]

WIDGET = "application/vnd.jupyter.widget-view+json"
MANAGER = {"colab": {"custom_widget_manager": {"url": "https://colab.example/manager.js"}}}
COLABS_LIMIT = 4_000_000  # larger buffers of a widget's state get lost there
VIEWS = ["profile", *(f"profile.{feature}" for feature in PAGES), "tp.CaptureDialog()", "tp.load('large').trace"]
FIRST = """
import google.colab, importlib.util, json
shell = get_ipython()
def registered():
    return [sorted(map(str, names)) for names in shell.magics_manager.magics.values()], shell.input_transformers_post
untouched = repr(registered())
%load_ext tfprof_nb
import tfprof_nb as tp
profile = tp.load("small")
"""
LAST = f"""
%unload_ext tfprof_nb
assert repr(registered()) == untouched
assert importlib.util.find_spec("tensorflow") is None
assert all(str(getattr(profile, feature).view()) for feature in {list(PAGES)})
profile.to_html("report.html")
print(json.dumps(dict(steps=profile.sql("select count(*) as n from steps").n.item(), text=str(profile))))
"""


@pytest.fixture(scope="module")
def floors(root, wheel):
    """The Python of an environment with the lowest versions, and the wheel."""
    with environment(wheel, "-r", str(root / "tests" / "floors.txt")) as python:
        yield python


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The notebook's folder, with a small profile and one of a million events, hard to compress."""
    folder, random = tmp_path_factory.mktemp("notebook"), np.random.default_rng(1)
    small = XSpace()
    python = small.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("IteratorGetNext::Batch", start_us=1000 * step, duration_us=500)
        python.event("MatMul:MatMul", start_us=1000 * step + 500, duration_us=300)
    # A warm-up step, so long that its bar is cut off.
    python.event("train", start_us=10_000, duration_us=90_000, step_num=3, _r=1)
    python.event("f", start_us=10_000, duration_us=90_000, tf_function_call="traced-nonXla")
    small.write(folder / "small" / "host.xplane.pb")
    large = XSpace()
    first, *others = [large.plane(f"/device:GPU:{k}") for k in range(20)]
    stream = first.line("Stream #1")
    start_ps = 0
    for gap, length, name in random.integers(1, [10**9, 10**6, 500], (50_000, 3)).tolist():
        start_ps += 10**6 + gap
        stream.event(f"kernel{name}", start_ps=start_ps, duration_ps=length)
    for plane in others:
        plane.lines, plane.event_ids = first.lines, first.event_ids
    large.write(folder / "large" / "host.xplane.pb")
    return folder


@pytest.fixture(scope="module")
def notebook(floors, folder, root, tmp_path_factory):
    """A notebook that showed everything, run by a kernel of that environment."""
    home = tmp_path_factory.mktemp("jupyter")
    command = [floors, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "floors", "env": {"PYTHONPATH": str(root / "tests" / "colab")}}
    (home / "kernels" / "floors").mkdir(parents=True)
    (home / "kernels" / "floors" / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (FIRST, *VIEWS, LAST)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home))
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        client = NotebookClient(notebook, kernel_name="floors", resources={"metadata": {"path": str(folder)}})
        return client.execute()


def outputs(notebook):
    """What each of `VIEWS` showed: lists of outputs."""
    return {view: cell.outputs for view, cell in zip(VIEWS, notebook.cells[1:-1], strict=True)}


def states(notebook):
    """The models of all widgets, as they would be saved."""
    return notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()


def test_the_environment_holds_the_declared_floors(floors, root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [Requirement(text) for text in project["dependencies"]]
    declared = {one.name: one for one in declared if one.marker is None or one.marker.evaluate()}
    code = f"import importlib.metadata as m\nfor name in {list(declared)}: print(name, m.version(name))"
    done = subprocess.run([floors, "-c", code], capture_output=True, text=True, check=True)
    installed = dict(line.split() for line in done.stdout.splitlines())
    lowest = {name: next(iter(one.specifier)).version for name, one in declared.items()}
    assert {name: Version(text) for name, text in installed.items()} == {
        name: Version(text) for name, text in lowest.items()
    }


def test_every_view_stands_there_as_html_and_as_a_widget_with_colabs_manager(notebook):
    for view, shown in outputs(notebook).items():
        kinds = [kind for output in shown for kind in output.get("data", output) if kind != "text/plain"]
        assert kinds == ["text/html", WIDGET], view
        assert shown[-1].metadata == {WIDGET: MANAGER}, view


def test_no_widget_is_one_that_colabs_manager_breaks(notebook):
    names = {state["model_name"] for state in states(notebook)}
    assert {"VBoxModel", "AnyModel", "FigureModel"} <= names
    assert not names & {"AccordionModel", "TabModel", "SelectionContainerModel"}


def test_no_buffer_is_larger_than_colab_takes(notebook):
    buffers = [buffer for state in states(notebook) for buffer in state.get("buffers", ())]
    sizes = [len(base64.b64decode(buffer["data"])) for buffer in buffers]
    assert sum(sizes) > COLABS_LIMIT, "the large trace should not fit into one"
    assert max(sizes) <= COLABS_LIMIT


def test_the_rest_works_too_and_unloading_leaves_nothing(notebook, folder):
    said = json.loads(notebook.cells[-1].outputs[-1].text)
    assert said["steps"] == 4
    assert "HIGHLY input-bound: 55.6% of each step" in said["text"]
    assert "HIGHLY input-bound" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_commands_work(floors, folder, tmp_path):
    target = tmp_path / "report.html"
    command = [floors, "-m", "tfprof_nb", "report", str(folder / "small"), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    assert "HIGHLY input-bound" in target.read_text(encoding="utf-8")
