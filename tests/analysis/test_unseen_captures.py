"""Captures of many ages and makers, built by hand: what varies between them must not change the answer."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.input_pipeline import input_pipeline
from tfprof_nb.analysis.kernels import kernels
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.overview import overview
from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps

PARTS = [*CATEGORIES, "other_ms"]
FIRST_DERIVED_ID = -559038737


def measured(space):
    events = forest(space)
    return steps([events], [group_events(events)])


def spent(result, step=0):
    """The categories that took time in a step, in microseconds, and the step's own time."""
    row = result.table.iloc[step]
    return {name: round(row[name] * 1e3, 6) for name in ["step_ms", *PARTS] if row[name]}


# One step of 900 us: 190 waiting, an executor from 320 to 620, a kernel from 400 to 700, a copy to the device of 30.
ONE_STEP = {"step_ms": 900, "device_compute_ms": 300, "kernel_launch_ms": 80, "input_ms": 220, "other_ms": 300}
# The same where TensorFlow stored groups with the events: until 2.10 it took copies for compute.
SAVED_STEP = ONE_STEP | {"device_compute_ms": 330, "input_ms": 190}


def program(mark=("train", {"_r": 1}), *, links="contexts", tracer="/host:CPU", streams=("(Compute)", "(MemcpyH2D)")):
    """Three steps of a GPU program, in the dialect of one TensorFlow or another."""
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0", compute_cap_major=7, compute_cap_minor=0)
    python, executor = cpu.line("python3", line_id=11), cpu.line("tf_Compute", line_id=12)
    launches = executor if tracer == "/host:CPU" else space.plane(tracer).line("tf_Compute", line_id=12)
    compute, copies = (gpu.line(f"Stream #{13 + i}{what}") for i, what in enumerate(streams))
    name, flags = mark
    for i in range(3):
        at = 1000 * i
        out, in_ = ({"_pt": 2, "_p": i}, {"_ct": 2, "_c": i}) if links == "contexts" else ({}, {})
        python.event(name, start_us=at, duration_us=900, step_num=i, **flags)
        python.event("IteratorGetNext", start_us=at + 10, duration_us=190)
        python.event("FunctionRun", start_us=at + 300, duration_us=100, id=i, **out)
        executor.event("ExecutorState::Process", start_us=at + 320, duration_us=300, id=i, iter_num=0, **in_)
        launches.event("gemm", start_us=at + 330, duration_us=10, correlation_id=2 * i + 1)
        launches.event("MemcpyH2D", start_us=at + 345, duration_us=10, correlation_id=2 * i + 2)
        op = {"tf_op": "m/MatMul:MatMul", "kernel_details": "regs:32 grid:1,1,1 block:64,1,1"}
        compute.event("gemm", start_us=at + 400, duration_us=300, correlation_id=2 * i + 1, **op)
        copies.event("MemcpyH2D", start_us=at + 720, duration_us=30, correlation_id=2 * i + 2)
    return space


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"mark": ("TraceContext", {"graph_type": "train"})},
        {"mark": ("my own step", {"_r": 1})},
        {"links": "step ids"},
        {"tracer": "/host:CUPTI"},
        {"tracer": "/host:ROCTRACER", "streams": ("(Kernel)", "(MemcpyH2D)")},
        {"streams": ("(Compute,MemcpyD2D)", "")},
        {"streams": ("(MemcpyD2D,Compute)", "(compute)")},
    ],
    ids=str,
)
def test_one_program_in_many_dialects(variant):
    space = program(**variant)
    result = measured(space)
    assert result.table["step_ms"].tolist() == [0.9] * 3
    assert spent(result) == ONE_STEP
    assert result.summary["source"] == "marked"
    table = ops([forest(space)]).table
    assert table[table["side"] == "device"]["op_name"].tolist() == ["m/MatMul", "MemcpyH2D"]
    assert kernels([forest(space)]).summary["total_us"] == 900


def test_functions_are_steps_of_a_device_though_nothing_flags_them():
    """TensorFlow 2.2 and 2.3 wrote neither `_r` nor, at first, contexts."""
    space = program(links="step ids")
    space.planes[0].lines[0].events = bytearray()
    python = space.planes[0].lines[0]
    for i in range(3):
        python.event("FunctionRun", start_us=1000 * i + 300, duration_us=100, id=i)
    result = measured(space)
    assert result.summary["source"] == "device"
    # From the first to the last work on the device; of the executor's 80 us before it nothing is in the step.
    assert spent(result) == {"step_ms": 350, "device_compute_ms": 300, "input_ms": 30, "other_ms": 20}


def saved(program_space, group_of_step=7, **names):
    """The same program as a TensorFlow that stored groups with the events would have written it: built anew."""
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0")
    python, executor = cpu.line("python3"), cpu.line("tf_Compute")
    compute, copies = gpu.line("Stream #13(Compute)"), gpu.line("Stream #14(MemcpyH2D)")
    for i in range(3):
        at, group = 1000 * i, {"group_id": group_of_step + i}
        python.event(program_space, start_us=at, duration_us=900, **group, **names)
        python.event("IteratorGetNext", start_us=at + 10, duration_us=190, **group)
        executor.event("ExecutorState::Process", start_us=at + 320, duration_us=300, **group)
        compute.event("gemm", start_us=at + 400, duration_us=300, correlation_id=2 * i + 1, **group)
        copies.event("MemcpyH2D", start_us=at + 720, duration_us=30, correlation_id=2 * i + 2, **group)
    return space


def add_derived_lines(space, ids, names):
    """Lines as converters add them: they span what the streams hold, and carry groups of their own."""
    for line_id, name in zip(ids, names, strict=True):
        line = space.planes[1].line(name, line_id=line_id)
        for i in range(3):
            line.event("7", start_us=1000 * i + 100, duration_us=800, group_id=7 + i, correlation_id=500)
    return space


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ([FIRST_DERIVED_ID, FIRST_DERIVED_ID + 3, FIRST_DERIVED_ID + 300], ["Steps", "TensorFlow Ops", "?"]),
        ([FIRST_DERIVED_ID % 2**32, (FIRST_DERIVED_ID + 2) % 2**32], ["a", "b"]),
        ([101, 102, 103], ["Steps", "Framework Ops - from #13", "TensorFlow Name Scope"]),
    ],
)
def test_lines_that_converters_saved_do_not_count(ids, names):
    space = add_derived_lines(saved("train", step_num=3, step_name="train 3"), ids, names)
    assert spent(measured(space)) == SAVED_STEP
    assert ops([forest(space)]).summary["device_self_us"] == 3 * 330


def test_saved_groups_name_their_steps_or_the_device_does():
    marked = measured(saved("TraceContext", step_num=3, graph_type="train"))
    assert (marked.summary["source"], marked.table["phase"].tolist()) == ("marked", ["train"] * 3)
    unmarked = measured(saved("FunctionRun", step_name="FunctionRun"))
    assert unmarked.summary["source"] == "device"
    assert spent(unmarked) == SAVED_STEP


def test_functions_outside_the_marks_are_no_marked_steps_that_got_lost():
    """TensorFlow 2.4 saved a group, and a name, for every function run as well."""
    space = saved("train", step_num=3, step_name="train 3")
    space.planes[0].lines[0].event("FunctionRun", start_us=5000, duration_us=9, group_id=90, step_name="FunctionRun 90")
    result = measured(space)
    assert result.table["phase"].tolist() == ["train"] * 3
    assert not any("left out" in note for note in result.notes)


def test_steps_cut_by_the_captures_edges():
    """Of the first step the mark is missing, of the last what the device did."""
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0")
    python, stream = cpu.line("python3"), gpu.line("Stream #13(Compute)")
    stream.event("gemm", start_us=20, duration_us=300, correlation_id=1, group_id=0)
    for i in (1, 2, 3):
        python.event("train", start_us=1000 * i, duration_us=900, step_num=i, step_name=f"train {i}", group_id=i)
        if i < 3:
            stream.event("gemm", start_us=1000 * i + 400, duration_us=300, correlation_id=2 * i, group_id=i)
    result = measured(space)
    assert result.table["step_ms"].round(6).tolist() == [0.3, 0.9, 0.9]
    assert "1 step had no device work and was excluded" in result.notes[0]


def test_groups_that_xprof_saved_on_a_cpu_do_not_hide_the_steps():
    """XProf names only the roots that users marked: in an unmarked program its groups say nothing of steps."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python3")
    for i in range(3):
        python.event("EagerLocalExecute: __inference_f", start_us=100 * i, duration_us=50, group_id=i)
        python.event("FunctionRun", start_us=100 * i + 5, duration_us=40, _r=1, group_id=i)
    result = measured(space)
    assert (result.summary["source"], result.summary["steps"]) == ("inferred", 3)


def test_named_roots_are_steps_of_old_captures_of_a_cpu():
    space = XSpace()
    python = space.plane("/host:CPU").line("python3")
    for i in range(2):
        group = {"group_id": i}
        python.event("FunctionRun", start_us=100 * i, duration_us=50, step_name="FunctionRun", **group)
        python.event("a/MatMul:MatMul", start_us=100 * i + 10, duration_us=30, **group)
    result = measured(space)
    assert result.summary["source"] == "inferred"
    assert spent(result) == {"step_ms": 50, "host_compute_ms": 30, "other_ms": 20}


def test_marks_win_over_groups_that_follow_a_loop():
    """TensorFlow grouped by a loop's iterations where there was one, and then the marks belong to no group."""
    space = program()
    loop = space.planes[0].lines[1]
    for i in range(3):
        loop.event("ExecutorState::Process", start_us=5000 + i, duration_us=1, id=9, iter_num=i, group_id=i)
    space.planes[1].lines[0].event("gemm", start_us=5000, duration_us=1, group_id=0, correlation_id=99)
    result = measured(space)
    assert (result.summary["source"], spent(result)) == ("marked", SAVED_STEP)


def test_devices_that_exchange_gradients():
    """Two GPUs with two streams each: a moment counts once, for the most important of all devices' work."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python3")
    gpus = [space.plane(f"/device:GPU:{i}") for i in range(2)]
    python.event("train", duration_us=1000, step_num=0, _r=1)
    work = [  # device, stream, name, from, to
        (0, "Stream #13(Compute)", "gemm", 100, 400),
        (1, "Stream #13(Compute)", "gemm", 150, 450),
        (0, "Stream #16(Compute)", "ncclAllReduceRingLLKernel_sum_f32", 350, 650),
        (1, "Stream #16(Compute)", "ncclDevKernel_AllReduce_Sum_f32", 350, 600),
        (0, "Stream #17(MemcpyP2P)", "MemcpyP2P", 640, 700),
        (1, "Stream #18(MemcpyD2H)", "MemcpyD2H", 690, 720),
        (1, "Stream #19(MemcpyH2D)", "MemcpyH2D", 90, 160),
    ]
    for number, (device, stream, name, start, end) in enumerate(work):
        python.event("launch", start_us=start - 20, duration_us=5, correlation_id=number)
        line = gpus[device].line(stream)
        line.event(name, start_us=start, duration_us=end - start, correlation_id=number)
    assert spent(measured(space)) == {
        "step_ms": 1000,
        "device_compute_ms": 350,  # 100 to 450
        "device_collectives_ms": 640 - 450,
        "device_to_device_ms": 690 - 640,
        "output_ms": 30,
        "input_ms": 10,  # 90 to 100: the rest of the copy ran under compute
        "kernel_launch_ms": 5 + 5,  # at 70 and 80; all others ran under device work
        "other_ms": 1000 - 350 - 190 - 50 - 30 - 10 - 10,
    }


def pygrain():
    """Stages of PyGrain on the step's thread, and one that another thread ran ahead for them."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, worker = cpu.line("python"), cpu.line("worker")
    python.event("read_data", duration_us=100, step_num=1, _r=1)
    stages = [("Batch", 1, "preprocessing", 1, 90), ("Map", 2, "Preprocessing", 2, 50), ("Source", 3, "read", 3, 30)]
    for name, number, kind, start, duration in stages:
        stats = {"_ipl_stage_name": name, "_ipl_stage_id": number, "_ipl_stage_cat": kind}
        link = {"_pt": 9999, "_p": 4} if name == "Source" else {}
        python.event(f"_{name}Iterator.__next__", start_us=start, duration_us=duration, **stats, **link)
    stats = {"_ipl_stage_name": "Prefetch", "_ipl_stage_id": 4, "_ipl_stage_cat": "enqueue"}
    worker.event("work", start_us=2, duration_us=95, _ct=9999, _c=4, **stats)
    return space


def test_steps_wait_for_the_stages_of_pygrain():
    """`xplane_to_step_events_test.cc`: the outermost stage is waiting; work ahead on another thread is compute."""
    assert spent(measured(pygrain())) == {"step_ms": 100, "input_ms": 90, "host_compute_ms": 6, "other_ms": 4}


def test_stages_of_pygrain_are_input_ops():
    events = forest(pygrain())
    measured, of_ops = steps([events], [group_events(events)]), ops([events])
    table = input_pipeline(measured, of_ops, overview([events], measured, of_ops)).table
    assert table[["op_name", "self_ms", "category"]].to_numpy().tolist() == [
        ["Prefetch", 0.095, "Enqueue"],
        ["Batch", 0.04, "Preprocessing"],
        ["Source", 0.03, "Demanded file read"],
        ["Map", 0.02, "Preprocessing"],
    ]


@pytest.mark.parametrize("marked", [False, True])
def test_steps_of_a_tpu_are_its_own_and_a_note_says_so(marked):
    space = XSpace()
    if marked:
        space.plane("/host:CPU").line("python").event("train", duration_us=100, step_num=0, _r=1)
    tpu = space.plane("/device:TPU:0")
    tpu.line("Steps").event("0", duration_us=100)
    tpu.line("XLA Ops").event("%fusion.1 = f32[8] fusion()", duration_us=50)
    result = measured(space)
    assert result.summary["source"] == "device"
    assert spent(result) == {"step_ms": 100, "device_compute_ms": 50, "other_ms": 50}
    assert [note for note in result.notes if "TPU" in note] == result.notes != []


def test_messages_of_the_profiler_are_notes():
    space = program()
    space.errors.append("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
    events = forest(space)
    measured_steps = steps([events], [group_events(events)])
    notes = overview([events, events], measured_steps, ops([events])).notes
    assert notes == ["The profiler reported: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"]
