"""GPU kernels: XProf's own test vectors, and the files that TensorFlow stored beside its captures."""

import json
from collections import defaultdict

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.kernels import COLUMNS, kernels, parse_kernel_details, uses_tensor_cores
from tfprof_nb.analysis.ops.ops import ops


def run(*spaces):
    return kernels([forest(space, f"host{i}") for i, space in enumerate(spaces)])


def one_gpu():
    """`xplane_to_kernel_stats_db_test.cc`."""
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    launches = [
        (
            "kernel_name_shortest",
            1000,
            "mul_786:Mul",
            "regs:16 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1",
        ),
        (
            "kernel_name_middle",
            2000,
            "Conv2D:Conv2D",
            "regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1 block:32,1,1",
        ),
        (
            "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn",
            3000,
            "Einsum_80:Einsum",
            "regs:32 static_shared:0 dynamic_shared:16384 grid:3,1,1 block:64,1,1 occ_pct=13.0",
        ),
    ]
    for start, (name, duration_ps, tf_op, details) in enumerate(launches):
        stream.event(name, start_us=start, duration_ps=duration_ps, tf_op=tf_op, kernel_details=details)
    return space


def test_kernels_of_one_gpu():
    result = run(one_gpu())
    table = result.table
    assert list(table.columns) == COLUMNS
    assert table["total_us"].tolist() == pytest.approx([3e-3, 2e-3, 1e-3])
    assert table["op_name"].tolist() == ["Einsum_80", "Conv2D", "mul_786"]
    assert table["tensor_core_used"].tolist() == [True, False, False]
    assert table["tensor_core_eligible"].tolist() == [True, True, False]
    assert table["registers_per_thread"].tolist() == [32, 32, 16]
    assert table["shared_memory_bytes"].tolist() == [16384, 16384, 0]
    assert table["grid"].tolist() == ["3,1,1", "2,1,1", "1,1,1"]
    assert table["block"].tolist() == ["64,1,1", "32,1,1", "1,1,1"]
    assert table["occupancy_percent"].isna().all()
    assert result.summary == {
        "kernels": 3,
        "occurrences": 3,
        "total_us": pytest.approx(6e-3),
        "tensor_core_share": pytest.approx(0.5),
    }


def test_launches_of_one_kind_are_one_row():
    """`kernel_stats_utils_test.cc`, merging: hosts add up as launches do."""

    def launched(*durations_ps):
        space = XSpace()
        stream = space.plane("/device:GPU:0").line("Stream #1")
        for start, duration_ps in enumerate(durations_ps):
            stream.event("k", start_us=start, duration_ps=duration_ps, kernel_details="regs:1 grid:1,1,1 block:1,1,1")
        return space

    result = run(launched(500_000, 1_200_000), launched(900_000))
    (row,) = result.table.itertuples()
    assert (row.occurrences, row.total_us, row.min_us, row.max_us) == pytest.approx((3, 2.6, 0.5, 1.2))
    assert row.avg_us == pytest.approx(2.6 / 3)


def by_op(result):
    """Each op's total time, that on tensor cores, and whether it could use them."""
    table = result.table.assign(tensor_core_us=result.table["total_us"] * result.table["tensor_core_used"])
    sums = table.groupby("op_name").agg(
        total=("total_us", "sum"), used=("tensor_core_us", "sum"), eligible=("tensor_core_eligible", "max")
    )
    return {op: tuple(values) for op, *values in sums.itertuples()}


def test_tensor_core_time_by_op():
    """`kernel_stats_utils_test.cc`, grouping by op: half the time of op1 is on tensor cores."""
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for start, name in enumerate(("volta_s884gemm", "kernel")):
        stream.event(name, start_us=start, duration_ps=1000, tf_op="op1:Op", kernel_details="regs:1")
    assert by_op(run(space)) == {"op1": (pytest.approx(2e-3), pytest.approx(1e-3), True)}


def test_ops_of_two_streams_and_their_tensor_cores():
    """`op_stats_to_tf_stats_test.cc`, with its convolution: half of its time is on tensor cores.

    There the streams' times are added up, and only 4 us of the span are idle; none runs in 12.
    """
    space = XSpace()
    gpu = space.plane("/device:GPU:0")
    first, second = gpu.line("Stream #1"), gpu.line("Stream #2")
    work = [
        (first, "kernel1", 100, 8, "TfOp1:TfOp1"),
        (first, "kernel2", 110, 10, "TfOp1:TfOp1"),
        (second, "kernel1", 100, 8, "TfOp1:TfOp1"),
        (second, "kernel2", 110, 10, "TfOp1:TfOp1"),
        (second, "kernel3", 120, 10, "TfOp2:TfOp2"),
        (second, "volta_fp16_s884gemm", 130, 10, "Conv2D:Conv2D"),
        (second, "kernel5", 150, 10, "Conv2D:Conv2D"),
    ]
    for stream, name, start, length, tf_op in work:
        stream.event(name, start_us=start, duration_us=length, tf_op=tf_op, kernel_details="regs:1")
    events = forest(space)
    table = ops([events]).with_idle()
    assert table[["op_name", "occurrences", "self_us"]].to_numpy().tolist() == [
        ["TfOp1", 2, 36.0],
        ["Conv2D", 1, 20.0],
        ["IDLE", 1, 12.0],
        ["TfOp2", 1, 10.0],
    ]
    assert by_op(kernels([events]))["Conv2D"] == (20, 10, True)


def test_launch_shapes_and_ops_are_rows_of_their_own():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for start, (grid, tf_op) in enumerate([("1,1,1", "a:A"), ("2,1,1", "a:A"), ("1,1,1", "b:B"), ("1,1,1", "a:A")]):
        stream.event("k", start_us=start, duration_us=1, kernel_details=f"grid:{grid}", tf_op=tf_op)
    assert sorted(run(space).table["occurrences"]) == [1, 1, 2]


@pytest.mark.parametrize(("plane", "device"), [("TPU", "a TPU"), ("MTIA", "another accelerator")])
def test_devices_that_are_no_gpus_have_none(plane, device):
    space = XSpace()
    space.plane(f"/device:{plane}:0").line("XLA Ops").event("fusion", duration_us=1)
    assert run(space).notes == [f"This page shows kernels of GPUs: this program ran on {device}."]


def test_what_is_no_kernel_does_not_count():
    space = XSpace()
    space.plane("/host:CPU").line("t").event("k", duration_us=1, kernel_details="regs:1")
    gpu = space.plane("/device:GPU:0")
    stream = gpu.line("Stream #1")
    stream.event("MemcpyH2D", start_us=0, duration_us=1)
    stream.event("k", start_us=5, duration_us=0, kernel_details="regs:1")
    stream.event("k", start_us=6, duration_us=1, kernel_details="")
    gpu.line("Framework Ops", line_id=-559038737 + 3).event("a:A", duration_us=1, kernel_details="regs:1")
    result = run(space)
    assert result.table.empty
    assert list(result.table.columns) == COLUMNS
    assert result.summary["tensor_core_share"] is None
    assert result.notes[0].startswith("No kernels")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("odd grid:3,2,1", (None, None, None, "3,2,1", None)),
        ("block:6,5,4 odd ", (None, None, "6,5,4", None, None)),
        ("block:1,2,3 odd grid:4,5,6", (None, None, "1,2,3", "4,5,6", None)),
        ("static_shared:7 dynamic_shared:8", (None, 15, None, None, None)),
        ("regs:38\nshm:128 grid:1,1,1\nblock:2,1,1", (38, 128, "2,1,1", "1,1,1", None)),
        (" grid:16,1,1 block:512,1,1 private_mem:0 group_mem:64 occ_pct:0", (None, 64, "512,1,1", "16,1,1", None)),
        ("regs:many occ_pct:12.5", (None, None, None, None, 12.5)),
        ("", (None, None, None, None, None)),
    ],
)
def test_parses_details_of_every_version(text, expected):
    assert parse_kernel_details(text) == expected


@pytest.mark.parametrize(
    ("kernel", "used"),
    [
        ("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_nn", True),
        ("sm90_xmma_gemm_f16f16", True),
        ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", True),
        ("cutlass3x_sm100_tensorop_s128x128", True),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", True),
        ("maxwell_sgemm_128x64_nn", False),
        ("void tensorflow::functor::ApplyAdamKernel<float>", False),
    ],
)
def test_tensor_core_names(kernel, used):
    assert uses_tensor_cores(kernel) is used


@pytest.mark.parametrize(("equation", "eligible"), [("ab,bc->ac", True), ("ab->ba", False), ("a,b,c->abc", False)])
def test_an_einsum_of_two_operands_is_eligible(equation, eligible):
    space = XSpace()
    space.plane("/device:GPU:0").line("Stream #1").event("k", duration_us=1, kernel_details="regs:1", equation=equation)
    assert run(space).table["tensor_core_eligible"].tolist() == [eligible]


def test_every_kernel_agrees_with_what_tensorflow_stored(shared_data):
    """Exact counts and nanoseconds; TensorFlow kept the first 1000 rows only."""
    from xprof.protobuf import kernel_stats_pb2

    folder = shared_data / "tf2-gpu-pong"
    expected = json.loads((folder / "expected.json").read_text())
    assert len(expected) == 14
    for path, figures in expected.items():
        xplane = shared_data / path
        table = kernels([forest(xplane.read_bytes())]).table
        stored = kernel_stats_pb2.KernelStatsDb.FromString(
            xplane.with_name(xplane.name.replace("xplane", "kernel_stats")).read_bytes()
        )
        cut = len(stored.reports) == 1000
        assert cut or table["occurrences"].sum() == figures["kernels"]["occurrences"]
        assert cut or round(table["total_us"].sum() * 1000) == figures["kernels"]["total_ns"]
        assert len(table) >= len(stored.reports)
        theirs, ours = defaultdict(int), defaultdict(int)
        for report in stored.reports:
            # The parser of that time did not know names with a hyphen, and left the type in the name.
            theirs[report.name, report.op_name.partition(":")[0]] += report.total_duration_ns
        for row in table.itertuples():
            ours[row.kernel, row.op_name] += round(row.total_us * 1000)
        assert sum(ours[key] != ns for key, ns in theirs.items()) <= 0.01 * len(theirs), path


@pytest.mark.parametrize("folder", ["tf2-gpu-multi-worker", "jax-rocm-conv", "jax-tpu-inference"])
def test_other_devices(shared_data, folder):
    file = next((shared_data / folder).rglob("*.xplane.pb"))
    result = kernels([forest(file.read_bytes())])
    assert result.table.empty == ("tpu" in folder)
    assert bool(result.notes) == (folder != "tf2-gpu-multi-worker")
    assert (result.summary["tensor_core_share"] is None) == (folder != "tf2-gpu-multi-worker")
