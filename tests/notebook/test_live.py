"""What the running cell shows of its capture, in a real kernel that is busy: messages as they come."""

import re
from itertools import pairwise

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = [pytest.mark.tensorflow, pytest.mark.kernel]

SETUP = """
%load_ext tfprof_nb
import time, tensorflow as tf, tfprof_nb as tp
from IPython.display import clear_output
data = tf.data.Dataset.range(10_000).map(lambda i: tf.py_function(lambda i: time.sleep(0.06) or i, [i], tf.int64))
def loop(steps):
    batches = iter(data)
    for i in range(steps):
        with tp.step(i):
            next(batches)
            time.sleep(0.02)
def fit(steps):
    import keras
    shaped = data.map(lambda i: (tf.reshape(tf.cast(i, tf.float32), (1,)), 0.0)).batch(1).take(steps)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(shaped, verbose=0)
def many_events(steps):
    x = tf.ones(8)
    for i in range(steps):
        with tp.step(i):
            for _ in range(500):
                x = tf.abs(x)
def unmarked(times):
    for _ in range(times):
        tf.add(1, 1)
        time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a cell; return what it showed in the place of the capture, in order: the texts, with each message."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path_factory.mktemp("kernel")))

    def run_cell(code):
        messages = []
        reply = client.execute_interactive(code, timeout=120, output_hook=messages.append)
        assert reply["content"]["status"] == "ok", reply["content"]["traceback"]
        return [message for message in messages if message["msg_type"].endswith("display_data")]

    run_cell(SETUP)
    run_cell("%%tfprofile\nloop(2)")  # what is imported on the way takes its time
    yield run_cell
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def text(message):
    return message["content"]["data"]["text/plain"]


def place(message):
    return message["content"]["transient"]["display_id"]


def seconds_between(messages):
    times = [message["header"]["date"] for message in messages]
    return [(after - before).total_seconds() for before, after in pairwise(times)]


def test_the_busy_kernel_tells_of_the_steps_as_they_end(run):
    shown = run("%%tfprofile\nloop(40)")
    first, *later = [message for message in shown if text(message).startswith("Recording: ")]
    assert first is shown[0]
    assert first["msg_type"] == "display_data"
    assert {message["msg_type"] for message in later} == {"update_display_data"}
    counts = [int(re.search(r": (\d+) steps?", text(message))[1]) for message in later]
    assert counts
    assert counts == sorted(counts)
    between = seconds_between([first, *later][:-1])
    assert sum(between) >= 0.25 * len(between), "it comes seldom"
    (every_bar,) = re.findall(r' d="([^"]*)"', later[-1]["content"]["data"]["text/html"])[:1]
    assert every_bar.count("M") == counts[-1]
    waiting = int(re.search(r"(\d+)% waiting for data", text(later[-1]))[1])
    assert 0 < waiting < 100  # of a step, in which 60 ms are waited and 20 not
    # What is known stays in sight while the profile is saved and read.
    afterwards = [text(message) for message in shown if re.search("TensorFlow saves|Reading", text(message))]
    assert len(afterwards) >= 2
    assert all(re.match(r"40 steps, typically .* each, \d+% waiting for data · ", line) for line in afterwards)


def test_fit_tells_what_waits_inside_its_function_and_the_profile_shows_no_question_for_that(run):
    texts = [text(message) for message in run("%%tfprofile waits\nfit(40)")]
    (*_, last) = [line for line in texts if " steps, typically " in line]
    assert 0 < int(re.search(r"(\d+)% waiting for data", last)[1]) <= 100
    run("assert not waits.events['name'].astype(str).str.contains('IteratorGetModelProto').any()")


def test_it_tells_what_the_events_take(run):
    texts = [text(message) for message in run("%%tfprofile --all\nmany_events(100)")]
    told = [line for line in texts if line.startswith("Recording: ")]
    assert re.search(r" · events take about [\d.]+ MiB of memory$", told[-1]), told


def test_the_dashboard_takes_the_lines_place(run):
    shown = run("%%tfprofile base\nprint('own')\nloop(5)")
    line, widget = [message for message in shown if message["msg_type"] == "display_data"]
    form = [message for message in shown if place(message) == place(line)][-1]
    assert "base · 5 steps" in text(form)
    assert 'class="tfp-live"' not in form["content"]["data"]["text/html"]
    last = [message for message in shown if place(message) == place(widget)][-1]
    assert "application/vnd.jupyter.widget-view+json" in last["content"]["data"]


def test_a_cell_that_clears_its_output_still_gets_its_dashboard(run):
    shown = run("%%tfprofile base\nloop(2)\nclear_output()\nloop(3)")
    new = [message for message in shown if message["msg_type"] == "display_data"]
    assert len(new) == 4
    assert "base · 5 steps" in text(new[2])


def test_the_window_says_when_recording_begins_and_ends(run):
    texts = [text(message) for message in run("%%tfprofile --warmup 10 --steps 10\nloop(40)")]
    told = "\n".join(texts)
    assert "no step has begun so far" in texts[0]
    assert re.search(r"begins after the warm-up: \d+ steps? passed", told)
    assert "\nRecording: " in told
    assert re.search(r"Recorded 10 steps\. The cell goes on unrecorded: \d+ steps", told)


def test_a_loop_without_marks_is_recorded_and_told_so_at_once(run):
    shown = run("%%tfprofile base --warmup 2 --steps 5\nunmarked(30)")
    assert "no step has begun so far" in text(shown[0])
    assert "tfprof_nb.step" in text(shown[0])
    run("assert any('has no step markers' in note for note in base.overview.notes), base.overview.notes")
    run("assert base.ops.table['occurrences'].max() >= 30")


def test_where_nothing_was_recorded_the_place_is_empty(run):
    shown = run("%%tfprofile --delay-ms 60000\nx = 1")
    assert text(shown[-1]) == ""
    assert len({place(message) for message in shown}) == 2


def test_nothing_is_shown_where_the_output_is_captured_or_quiet(run):
    assert run("%%tfprofile --quiet\nloop(2)") == []
    run("%%capture out\n%%tfprofile --static\nloop(2)")
    run("assert len(out.outputs) == 1, out.outputs")
