"""Samples of Python's stacks: the right thread, the right lines, and nothing changed in the program."""

import gc
import json
import subprocess
import sys
import threading
import time
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.capture.profiler import Profiler
from tfprof_nb.capture.python_stacks import python_stacks, stack_of
from tfprof_nb.decode.sections.python import read_python
from tfprof_nb.decode.sidecar import read_sidecar


def busy(gather, samples=20):
    """Compute until so many more samples are taken."""
    taken = gather.__self__._samples
    end = len(taken) + samples
    while len(taken) < end:
        sum(range(100))


def sleep(gather, samples=20):
    """Sleep until so many more samples are taken."""
    end = len(gather.__self__._samples) + samples
    while len(gather.__self__._samples) < end:
        time.sleep(0.005)


def feeds(gather):
    """Whether a thread that makes data has been sampled."""
    return len({thread for _, thread, _, _ in gather.__self__._samples.copy()}) > 1


def in_stacks(gather, name, file):
    """Whether a function has been sampled."""
    codes = [code for stack in gather.__self__._stacks.copy() for code, _ in stack]
    return any(code.co_name == name and code.co_filename.endswith(file) for code in codes)


def leaves(stacks, thread=0):
    """Return the innermost functions of the user's on a thread, one per sample."""
    users = stacks.function_is_users[stacks.place_function[stacks.frame_place]]
    first = {}
    for frame in np.flatnonzero(users)[::-1]:
        first[stacks.frame_stack[frame]] = stacks.place_function[stacks.frame_place[frame]]
    samples = stacks.stack[stacks.thread == thread]
    return [stacks.function_name[first[stack]] for stack in samples if stack in first]


def test_the_function_that_runs_is_on_top_of_the_samples():
    began_ns = time.time_ns()
    with python_stacks(0.002) as gather:
        busy(gather)
        sleep(gather)
    stacks = read_python(gather())
    names = leaves(stacks)
    assert set(names) <= {"busy", "sleep", "test_the_function_that_runs_is_on_top_of_the_samples"}
    assert names.count("busy") >= 19
    assert names.count("sleep") >= 19
    assert (np.diff(stacks.time_ns) > 0).all()
    assert began_ns <= stacks.time_ns[0] <= stacks.time_ns[-1] <= time.time_ns()


@dataclass
class Waiting:
    """Its ``__init__`` is written by dataclasses, and runs for as long as is wanted."""

    gather: InitVar[object]

    def __post_init__(self, gather):
        busy(gather)


def test_methods_that_dataclasses_write_are_not_the_users():
    with python_stacks(0.002) as gather:
        Waiting(gather)
    stacks = read_python(gather())
    written = np.array([str(name).startswith("__create_fn__") for name in stacks.function_name])
    assert written.any()
    assert not stacks.function_is_users[written].any()


class Pair(NamedTuple):
    a: int
    b: int


def test_the_constructor_of_a_named_tuple_is_not_the_users():
    with python_stacks(0.001) as gather:
        while not in_stacks(gather, "<lambda>", "<string>"):
            for _ in range(10_000):
                Pair(1, 2)
    stacks = read_python(gather())
    written = (stacks.function_file == "<string>") & (stacks.function_name == "<lambda>")
    assert written.any()
    assert not stacks.function_is_users[written].any()


def test_code_in_c_that_keeps_the_lock_has_its_time():
    """No sample is taken while it runs: the next one says how late it comes."""
    text = json.dumps([{"number": k, "values": list(range(40))} for k in range(20_000)])
    late_ns = []
    with python_stacks(0.002) as gather:
        while not late_ns:
            json.loads(text)
            samples = [(late, gather.__self__._stacks[stack]) for _, _, stack, late in gather.__self__._samples]
            late_ns = [late for late, stack in samples if in_json(stack) and late > 4e6]
    stacks = read_python(gather())
    parsing = [str(file).endswith(IN_JSON) for file in stacks.function_file]
    inside = np.array(parsing)[stacks.place_function[stacks.frame_place]]
    sampled = np.isin(stacks.stack, stacks.frame_stack[inside]).sum()
    assert sampled >= sum(late_ns) // 2_000_000


IN_JSON = ("json/__init__.py", "json/decoder.py")


def in_json(stack):
    return any(code.co_filename.endswith(IN_JSON) for code, _ in stack)


def test_threads_that_do_not_serve_tensorflow_are_left_out():
    ended = threading.Event()
    other = threading.Thread(target=lambda: [sum(range(100)) for _ in iter(ended.is_set, True)])
    other.start()
    with python_stacks(0.002) as gather:
        sleep(gather)
    ended.set()
    other.join()
    assert set(read_python(gather()).thread) == {0}


def slow_element(number):
    time.sleep(0.005)
    return number


def test_python_functions_of_a_pipeline_have_threads_of_their_own():
    dataset = tf.data.Dataset.range(10**9).map(lambda x: tf.numpy_function(slow_element, [x], tf.int64))
    with python_stacks(0.002) as gather:
        for _ in dataset:
            if feeds(gather):
                break
    stacks = read_python(gather())
    feeders = set(stacks.thread) - {0}
    assert feeders
    assert {name for thread in feeders for name in leaves(stacks, thread)} == {"slow_element"}


class Slow(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        time.sleep(0.01)
        return np.zeros((4, 2)), np.zeros((4, 1))


def test_threads_that_make_a_datasets_batches_are_sampled():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(Slow(), verbose=0)
    with python_stacks(0.002) as gather:
        while not feeds(gather):
            model.fit(Slow(workers=2), verbose=0)
    stacks = read_python(gather())
    makers = set(stacks.thread) - {0}
    assert {name for thread in makers for name in leaves(stacks, thread)} == {"Slow.__getitem__"}


def test_code_that_autograph_converted_is_found_where_it_was_written():
    dataset = tf.data.Dataset.range(10**9).map(
        lambda x: tf.numpy_function(lambda y: (time.sleep(0.005), y)[1], [x], tf.int64)
    )
    with python_stacks(0.002) as gather:
        for _ in dataset:
            if feeds(gather):
                break
    stacks = read_python(gather())
    assert not any("autograph_generated" in str(file) for file in stacks.function_file[stacks.function_is_users])
    assert any("<lambda>" in name for thread in set(stacks.thread) - {0} for name in leaves(stacks, thread))


def test_the_interpreter_is_as_it_was():
    before = sys.getswitchinterval(), threading.active_count()
    with python_stacks():
        assert sys.getswitchinterval() <= before[0]
    assert (sys.getswitchinterval(), threading.active_count()) == before


def test_a_stack_is_read_innermost_first():
    def inner():
        return stack_of(threading.get_ident())

    names = [code.co_name for code, _ in inner()]
    gc.enable()
    assert names[names.index("stack_of") :][:3] == ["stack_of", "inner", "test_a_stack_is_read_innermost_first"]


def test_a_deep_stack_is_cut_and_an_ended_thread_has_none():
    def deep(levels):
        return deep(levels - 1) if levels else stack_of(threading.get_ident())

    assert len(deep(300)) == 200
    gc.enable()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert stack_of(thread.ident) == ()
    gc.enable()


RETRACING = """
import sys, time
import tensorflow as tf
import tfprof_nb as tp
from tfprof_nb.capture.profiler import Profiler
from tfprof_nb.capture.python_stacks import python_stacks

class Cycle:
    def __init__(self):
        self.me = self
    def __del__(self):  # long enough that the interpreter switches threads in the middle of a collection
        for number in range(2000):
            str(number)

end, count = time.time() + 40, 0
with python_stacks(0.0001) as gather:
    while time.time() < end:
        step = tf.function(lambda x: tf.reduce_sum(x * 2 + count))
        Cycle()
        step(tf.ones([count % 7 + 1]))
        count += 1
print("sampled", len(gather()["samples"]["time_ns"]) > 1000)
"""


@pytest.mark.nightly
def test_sampling_survives_collections_of_garbage():
    for _ in range(4):  # held frames ended one such process in three
        ended = subprocess.run([sys.executable, "-c", RETRACING], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (0, "sampled True\n"), ended.stderr[-2000:]
        assert "Exception in thread" not in ended.stderr


@pytest.mark.parametrize(
    "damage",
    [
        {"samples": {"time_ns": [1], "thread": [0], "stack": [5]}},
        {"samples": {"time_ns": [1, 2], "thread": [0], "stack": [0]}},
        {"places": {"function": [9], "line": [1]}},
        {"stacks": [[7]]},
        {"stacks": "no list"},
    ],
)
def test_a_damaged_section_is_refused(damage):
    whole = {
        "interval_ns": 4_000_000,
        "strings": ["f", "a.py"],
        "functions": {"name": [0], "file": [1], "users": [True]},
        "places": {"function": [0], "line": [3]},
        "stacks": [[0]],
        "samples": {"time_ns": [1], "thread": [0], "stack": [0]},
    }
    assert len(read_python(whole).time_ns) == 1
    with pytest.raises((ValueError, TypeError, IndexError)):
        read_python(whole | damage)


def test_the_end_of_the_recording_is_no_time_of_the_program(monkeypatch, tmp_path):
    ended, ended_ns = Profiler.end, []

    def slow_end(profiler):
        ended_ns.append(time.time_ns())
        ended(profiler)
        time.sleep(0.5)

    monkeypatch.setattr(Profiler, "end", slow_end)
    with tp.profile(logdir=tmp_path) as p:
        time.sleep(0.1)
    assert max(read_sidecar(p.files[0]).sections["python"]["samples"]["time_ns"]) <= ended_ns[0]
    assert not p.python.table["library"].eq("tfprof_nb").any()
