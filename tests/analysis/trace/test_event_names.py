"""Ops as tables name them, and their events in the trace."""

import pytest

from builders import XSpace
from tfprof_nb.api.load import load


@pytest.fixture(scope="module")
def event_name(tmp_path_factory):
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0")
    python = cpu.line("python")
    for at, name in enumerate(("StatefulPartitionedCall/dense/MatMul:_MklMatMul", "dense/Relu:Relu", "MatMul:MatMul")):
        python.event(name, start_us=10 * at, duration_us=5)
    python.event("EagerExecute", start_us=40, duration_us=8, is_func=0)
    python.event("EagerLocalExecute: AddV2", start_us=41, duration_us=6)
    stream = gpu.line("Stream #1")
    for at, kernel in enumerate(("gemm", "gemm", "add")):
        stream.event(kernel, start_us=10 * at, duration_us=5, correlation_id=at, tf_op="jit(f)/dot")
    return load(space.write(tmp_path_factory.mktemp("names") / "host.xplane.pb")).trace.event_name


@pytest.mark.parametrize(
    ("op", "event"),
    [
        ("MatMul:MatMul", "MatMul:MatMul"),
        ("MatMul", "MatMul:MatMul"),
        ("StatefulPartitionedCall/dense/MatMul", "StatefulPartitionedCall/dense/MatMul:_MklMatMul"),
        ("dense/MatMul", "StatefulPartitionedCall/dense/MatMul:_MklMatMul"),  # as in its own function
        ("dense/Relu", "dense/Relu:Relu"),
        ("AddV2", "EagerLocalExecute: AddV2"),
        ("jit(f)/dot", "gemm"),  # two of its three kernels
        ("never/ran", "never/ran"),
    ],
)
def test_the_events_of_an_op_are_found(event_name, op, event):
    assert event_name(op) == event


def test_an_event_of_a_stage_is_found_whichever_branch_it_is_of(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for at, name in ((0, "FlatMap[0]::Map"), (10, "FlatMap[1]::Map"), (20, "FlatMap")):
        python.event(f"Iterator::{name}", start_us=at, duration_us=5)
    trace = load(space.write(tmp_path / "host.xplane.pb")).trace
    found = trace.event_of("Iterator::FlatMap::Map", 7_000_000, 15_000_000)
    assert trace.details(found["event"])["name"] == "Iterator::FlatMap[1]::Map"
    assert trace.event_of("Iterator::FlatMap::Map", 11_000_000, 30_000_000) == found  # it runs already
    assert trace.event_of("Iterator::FlatMap::Map", 16_000_000, 30_000_000) is None
    assert trace.event_of("never/ran", 0, 30_000_000) is None


def test_of_a_real_program_every_op_has_events(keras_capture):
    p = load(keras_capture)
    names = set(p.trace.header()["names"])
    assert len(p.ops.table) > 20
    assert [op for op in p.ops.table["op_name"] if p.trace.event_name(op) not in names] == []


def test_with_hosts_of_different_size_the_kernels_of_an_op_are_found_on_each(tmp_path):
    files = []
    for host, kernels in (("small", ["add"]), ("large", ["gemm", "gemm", "gemm", "add"])):
        space = XSpace()
        stream = space.plane("/device:GPU:0").line("Stream #1")
        for at, kernel in enumerate(kernels):
            op = "dense/dot" if kernel == "gemm" else "dense/bias"
            stream.event(kernel, start_us=10 * at, duration_us=5, correlation_id=at, tf_op=f"jit(f)/{op}")
        files.append(space.write(tmp_path / f"{host}.xplane.pb"))
    for hosts in (files, files[::-1]):
        trace = load(hosts).trace
        assert trace.event_name("jit(f)/dense/dot") == "gemm"
        assert trace.event_name("jit(f)/dense/bias") == "add"
        assert trace.event_name("never/ran") == "never/ran"
