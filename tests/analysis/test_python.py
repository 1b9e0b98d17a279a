"""Exact arithmetic of Python's samples: whose time it is, and what the step did meanwhile."""

from dataclasses import replace

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.python import frames_of_stacks, python, users_lines
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.decode.sections.python import PythonStacks, read_python

BEGAN_NS = 10**18
MS = 1_000_000


def host():
    """Two steps of 10 ms at 0 and 20 ms: 2 ms waiting, 3 ms of an op, 5 ms of nothing."""
    space = XSpace()
    space.plane("Task Environment", profile_start_time=BEGAN_NS, profile_stop_time=BEGAN_NS + 40 * MS)
    line = space.plane("/host:CPU").line("python")
    for step in range(2):
        at = 20_000 * step
        line.event("train", start_us=at, duration_us=10_000, step_num=step, _r=1)
        line.event("IteratorGetNext:IteratorGetNext", start_us=at, duration_us=2000)
        line.event("mul:MatMul", start_us=at + 2000, duration_us=3000)
    return forest(space)


def stacks(samples, thread=0):
    """Samples of `work` called by `loop` (both the user's), of numpy called by `work`, and of `loop` alone, by ms."""
    chosen = {"work": 0, "numpy in work": 1, "loop": 2}
    return read_python(
        {
            "interval_ns": MS,
            "strings": ["loop", "work", "svd", "/home/me/a.py", "/lib/site-packages/numpy/linalg/linalg.py"],
            "functions": {"name": [0, 1, 2], "file": [3, 3, 4], "users": [True, True, False]},
            "places": {"function": [0, 1, 2], "line": [7, 3, 99]},
            "stacks": [[1, 0], [2, 1, 0], [0]],
            "samples": {
                "time_ns": [BEGAN_NS + round(at * MS) for at, _ in samples],
                "thread": [thread] * len(samples),
                "stack": [chosen[name] for _, name in samples],
            },
        }
    )


def result(samples, **kwargs):
    one = host()
    groupings = [group_events(one)]
    return python([one], groupings, steps([one], groupings), [stacks(samples, **kwargs)], {"/home/me/a.py": "In[3]"})


def test_time_belongs_to_the_innermost_line_of_the_users():
    found = result([(at + 0.5, "numpy in work") for at in range(10)])
    (row,) = found.table.to_dict("records")[:1]
    assert (row["function"], row["file"], row["line"], row["library"]) == ("work", "In[3]", 3, "NumPy")
    assert row["self_ms"] == pytest.approx(10)
    assert row["samples"] == 10


def test_callers_have_it_in_their_total():
    found = result([(at + 0.5, "work") for at in range(10)] + [(at + 0.5, "loop") for at in range(10, 12)])
    table = found.table.set_index("function")
    assert table.loc["loop", "self_ms"] == pytest.approx(2)
    assert table.loc["loop", "total_ms"] == pytest.approx(12)
    assert table.loc["work", "self_ms"] == table.loc["work", "total_ms"] == pytest.approx(10)


def test_what_the_step_did_meanwhile():
    found = result([(at + 0.5, "work") for at in range(20)])
    row = found.table.iloc[0]
    assert row["in_steps_ms"] == pytest.approx(10)
    assert row["between_steps_ms"] == pytest.approx(10)
    assert row["waiting_ms"] == pytest.approx(2)
    assert row["ops_ms"] == pytest.approx(3)
    assert row["nothing_ms"] == pytest.approx(5)
    assert found.summary["accounted_percent"] == pytest.approx(50)  # of two steps, the first


def test_a_gap_between_samples_is_not_all_theirs():
    found = result([(0.5, "work"), (35.5, "work")])
    assert found.table["self_ms"].sum() == pytest.approx(11)  # half an interval at each end, ten in between


def test_a_call_that_moves_from_thread_to_thread_is_counted_once():
    """tf.data's calls take turns on three threads; at each millisecond one of them runs, and the main thread waits."""
    turns = [stacks([(at + 0.5, "work") for at in range(k, 12, 3)], thread=1 + k) for k in range(3)]
    every = [stacks([(at + 0.5, "loop") for at in range(12)]), *turns]
    joined = {name: np.concatenate([getattr(one, name) for one in every]) for name in ("time_ns", "thread", "stack")}
    order = np.argsort(joined["time_ns"], kind="stable")
    together = replace(every[0], **{name: values[order] for name, values in joined.items()})
    one = host()
    groupings = [group_events(one)]
    table = python([one], groupings, steps([one], groupings), [together], {}).table
    assert table.set_index("thread")["self_ms"].to_dict() == pytest.approx({"main": 12, "tf.data": 12})


def test_threads_of_the_pipeline_explain_nothing_of_the_step():
    found = result([(at + 0.5, "work") for at in range(10)], thread=1)
    assert set(found.table["thread"]) == {"tf.data"}
    assert found.summary["accounted_percent"] == 0


def test_a_late_sample_stands_for_what_it_missed():
    """Taken at 12 ms, and planned for 4 ms: the lock was held from then on."""
    section = {
        "interval_ns": MS,
        "strings": ["parse", "a.py"],
        "functions": {"name": [0], "file": [1], "users": [True]},
        "places": {"function": [0, 0], "line": [3, 8]},
        "stacks": [[0], [1]],
        "samples": {"time_ns": [3 * MS, 12 * MS, 13 * MS], "thread": [0, 0, 0], "stack": [0, 1, 0]},
    }
    section["samples"]["late_ns"] = [0, 8 * MS + 1000, 0]
    found = read_python(section)
    assert (found.time_ns / MS).tolist() == list(range(3, 14))
    assert found.stack.tolist() == [0, *[1] * 9, 0]


def test_comprehensions_belong_to_their_functions_once():
    section = {
        "interval_ns": MS,
        "strings": ["clean", "clean.<locals>.<listcomp>", "clean.<locals>.<listcomp>.<listcomp>", "/home/me/a.py"],
        "functions": {"name": [0, 1, 2], "file": [3, 3, 3], "users": [True] * 3},
        "places": {"function": [0, 1, 2], "line": [3, 3, 3]},
        "stacks": [[2, 1, 0], [0]],
        "samples": {
            "time_ns": [BEGAN_NS + (2 * k + 1) * MS // 2 for k in range(10)],
            "thread": [0] * 10,
            "stack": [0, 1] * 5,
        },
    }
    one = host()
    groupings = [group_events(one)]
    table = python([one], groupings, steps([one], groupings), [read_python(section)], {}).table
    assert table[["function", "line"]].to_numpy().tolist() == [["clean", 3]]
    assert table["self_ms"].tolist() == table["total_ms"].tolist() == [pytest.approx(10)]


@pytest.mark.parametrize(("thread", "left_ms"), [("python", 10), ("another", 30)])
def test_while_the_main_thread_takes_down_an_iterator_no_line_has_the_time(thread, left_ms):
    space = XSpace()
    space.plane("Task Environment", profile_start_time=BEGAN_NS, profile_stop_time=BEGAN_NS + 40 * MS)
    cpu = space.plane("/host:CPU")
    main = cpu.line("python")
    main.event("cell line 1", start_us=0, duration_us=30_000)
    ending = main if thread == "python" else cpu.line(thread)
    ending.event("TFE_DeleteTensorHandle", start_us=5000, duration_us=20_000)
    one = forest(space)
    groupings = [group_events(one)]
    samples = stacks([(at + 0.5, "work") for at in range(30)])
    found = python([one], groupings, steps([one], groupings), [samples], {})
    assert found.table["self_ms"].sum() == pytest.approx(left_ms)


def test_sums_over_threads_are_said_to_be_so():
    one = host()
    groupings = [group_events(one)]
    both = stacks([(1.5, "work"), (2.5, "work"), (3.5, "loop"), (4.5, "loop")])
    for threads, said in (([1, 2, 1, 2], 1), ([0, 1, 0, 1], 0)):
        sampled = replace(both, thread=np.array(threads))
        found = python([one], groupings, steps([one], groupings), [sampled], {})
        assert sum("are sums" in note for note in found.notes) == said


def test_samples_outside_of_the_recording_do_not_count():
    assert result([(-3, "work"), (50, "work")]).summary["samples"] == 0


def test_without_samples_a_note_says_why():
    one = host()
    groupings = [group_events(one)]
    found = python([one], groupings, steps([one], groupings), [PythonStacks()], {})
    assert found.table.empty
    assert "--no-python" in found.notes[0]
    assert np.isnan(found.summary["accounted_percent"]) or found.summary["accounted_percent"] == 0


def test_calls_that_pass_through_this_package_belong_to_the_library_behind_it():
    """A capture marks the steps of Keras' methods by standing before them."""
    one, at = host(), [1, 2, 3]
    read = read_python(
        {
            "interval_ns": MS,
            "strings": [
                "loop",
                "train_on_batch",
                "marked",
                "/home/me/a.py",
                "/l/site-packages/keras/t.py",
                "/l/tfprof_nb/capture/keras.py",
            ],
            "functions": {"name": [0, 2, 1], "file": [3, 5, 4], "users": [True, False, False]},
            "places": {"function": [0, 1, 2], "line": [7, 50, 99]},
            "stacks": [[2, 1, 0], [1, 0]],
            "samples": {"time_ns": [BEGAN_NS + ms * MS for ms in at], "thread": [0, 0, 0], "stack": [0, 0, 1]},
        }
    )
    groupings = [group_events(one)]
    calls = python([one], groupings, steps([one], groupings), [read], {}).calls
    assert calls[["library", "call", "samples"]].to_dict("records") == [
        {"library": "Keras", "call": "train_on_batch", "samples": 2},
        {"library": "tfprof_nb", "call": "marked", "samples": 1},
    ]


def test_a_newest_sample_without_frames_is_nobodys():
    stacks = PythonStacks(
        time_ns=np.array([1, 2]),
        stack=np.array([0, 1]),
        thread=np.array([0, 0]),
        frame_stack=np.array([0]),
        frame_place=np.array([0]),
        place_function=np.array([0]),
        place_line=np.array([3]),
        function_name=np.array(["<module>"], dtype=object),
        function_file=np.array(["cell"], dtype=object),
        function_is_users=np.array([True]),
    )
    assert users_lines(stacks)["place"].tolist() == [0, -1]
    assert frames_of_stacks(stacks, {}).start.tolist() == [0, 1, 1]
