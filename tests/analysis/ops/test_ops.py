"""Time by op: XProf's own test vectors, XProf on a capture made here, and files that TensorFlow stored."""

import json

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.ops.ops import COLUMNS, ops
from tfprof_nb.decode import read_xspace
from tfprof_nb.decode.merge import merge_runs


def run(*spaces):
    return ops([forest(space, f"host{i}") for i, space in enumerate(spaces)])


def rows(result, *columns, side=None):
    table = result.table if side is None else result.table[result.table["side"] == side]
    return [tuple(row) for row in table[list(columns)].itertuples(index=False)]


def two_threads():
    """`xplane_to_op_metrics_db_test.cc`, host ops."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    for name in ("thread1", "thread2"):
        cpu.line(name).event("TfOp1:TfOp1", start_us=100, duration_us=8)
    cpu.lines[1].event("TfOp2:TfOp2", start_us=110, duration_us=10)
    return space


def two_streams():
    """`op_stats_to_tf_stats_test.cc`: the same op launched two kernels on two streams."""
    space = XSpace()
    gpu = space.plane("/device:GPU:0")
    first, second = gpu.line("Stream #1"), gpu.line("Stream #2")
    for stream in (first, second):
        stream.event("kernel1", start_us=100, duration_us=8, tf_op="TfOp1:TfOp1")
        stream.event("kernel2", start_us=110, duration_us=10, tf_op="TfOp1:TfOp1")
    second.event("kernel3", start_us=120, duration_us=10, tf_op="TfOp2:TfOp2")
    return space


def test_host_ops_are_summed_over_threads():
    result = run(two_threads())
    assert list(result.table.columns) == COLUMNS
    assert rows(result, "op_name", "occurrences", "self_us") == [("TfOp1", 2, 16.0), ("TfOp2", 1, 10.0)]
    assert result.summary["host_self_us"] == 26
    assert result.summary["host_idle_us"] == 2
    assert result.summary["host_total_us"] == 28
    assert result.table["self_share"].tolist() == pytest.approx([16 / 26, 10 / 26])
    assert result.table["cumulative_share"].tolist() == pytest.approx([16 / 26, 1])


def test_with_idle_adds_a_row_and_shares_of_the_whole_time():
    table = run(two_threads()).with_idle()
    assert table["op_name"].tolist() == ["TfOp1", "TfOp2", "IDLE"]
    assert table["self_us"].tolist() == [16, 10, 2]
    assert table["self_share"].tolist() == pytest.approx([16 / 28, 10 / 28, 2 / 28])


def test_an_op_occurs_as_often_as_its_most_frequent_kernel():
    result = run(two_streams())
    assert rows(result, "side", "op_name", "occurrences", "total_us") == [
        ("device", "TfOp1", 2, 36.0),
        ("device", "TfOp2", 1, 10.0),
    ]


def test_a_device_is_busy_while_any_stream_is():
    """XProf compares the streams' 46 us with the span of 30, and says that the device was never idle."""
    summary = run(two_streams()).summary
    assert (summary["device_self_us"], summary["device_busy_us"], summary["device_idle_us"]) == (46, 28, 2)


def test_nothing_is_idle_between_runs_on_one_timeline():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("a:A", start_us=0, duration_us=10)
    thread.event("b:B", start_us=15, duration_us=5)
    summary = ops([Forest(merge_runs([read_xspace(space.to_bytes(), name) for name in "ab"], "both"))]).summary
    assert (summary["host_busy_us"], summary["host_idle_us"]) == (30, 10)


def test_two_equal_hosts_add_up():
    """`xplane_to_op_stats_test.cc`: 70 ps of one op on each of two hosts."""
    space = XSpace()
    space.plane("/host:CPU").line("tf_Compute").event("aaa:bbb", start_ps=30, duration_ps=70)
    result = run(space, space)
    assert rows(result, "op_name", "op_type", "occurrences", "self_us") == [("aaa", "bbb", 2, pytest.approx(140e-6))]
    assert result.summary["host_idle_us"] == 0


def test_devices_come_first_and_hosts_add_up():
    both = two_threads()
    both.planes += two_streams().planes
    result = run(both, two_threads())
    assert rows(result, "side", "op_name", "self_us") == [
        ("device", "TfOp1", 36.0),
        ("device", "TfOp2", 10.0),
        ("host", "TfOp1", 32.0),
        ("host", "TfOp2", 20.0),
    ]


def test_self_time_excludes_nested_ops_but_not_other_events():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("outer:Outer", start_us=0, duration_us=100)
    thread.event("helper", start_us=5, duration_us=60)
    thread.event("inner:Inner", start_us=10, duration_us=30)
    assert rows(run(space), "op_name", "total_us", "self_us") == [("outer", 100.0, 70.0), ("inner", 30.0, 30.0)]


def test_allocations_are_no_occurrences():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("conv:Conv2D", start_us=0, duration_us=100)
    thread.event("MemoryAllocation", start_us=10, duration_us=0, tf_op="conv:Conv2D")
    assert rows(run(space), "op_name", "occurrences") == [("conv", 1)]


def test_launches_are_no_host_ops():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("MemcpyH2D", start_us=0, duration_us=10, correlation_id=3)
    thread.event("MEMCPYHtoD", start_us=20, duration_us=10)
    assert rows(run(space), "op_type", "op_name") == [("MemcpyHToD", "MEMCPYHtoD")]


def test_derived_lines_do_not_count():
    space = XSpace()
    gpu = space.plane("/device:GPU:0")
    gpu.line("Stream #1").event("kernel", start_us=0, duration_us=5, tf_op="a:A")
    gpu.line("Framework Ops", line_id=-559038737 + 3).event("a:A", start_us=0, duration_us=5)
    gpu.line("TensorFlow Ops").event("a:A", start_us=0, duration_us=5)
    assert rows(run(space), "op_name", "total_us") == [("a", 5.0)]


@pytest.mark.parametrize(
    "stats",
    [
        {"level 0": "scope/a:A", "annotation": "scope/a:A#edge_name=x#"},
        {"annotation": "scope/a:A#edge_name=x#::#other=y#"},
        {"tf_op": "scope/a:A", "level 0": "not/this:One"},
    ],
)
def test_kernels_have_their_op_in_files_of_every_version(stats):
    space = XSpace()
    space.plane("/device:GPU:0").line("Stream #1").event("kernel", start_us=0, duration_us=5, **stats)
    assert rows(run(space), "op_type", "op_name") == [("A", "scope/a")]


def test_device_work_of_no_op_is_kept_under_its_own_name():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("MemcpyD2H", start_us=0, duration_us=5)
    stream.event("void kernel<float>()", start_us=10, duration_us=3)
    assert rows(run(space), "op_type", "op_name") == [("MemcpyDToH", "MemcpyD2H"), ("", "void kernel<float>()")]


def test_xla_kernels_go_by_the_framework_path_or_the_instruction():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    xla = {"hlo_op": "fusion.3", "hlo_module": "jit_f", "tf_op": "XlaModule:"}
    stream.event("loop_fusion", start_us=0, duration_us=5, name="jit(f)/dot_general", **xla)
    stream.event("loop_fusion_2", start_us=10, duration_us=3, **xla)
    assert rows(run(space), "op_type", "op_name") == [("dot_general", "jit(f)/dot_general"), ("fusion", "fusion.3")]


def test_tpu_instructions_nest_and_know_their_flops():
    space = XSpace()
    tpu = space.plane("/device:TPU:0")
    tpu.line("XLA Modules").event("jit_f(1)", start_us=0, duration_us=50)
    line = tpu.line("XLA Ops")
    line.event("%while.1 = () while()", start_us=0, duration_us=50)
    line.event("%fusion.7 = f32[8] fusion()", start_us=10, duration_us=20, flops=4000)
    line.event("%fusion.7 = f32[8] fusion()", start_us=30, duration_us=20, flops=4000)
    result = run(space)
    assert rows(result, "op_type", "op_name", "occurrences", "total_us", "self_us") == [
        ("fusion", "fusion.7", 2, 40.0, 40.0),
        ("while", "while.1", 1, 50.0, 10.0),
    ]
    assert result.table["flops"].tolist()[0] == 8000
    assert result.table["gflops_per_s"].tolist()[0] == pytest.approx(8000 / 40_000)
    assert np.isnan(result.table["flops"].tolist()[1])


@pytest.mark.parametrize(("stats", "eager"), [({}, False), ({"is_func": 1}, False), ({"is_func": 0}, True)])
def test_eager_ops_and_their_kernels(stats, eager):
    """`group_events_test.cc`, eager: only an execution that says it is no function's is eager."""
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("EagerExecute", start_us=0, duration_us=100, **stats)
    thread.event("mul:Mul", start_us=10, duration_us=50)
    thread.event("cuLaunchKernel", start_us=20, duration_us=5, correlation_id=100)
    space.plane("/device:GPU:0").line("Stream #1").event(
        "kernel", start_us=30, duration_us=7, correlation_id=100, tf_op="mul:Mul"
    )
    result = run(space)
    assert rows(result, "side", "eager") == [("device", eager), ("host", eager)]
    assert result.summary["host_eager_share"] == result.summary["device_eager_share"] == float(eager)


def test_iterators_are_never_eager():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("EagerExecute", start_us=0, duration_us=100, is_func=0)
    thread.event("Iterator::Root", start_us=10, duration_us=50)
    assert rows(run(space), "op_type", "eager") == [("Dataset", False)]


def test_an_eager_op_of_which_only_the_dispatch_was_recorded_counts():
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("EagerExecute", start_us=0, duration_us=100, is_func=0)
    thread.event("EagerLocalExecute: MatMul", start_us=5, duration_us=90)
    thread.event("EagerExecute", start_us=200, duration_us=100, is_func=0)
    thread.event("EagerLocalExecute: Mul", start_us=205, duration_us=90)
    thread.event("Mul:Mul", start_us=210, duration_us=60)
    thread.event("EagerExecute", start_us=400, duration_us=100, is_func=1)
    thread.event("EagerLocalExecute: __inference_f", start_us=405, duration_us=90)
    assert rows(run(space), "op_name", "total_us", "eager") == [("MatMul", 90.0, True), ("Mul", 60.0, True)]


def test_an_empty_side_says_why():
    idle = XSpace()
    idle.plane("/host:CPU")
    assert [note.partition(":")[0] for note in run(idle).notes] == ["No device ops", "No host ops"]
    assert [note.partition(":")[0] for note in run(two_threads()).notes] == ["No device ops"]
    assert run().table.empty
    assert run(idle).summary["host_eager_share"] is None


def by_op(result):
    return {(row.side, row.op_name): row for row in result.table.itertuples()}


def test_agrees_with_xprof(keras_capture):
    """XProf counts allocations as occurrences, and leaves out eager ops of which only the dispatch was recorded."""
    from xprof.convert import raw_to_tool_data

    tables = json.loads(raw_to_tool_data.xspace_to_tool_data([str(keras_capture)], "framework_op_stats", {})[0])
    records = [[cell["v"] for cell in row["c"]] for row in min(tables, key=lambda table: len(table["rows"]))["rows"]]
    columns = [column["id"] for column in tables[0]["cols"]]
    theirs = {row["operation"]: row for row in (dict(zip(columns, record, strict=True)) for record in records)}
    ours = {
        name: row
        for (_, name), row in by_op(ops([forest(keras_capture.read_bytes())])).items()
        if not (row.eager and name == row.op_type)
    }
    assert len(ours) > 10
    assert set(ours) <= set(theirs)
    assert all(theirs[name]["total_self_time"] == 0 for name in set(theirs) - set(ours))
    for name, row in ours.items():
        assert row.self_us == pytest.approx(theirs[name]["total_self_time"], rel=0.01, abs=1e-3), name
        assert row.occurrences <= theirs[name]["occurrences"], name
        assert row.eager == (theirs[name]["eager"] == "Eager"), name


# Their device ops launched several kernels, and TensorFlow kept what the last one said.
EAGER_DIFFERS = {("2021_08_25_00_46_45", "Add"), ("2021_08_25_00_46_45", "StridedSliceGrad")}


def test_every_op_agrees_with_what_tensorflow_stored(shared_data):
    from xprof.protobuf import tf_stats_pb2

    files = sorted((shared_data / "tf2-gpu-pong").rglob("*.tensorflow_stats.pb"))
    assert len(files) == 14
    for file in files:
        stats = tf_stats_pb2.TfStatsDatabase.FromString(file.read_bytes())
        xplane = file.with_name(file.name.replace("tensorflow_stats", "xplane"))
        result = ops([forest(xplane.read_bytes())])
        ours = by_op(result)
        # The streams of this GPU hardly overlap: to add them up, as TensorFlow did, changes little.
        (idle,) = (r for r in stats.with_idle.tf_stats_record if (r.host_or_device, r.op_type) == ("Device", "IDLE"))
        assert result.summary["device_idle_us"] == pytest.approx(idle.total_self_time_in_us, rel=2e-3)
        for record in stats.without_idle.tf_stats_record:
            # The parser of that time did not know names with a hyphen, and left the type in the name.
            name = record.op_name.partition(":")[0] if record.op_type == "Unknown" else record.op_name
            row = ours[record.host_or_device.lower(), name]
            assert row.occurrences == record.occurrences
            assert row.self_us == pytest.approx(record.total_self_time_in_us)
            assert row.eager == record.is_eager or (file.parent.name, name) in EAGER_DIFFERS
        totals = [r for r in stats.without_idle.tf_stats_record if r.host_or_device == "Host"]
        assert len(totals) == sum(side == "host" for side, _ in ours)


CAPTURES = ["tf2-gpu-multi-worker", "jax-rocm-conv", "jax-tpu-inference"]


@pytest.mark.parametrize("folder", CAPTURES)
def test_other_devices_give_device_ops(shared_data, folder):
    file = next((shared_data / folder).rglob("*.xplane.pb"))
    result = ops([forest(file.read_bytes())])
    assert result.summary["device_self_us"] > 0
    assert (result.table["side"] == "host").any() or any("No host ops" in note for note in result.notes)
