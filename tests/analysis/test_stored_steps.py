"""Steps of real GPU captures beside what TensorFlow 2.4 and 2.5 stored of them: equal, but for two named reasons.

That TensorFlow took copies for compute, because it did not know CUPTI's names for them. And it swept over the bounds of
all events with ends before starts: the end of an event of no length came first, so that its class was held to be
active from then on until the next event of that class ended. CUPTI times some copies at no length; what follows
those, mostly kernels being launched, was counted as compute too.
"""

import json
from collections import Counter
from itertools import pairwise

import pytest

from tfprof_nb.analysis.activities import Activity, classify
from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.groups import group_events
from tfprof_nb.analysis.steps import steps
from tfprof_nb.decode import read_xspace

STORED = {
    "device_compute_ms": ["device_compute_ms"],
    "host_compute_ms": ["host_compute_ms"],
    "kernel_launch_ms": ["host_prepare_ms"],
    "input_ms": ["host_wait_input_ms", "host_to_device_ms"],
    "output_ms": ["device_to_host_ms"],
    "other_ms": ["unknown_time_ms"],
}
CLASSES = {
    "device_compute_ms": Activity.DEVICE_COMPUTE_32,
    "host_compute_ms": Activity.HOST_COMPUTE,
    "kernel_launch_ms": Activity.KERNEL_LAUNCH,
    "input_ms": Activity.WAIT_INPUT,
    "other_ms": Activity.NONE,
}


def swept(events, first, last):
    """TensorFlow's sweep over (start, end, class): the time of each class between two moments."""
    bounds = [(end, 0, -kind) for _, end, kind in events] + [(start, 1, -kind) for start, _, kind in events]
    active, now, times = Counter(), 0, Counter()
    for (at, is_start, kind), (until, _, _) in pairwise(sorted(bounds)):
        active[-kind] += 1 if is_start else -1
        if is_start:
            now = max(now, -kind)
        elif now == -kind and not active[-kind]:
            now = max((kind for kind, count in active.items() if count > 0 and kind < now), default=0)
        times[now] += max(0, min(until, last) - max(at, first))
    return times


def events_of(forest, grouping, step):
    """The events of a step, copies taken for compute, and its bounds."""
    kinds = classify(forest, grouping.group).astype(int)
    kinds[forest.on_device & (kinds > 0)] = Activity.DEVICE_COMPUTE_32
    kinds[grouping.spans["row"]] = Activity.NONE
    group = grouping.group[forest.on_device & (kinds > 0)][0]
    rows = (kinds > 0) & (grouping.group == group)
    start, length = forest.host.start_ps[rows], forest.host.duration_ps[rows]
    first, whole = (round(step[name] * 1e9) for name in ("start_ms", "step_ms"))
    events = list(zip(start.tolist(), (start + length).tolist(), kinds[rows].tolist(), strict=True))
    return events, first, first + whole


@pytest.fixture
def stored_runs(shared_data):
    expected = json.loads((shared_data / "tf2-gpu-pong" / "expected.json").read_text())
    return [(shared_data / path, answer["steps"]) for path, answer in expected.items()]


def test_stored_answers_of_tensorflow_for_gpus(stored_runs):
    compared = 0
    for path, answers in stored_runs:
        forest = Forest(read_xspace(path.read_bytes(), "host"))
        grouping = group_events(forest)
        table = steps([forest], [grouping]).table
        assert len(table) == len(answers)
        for (_, mine), theirs in zip(table.iterrows(), answers, strict=True):
            compared += 1
            stored = {column: sum(theirs.get(name, 0) for name in names) for column, names in STORED.items()}
            assert mine["step_ms"] == pytest.approx(theirs["step_time_ms"], abs=1e-6)
            assert mine["host_compute_ms"] == pytest.approx(stored["host_compute_ms"], abs=1e-6)
            events, *bounds = events_of(forest, grouping, mine)
            upstream = swept(events, *bounds)
            for column, kind in CLASSES.items():
                assert upstream[kind] / 1e9 == pytest.approx(stored[column], abs=1e-6), (path, column)
            timed = swept([event for event in events if event[0] < event[1]], *bounds)
            stuck_ms = (upstream - timed)[Activity.DEVICE_COMPUTE_32] / 1e9
            for column, value in stored.items():
                assert abs(mine[column] - value) <= 0.01 * mine["step_ms"] + stuck_ms, (path, column)
    assert compared == 12
