"""Names that are long, deep or many: the time that they take grows with their length, not with its square."""

import gc
import time

import pytest

from builders import XSpace
from tfprof_nb import compare, load

NAMES = {
    "slashes": lambda n: "/" * 20 * n,
    "scopes": lambda n: "a/" * 10 * n + "x:MatMul",
    "gradients": lambda n: "gradients/" + "a_grad/" * 10 * n + "x:Mul",
    "calls": lambda n: "PartitionedCall/" * 6 * n + "x:Mul",
    "loops": lambda n: "Loop/" * 10 * n + "x:Mul",
    "long": lambda n: "a" * 100 * n + ":MatMul",
    "numbers": lambda n: "%fusion" + ".1" * 20 * n + "x = f32",
    "words": lambda n: "x " * 50 * n,
    "backward": lambda n: "__backward_" + "_1" * 30 * n + "x",
    "digits": lambda n: "dense_" + "1" * 5 * n,
}
SIZE = 1000  # what is compared are a quarter of it and all of it


def everything(path):
    """Compute and write all results."""
    p = load(path)
    assert str(p)
    for result in (p.graph, p.source, p.trace, p.pods, p.tf_data, p.kernels):
        assert str(result)
    p.to_html(path.with_name("p.html"))
    assert str(compare(p, p))
    p.to_chrome_trace(path.with_name("p.json"))


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory):
    """What the first profile of a process imports is no part of the time that others take."""
    space = XSpace()
    space.plane("/device:GPU:0").line("Stream #1").event("x:MatMul", kernel_details="regs:32")
    space.plane("/host:CPU").line("python").event("train", duration_us=90, step_num=1, _r=1)
    everything(space.write(tmp_path_factory.mktemp("first") / "h.xplane.pb"))


def check_growth(work, quarter, whole):
    """Four times as much takes about four times the processor time at most, and not sixteen times."""
    spent = []
    for path in (quarter, whole):
        gc.collect()  # and not within what is measured
        gc.disable()
        began = time.process_time()
        try:
            work(path)
        finally:
            gc.enable()
        spent.append(time.process_time() - began)
    assert spent[1] < 8 * spent[0], spent


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([*NAMES.values()], id="all"),
        *(pytest.param([name], id=kind, marks=pytest.mark.nightly) for kind, name in NAMES.items()),  # tell which
    ],
)
def test_long_names_take_time_in_proportion(tmp_path, names):
    """Of all kinds in one profile: what is not of names takes most of the time, and is the same for one and for all."""

    def written(size):
        space = XSpace()
        cpu = space.plane("/host:CPU")
        lines = [cpu.line(name(size)[:10_000]) for name in names]
        stream = space.plane("/device:GPU:0").line("Stream #1")
        for number in range(3):
            lines[0].event("train", start_us=100 * number, duration_us=90, step_num=number, _r=1)
            for place, name in enumerate(names):
                text = name(size)
                lines[place].event(text, start_us=100 * number + 10 + 5 * place, duration_us=4, tf_function_call=text)
        for place, name in enumerate(names):
            about = {"tf_op": name(size), "correlation_id": place + 1, "kernel_details": "regs:32"}
            stream.event("kernel", start_us=30 + 5 * place, duration_us=5, **about)
        return space.write(tmp_path / str(size) / "h.xplane.pb")

    check_growth(everything, written(SIZE // 4), written(SIZE))


def test_a_long_name_of_a_process_in_a_trace_takes_time_in_proportion(tmp_path):
    def written(size):
        path = tmp_path / f"{size}.json"
        path.write_text(
            '[{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "'
            + "a " * 100 * size
            + '"}}, {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "name": "a"}]'
        )
        return path

    check_growth(everything, written(SIZE // 4), written(SIZE))


def test_many_steps_of_different_names_take_time_in_proportion(tmp_path):
    def written(steps):
        space = XSpace()
        line = space.plane("/host:CPU").line("python")
        for number in range(steps):
            line.event(f"phase{number}", start_us=100 * number, duration_us=90, step_num=number, _r=1)
        return space.write(tmp_path / str(steps) / "h.xplane.pb")

    def advised(path):
        p = load(path)
        assert str(p.advice)
        assert str(p.pods)

    check_growth(advised, written(1500), written(6000))


def test_a_deep_pipeline_is_drawn(tmp_path):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for depth in range(1000):
        name = "Iterator::Root" + "::Map" * depth
        line.event(name, start_us=depth, duration_us=90_000 - 2 * depth, id=depth, parent_id=depth - 1)
    everything(space.write(tmp_path / "h.xplane.pb"))
    assert "Map" in (tmp_path / "p.html").read_text()
