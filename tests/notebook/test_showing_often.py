"""Profiles that are shown again and again: nothing of them stays when they are let go, or shown anew by their cell."""

import gc
import json
import weakref

import psutil
import pytest
from ipywidgets.widgets.widget import _instances as widgets
from jupyter_client.manager import start_new_kernel

import tfprof_nb as tp
from builders import XSpace

SETUP = """
%load_ext tfprof_nb
import gc, json, tfprof_nb as tp
from functools import partial
from ipywidgets.widgets.widget import _instances as widgets
load = partial(tp.load, FILE)
def held():
    gc.collect()
    return json.dumps([len(widgets), sum(type(one) is tp.Profile for one in gc.get_objects())])
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A profile of three steps with an op each."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("MatMul:MatMul", start_us=1000 * step, duration_us=300)
    return space.write(tmp_path_factory.mktemp("run") / "host.xplane.pb")


def as_text(profile):
    assert "3 steps" in str(profile)
    assert "MatMul" in str(profile.ops)


def as_report(profile):
    assert "3 steps" in profile.to_html(profile.files[0].with_name("report.html")).read_text()


def as_widget(profile):
    for view in (profile.dashboard(), profile.ops.view()):
        view._build()
        view.close()


@pytest.mark.parametrize("show", [as_text, as_report, as_widget])
def test_a_profile_that_was_shown_can_be_let_go(file, show):
    process, before, profiles = psutil.Process(), set(widgets), []
    files = process.num_fds()
    held = [tp.load(file) for _ in range(5)]
    assert process.num_fds() == files
    for profile in held:
        show(profile)
        profiles.append(weakref.ref(profile))
    del held, profile
    gc.collect()
    assert set(widgets) == before
    assert [one for one in profiles if one() is not None] == []


class Kernel:
    """A kernel whose front end names its cells, as JupyterLab does."""

    def __init__(self, client):
        self.client = client

    def run(self, cell, code):
        """Run a cell, and return what it printed."""
        printed = []

        def hear(message):
            assert message["msg_type"] != "error", message["content"]["traceback"]
            printed.append(message["content"].get("text", ""))

        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        request = self.client.session.msg("execute_request", content, metadata={"cellId": cell})
        self.client.shell_channel.send(request)
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                if message["content"].get("execution_state") == "idle":
                    return "".join(printed)
                hear(message)

    def held(self):
        """Return how many widgets and how many profiles there are."""
        return tuple(json.loads(self.run("asks", "print(held())")))


@pytest.fixture
def kernel(tmp_path, file):
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    kernel = Kernel(client)
    kernel.run("setup", SETUP.replace("FILE", repr(str(file))))
    yield kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.kernel
@pytest.mark.parametrize("cell", ["p = load()\ndisplay(p, p.ops)", "%%tfprofile p\nx = 1"])
def test_a_cell_that_runs_often_keeps_what_it_showed_last(kernel, cell):
    stored = "p = load()\ndisplay(p)"  # what two captures show differs: what is held before and after is of a file
    kernel.run("a", stored)
    widgets, _ = kernel.held()
    for _ in range(8):
        kernel.run("a", cell)
        assert kernel.held()[1] == 1
    kernel.run("a", stored)
    assert kernel.held()[0] == widgets


@pytest.mark.kernel
def test_what_other_cells_show_and_what_people_hold_stays(kernel):
    kernel.run("a", "p = load()\ndisplay(p, p)")
    two = kernel.held()[0]
    kernel.run("b", "display(p, p)")
    assert kernel.held()[0] == 2 * two
    kernel.run("c", "mine = p.dashboard()\nmine")
    kernel.run("c", "mine")
    three = kernel.held()[0]
    kernel.run("b", "p")
    assert kernel.held()[0] < three
    assert kernel.run("d", "print(mine.comm is not None, len(mine.children) > 1)") == "True True\n"


@pytest.mark.kernel
def test_what_is_still_seen_is_closed_when_it_is_seen_no_more(kernel):
    kernel.run("a", "p = load()\ndisplay(p)")
    kernel.run("b", "from tfprof_nb.render import View\nshown = [w for w in widgets.values() if isinstance(w, View)]")
    seen = "shown[0].set_state({'_view_count': %d})"  # as the front end does
    kernel.run("b", seen % 1)
    kernel.run("a", "display(p)")
    assert kernel.run("b", "print(shown[0].comm is not None)") == "True\n"
    assert kernel.run("b", (seen % 0) + "\nprint(shown[0].comm is not None)") == "False\n"
