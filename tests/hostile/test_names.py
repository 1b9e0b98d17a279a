"""Names that are long, deep or many: the time that they take grows with their length, not with its square."""

import time

import pytest

from builders import XSpace
from tfprof_nb import compare, load

NAMES = {
    "slashes": "/" * 20_000,
    "scopes": "a/" * 10_000 + "x:MatMul",
    "gradients": "gradients/" + "a_grad/" * 10_000 + "x:Mul",
    "calls": "PartitionedCall/" * 6_000 + "x:Mul",
    "loops": "Loop/" * 10_000 + "x:Mul",
    "long": "a" * 100_000 + ":MatMul",
    "numbers": "%fusion" + ".1" * 20_000 + "x = f32",
    "words": "x " * 50_000,
    "backward": "__backward_" + "_1" * 30_000 + "x",
    "digits": "dense_" + "1" * 5_000,
}


def everything(path):
    """Compute and write all results, and return how long that took."""
    start = time.perf_counter()
    p = load(path)
    assert str(p)
    for result in (p.graph, p.source, p.trace, p.pods, p.tf_data, p.kernels):
        assert str(result)
    p.to_html(path.with_name("p.html"))
    assert str(compare(p, p))
    p.to_chrome_trace(path.with_name("p.json"))
    return time.perf_counter() - start


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_one_long_name_is_quick(tmp_path, name):
    space = XSpace()
    line = space.plane("/host:CPU").line(name[:10_000])
    for number in range(3):
        line.event("train", start_us=100 * number, duration_us=90, step_num=number, _r=1)
        line.event(name, start_us=100 * number + 10, duration_us=20, tf_function_call=name)
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("kernel", start_us=30, duration_us=5, tf_op=name, correlation_id=1, kernel_details="regs:32")
    assert everything(space.write(tmp_path / "h.xplane.pb")) < 15


def test_a_long_name_of_a_process_in_a_trace_is_quick(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(
        '[{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "'
        + "a " * 100_000
        + '"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "name": "a"}]'
    )
    assert everything(path) < 15


def test_many_steps_of_different_names_are_quick(tmp_path):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(6000):
        line.event(f"phase{number}", start_us=100 * number, duration_us=90, step_num=number, _r=1)
    p = load(space.write(tmp_path / "h.xplane.pb"))
    start = time.perf_counter()
    assert str(p.advice)
    assert str(p.pods)
    assert time.perf_counter() - start < 6


def test_a_deep_pipeline_is_drawn(tmp_path):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for depth in range(1000):
        name = "Iterator::Root" + "::Map" * depth
        line.event(name, start_us=depth, duration_us=90_000 - 2 * depth, id=depth, parent_id=depth - 1)
    assert everything(space.write(tmp_path / "h.xplane.pb")) < 30
