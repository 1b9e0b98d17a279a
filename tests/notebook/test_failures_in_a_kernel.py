"""What goes wrong in a real kernel: one error with the user's line, nothing lost, and the next cell profiles again."""

import re
import subprocess
from contextlib import suppress

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = [pytest.mark.tensorflow, pytest.mark.kernel]

SETUP = """
import numpy as np, tensorflow as tf, tfprof_nb as tp, keras, os, signal, threading
%load_ext tfprof_nb
x = np.zeros((80, 3), "float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
model.compile("sgd", "mse")
fit = lambda **options: model.fit(x, x[:, :2], batch_size=2, verbose=0, **options)
_ = fit()
"""
INTERRUPTED = """trained = threading.Event()
threading.Thread(target=lambda: trained.wait() and os.kill(os.getpid(), signal.SIGINT)).start()
fit(epochs=10_000, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: trained.set())])"""


class Cell:
    """A cell that ran, and what it showed."""

    def __init__(self, outputs):
        self.errors = [output for output in outputs if output.output_type == "error"]
        self.shown = "".join(str(output.data) for output in outputs if output.output_type == "display_data")
        self.printed = "".join(output.text for output in outputs if output.output_type == "stream")

    @property
    def traceback(self):
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(self.errors[0].traceback))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Run cells in one kernel for all tests."""
    notebook = nbformat.v4.new_notebook()
    folder = tmp_path_factory.mktemp("kernel")
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})

    def run(source):
        notebook.cells.append(nbformat.v4.new_code_cell(source))
        with suppress(CellExecutionError):
            client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
        return Cell(notebook.cells[-1].outputs)

    with client.setup_kernel():
        assert not run(SETUP).errors
        yield run


@pytest.fixture
def run(kernel):
    """Run a cell in the kernel, in which afterwards a capture works, nothing stays changed and nobody's files lie."""
    yield kernel
    after = kernel("%%tfprofile after --quiet\nhistory = fit()")
    assert (after.errors, after.printed) == ([], "")
    kept = "os.listdir('tfprof_logs')"
    assert kernel(f"print(after.steps.summary['steps'], {kept})").printed == "40 ['plugins']\n"


@pytest.mark.parametrize(
    ("body", "error", "line"),
    [
        ("a = fit()\nundefined_name", "NameError", "3 undefined_name"),
        ("a = fit()\n\nb = tf.zeros([1 << 46])", "ResourceExhaustedError", "4 b = tf.zeros([1 << 46])"),
        (INTERRUPTED, "KeyboardInterrupt", "4 fit(epochs=10_000"),
        ("import asyncio\na = fit()\nawait asyncio.sleep(0)\nundefined_name", "NameError", "5 undefined_name"),
    ],
)
def test_an_error_in_the_cell_is_shown_once_with_its_line_and_the_profile_up_to_there(run, body, error, line):
    cell = run(f"%%tfprofile failed\n{body}")
    assert [output.ename for output in cell.errors] == [error]
    assert re.search(r"-> +" + re.escape(line), cell.traceback)
    assert "magics.py" not in cell.traceback
    assert "profiled_cell.py" not in cell.traceback
    assert error != "KeyboardInterrupt" or "site-packages" not in cell.traceback
    assert "cell_code.py" not in cell.traceback
    assert "failed · " in cell.shown
    assert int(run("print(failed.steps.summary['steps'])").printed) >= 40


def test_what_was_in_memory_when_it_ran_out_is_shown(run):
    cell = run("%%tfprofile oom --views memory\nkept = tf.zeros([1 << 22])\nmore = tf.zeros([1 << 46])")
    assert [output.ename for output in cell.errors] == ["ResourceExhaustedError"]
    assert "Memory" in cell.shown
    peak = run("print(max(a['peak_bytes'] for a in oom.memory.summary.values()))").printed
    assert int(peak) >= 4 << 22  # what was kept: 4 bytes a number


@pytest.fixture
def full_disk(tmp_path):
    """A folder on a disk of its own with little room."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tfprof_nb", tmp_path], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be made here: {mounted.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_a_full_disk(run, full_disk):
    cell = run(f"%%tfprofile --all --out {full_disk}\nfinished = fit(epochs=20)")
    assert [output.ename for output in cell.errors] == ["CaptureError"]
    assert "No space left on device" in cell.traceback
    assert "recording.py" not in cell.traceback
    assert run("print(len(finished.history['loss']))").printed == "20\n"
    saved = run("import tempfile\nprint(len(tp.load(tp.last().save(tempfile.mkdtemp())).steps.table) > 0)")
    assert saved.printed == "True\n"
    assert list(full_disk.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_found_out_before_the_cell_runs(run):
    cell = run("%%tfprofile --out /proc/nowhere\nran_anyway = True")
    assert [output.ename for output in cell.errors] == ["CaptureError"]
    assert "Choose another folder" in cell.traceback
    assert run("'ran_anyway' in globals() and print('it ran')").printed == ""


def test_a_profiler_that_runs_already_goes_on(run):
    run("tf.profiler.experimental.start('theirs')")
    cell = run("%%tfprofile\nran_beside = True")
    assert [output.ename for output in cell.errors] == ["CaptureActiveError"]
    assert "tf.profiler.experimental.stop()" in cell.traceback
    run("history = fit()\ntf.profiler.experimental.stop()")
    assert run("print(len(tp.load('theirs').events) > 0)").printed == "True\n"


def test_a_capture_inside_a_capture_is_refused_and_the_outer_one_is_kept(run):
    cell = run("%%tfprofile outer\nhistory = fit()\nwith tp.profile():\n    pass")
    assert [output.ename for output in cell.errors] == ["CaptureActiveError"]
    assert "outer · 40 steps" in cell.shown


@pytest.mark.parametrize(
    ("recipe", "logdir", "steps"),
    [
        ("history = fit(callbacks=[keras.callbacks.TensorBoard('board', profile_batch=(10, 15))])", "board", 6),
        ("tf.profiler.experimental.start('by_hand')\nhistory = fit()\ntf.profiler.experimental.stop()", "by_hand", 40),
        ("with tf.profiler.experimental.Profile('block'):\n    history = fit()", "block", 40),
    ],
)
def test_common_recipes_work_and_a_note_says_whose_profile_it_is(run, recipe, logdir, steps):
    cell = run(f"%%tfprofile pasted\n{recipe}")
    assert cell.errors == []
    assert f"pasted · {steps} steps" in cell.shown
    assert "ran a profiler of its own" in cell.shown
    same = f"pasted.files == tuple(file.absolute() for file in tp.load({logdir!r}).files)"
    assert run(f"print({same})").printed == "True\n"


def test_a_cell_that_ends_before_its_warmup_did_says_how_far_it_came(run):
    cell = run("%%tfprofile short --warmup 50 --steps 10\nhistory = fit()")
    assert cell.errors == []
    assert "ended after 40 steps, before the 50 warm-up steps were over" in cell.printed
    assert "ended after 40 steps" in run("short.overview").traceback
