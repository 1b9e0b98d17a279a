"""Samples of Python's stacks on the trace."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.trace.layout import lay_out
from tfprof_nb.analysis.trace.python_samples import sampled_python
from tfprof_nb.analysis.trace.trace import trace
from tfprof_nb.decode.sections.python import PythonStacks, read_python

BEGAN_NS, MS = 10**18, 1_000_000


@pytest.fixture
def host():
    space = XSpace()
    space.plane("Task Environment", profile_start_time=BEGAN_NS, profile_stop_time=BEGAN_NS + 40 * MS)
    space.plane("/host:CPU").line("python").event("train", duration_us=40_000, step_num=0, _r=1)
    return forest(space)


def stacks(samples):
    """`loop` calls `work` (both the user's), which may call NumPy: samples by time in ms and innermost call."""
    chosen = {"work": 0, "numpy": 1, "loop": 2}
    return read_python(
        {
            "interval_ns": MS,
            "strings": ["<module>", "work", "svd", "/home/me/a.py", "/lib/site-packages/numpy/linalg/linalg.py"],
            "functions": {"name": [0, 1, 2], "file": [3, 3, 4], "users": [True, True, False]},
            "places": {"function": [0, 1, 2], "line": [7, 3, 99]},
            "stacks": [[1, 0], [2, 1, 0], [0]],
            "samples": {
                "time_ns": [BEGAN_NS + at * MS for at, _ in samples],
                "thread": [0] * len(samples),
                "stack": [chosen[name] for _, name in samples],
            },
        }
    )


def slices(host, samples):
    """Return depth, name, start and end (ms) of every slice of the track."""
    (sampled,) = sampled_python([host], [stacks(samples)], {"/home/me/a.py": "In[3]"})
    groupings = [group_events(one) for one in (host, sampled)]
    drawn = trace([host, sampled], groupings, steps([host], groupings[:1]), list, lambda _name: "")
    (track,) = drawn.table.index[drawn.table["label"] == "Python, sampled"]
    rows = drawn.query(0, drawn.span_ps, 1000)
    rows = rows[rows["track"] == track]
    return [
        (depth, name, start / 1e9, end / 1e9)
        for depth, name, start, end in zip(rows["depth"], rows["name"], rows["start_ps"], rows["end_ps"], strict=True)
    ]


def test_neighbours_with_the_same_call_are_one_slice(host):
    found = slices(host, [(1, "work"), (2, "work"), (3, "numpy"), (4, "loop")])
    assert found == [(0, "In[3] line 7", 1, 5), (1, "work (In[3] line 3)", 1, 4), (2, "NumPy: svd", 3, 4)]


def test_a_call_in_another_call_is_another_slice(host):
    found = slices(host, [(1, "work"), (2, "loop"), (3, "work")])
    assert [slice_[1:] for slice_ in found if slice_[0] == 1] == [
        ("work (In[3] line 3)", 1, 2),
        ("work (In[3] line 3)", 3, 4),
    ]


def test_a_sample_stands_for_a_limited_time(host):
    found = slices(host, [(1, "loop"), (31, "loop")])
    assert found == [(0, "In[3] line 7", 1, 11), (0, "In[3] line 7", 31, 32)]


def test_without_samples_there_is_no_track(host):
    assert sampled_python([host], [PythonStacks()], {}) == []


def test_samples_stand_beside_the_threads_of_their_host_and_keep_the_lines_of_the_cell(host):
    (sampled,) = sampled_python([host], [stacks([(1, "work"), (2, "work")])], {"/home/me/a.py": "cell"})
    groupings = [group_events(one) for one in (host, sampled)]
    tracks = lay_out([host, sampled], groupings).tracks
    assert tracks["label"].tolist() == ["python", "Python, sampled"]
    assert tracks["group"].nunique() == 1
