"""Step times: XProf on captures made here, TensorFlow's stored answers for GPUs, and arithmetic by hand."""

import json

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import COLUMNS, steps

PARTS = [*CATEGORIES, "other_ms"]


def measured(*spaces):
    return read([forest(space, f"host{i}") for i, space in enumerate(spaces)])


def read(forests):
    return steps(forests, [group_events(forest) for forest in forests])


def spent(result, step=None):
    """The categories that took time, in microseconds."""
    row = result.table.iloc[0] if step is None else result.table.loc[step]
    return {name: round(row[name] * 1e3, 6) for name in PARTS if row[name]}


def loop(steps=4, device=False):
    """The vector "Synthetic" of the algorithms' reference: steps of 900 us, and what they hold."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, executor = cpu.line("python"), cpu.line("tf_Compute")
    stream = space.plane("/device:GPU:0").line("Stream #1(Compute,MemcpyH2D)") if device else None
    for i in range(steps):
        at = 1000 * i
        python.event("train", start_us=at, duration_us=900, step_num=i, _r=1)
        python.event("IteratorGetNext", start_us=at + 10, duration_us=190)
        python.event("FunctionRun", start_us=at + 300, duration_us=100, _pt=2, _p=i)
        executor.event("ExecutorState::Process", start_us=at + 320, duration_us=300, _ct=2, _c=i)
        if stream:
            executor.event("launch", start_us=at + 330, duration_us=10, correlation_id=i)
            executor.event("copy", start_us=at + 345, duration_us=10, correlation_id=1000 + i)
            stream.event("kernel", start_us=at + 400, duration_us=300, correlation_id=i)
            stream.event("MemcpyH2D", start_us=at + 720, duration_us=30, correlation_id=1000 + i)
    return space


def unmarked(calls):
    """Calls of functions, each after a wait for its data; ``step`` has gradients."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i, name in enumerate(calls):
        python.event("IteratorGetNext", start_us=100 * i, duration_us=60)
        python.event(f"EagerLocalExecute: __inference_{name}_5", start_us=100 * i + 60, duration_us=40)
        python.event("FunctionRun", start_us=100 * i + 62, duration_us=36, _r=1)
        op = "gradient_tape/MatMul:MatMul" if name == "step" else "MatMul:MatMul"
        python.event(op, start_us=100 * i + 65, duration_us=30)
    return space


@pytest.mark.parametrize(
    ("calls", "phases"),
    [
        (["step"] * 3 + ["evaluate"] * 2, ["train"] * 3 + ["test"] * 2),
        (["step"] * 3, ["train"] * 3),
        (["evaluate"] * 3, ["step"] * 3),  # perhaps a training without a tape
    ],
)
def test_steps_without_marks_train_where_there_are_gradients(calls, phases):
    result = measured(unmarked(calls))
    assert result.summary["source"] == "inferred"
    assert result.table["phase"].tolist() == phases


def test_a_step_on_the_host():
    result = measured(loop())
    assert spent(result) == {"host_compute_ms": 300, "input_ms": 190, "other_ms": 410}
    assert result.table["step_ms"].tolist() == [0.9] * 4
    assert list(result.table.columns) == COLUMNS
    assert result.table["step_name"].tolist() == ["train 0", "train 1", "train 2", "train 3"]
    assert (result.summary["source"], result.summary["step_ms_std"]) == ("marked", 0)


def test_host_time_is_merged_into_the_device_steps():
    # XProf 2.24 says of this program: device compute 0.33 ms (the copy counted in), input 0, launch 0.
    result = measured(loop(device=True))
    assert spent(result) == {
        "device_compute_ms": 300,
        "kernel_launch_ms": 80,  # the executor before the kernel started, 320 to 400
        "input_ms": 190 + 30,  # waiting, and copying to the device
        "other_ms": 900 - 300 - 80 - 220,
    }


def test_device_work_beyond_the_mark_makes_the_step():
    space = loop(steps=1, device=True)
    space.planes[0].lines[1].event("launch", start_us=350, duration_us=5, correlation_id=77)
    space.planes[1].lines[0].event("late", start_us=850, duration_us=150, correlation_id=77)
    result = measured(space)
    assert result.table["start_ms"].tolist() == [0.4]
    assert result.table["step_ms"].tolist() == [0.6]


def test_a_step_without_device_work_is_left_out_and_said():
    space = loop(steps=2, device=True)
    space.planes[0].lines[0].event("train", start_us=5000, duration_us=100, step_num=2, _r=1)
    result = measured(space)
    assert len(result.table) == 2
    assert "1 step had no device work and was excluded" in result.notes[0]


@pytest.mark.parametrize(
    ("name", "stats", "category"),
    [
        ("ncclAllReduce", {}, "device_collectives_ms"),
        ("MemcpyD2H", {}, "output_ms"),
        ("MemcpyH2D", {}, "input_ms"),
        ("MemcpyD2D", {}, "device_to_device_ms"),
        ("MemcpyP2P", {}, "device_to_device_ms"),
        ("gemm_fp16", {}, "device_compute_ms"),
        ("gemm", {"shape": "half[8,8]"}, "device_compute_ms"),
    ],
)
def test_device_events_by_class(name, stats, category):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1")
    python.event("train", duration_us=100, step_num=0, _r=1)
    for i, (kernel, at) in enumerate([("add", 10), (name, 40)]):
        python.event("cuLaunch", start_us=i, correlation_id=i)
        stream.event(kernel, start_us=at, duration_us=20, correlation_id=i, **(stats if i else {}))
    expected = {"device_compute_ms": 20} | {category: 20 + 20 * (category == "device_compute_ms")}
    assert {key: value for key, value in spent(measured(space)).items() if key != "other_ms"} == expected


def test_copies_between_host_buffers_are_other_time():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("train", duration_us=100, step_num=0, _r=1)
    python.event("MEMCPYHToH", start_us=10, duration_us=30)
    assert spent(measured(space)) == {"other_ms": 100}


def test_tracing_is_compilation_and_warm_up():
    space = loop(steps=3)
    python = space.planes[0].lines[0]
    python.event("step_fn", start_us=210, duration_us=600, tf_function_call="traced-nonXla")
    result = measured(space)
    # Tracing lasts from the call at 210 us to the function's run at 300 us.
    assert spent(result, step=0)["compile_ms"] == 90
    assert result.table["warm_up"].tolist() == [True, False, False]
    assert any("(1 did; %%tfprofile --warmup excludes" in note for note in result.notes)
    assert result.summary["steps_measured"] == 2


def test_averages_are_of_training_steps():
    space = loop(steps=2)
    space.planes[0].lines[0].event("test", start_us=5000, duration_us=100, step_num=0, _r=1)
    result = measured(space)
    assert result.table["phase"].tolist() == ["train", "train", "test"]
    assert result.table.index.tolist() == [0, 1, 2]  # the marks' numbers repeat: steps are counted instead
    assert result.summary["step_ms_mean"] == 0.9
    assert any("2 of 3 steps" in note for note in result.notes)


@pytest.mark.parametrize(
    ("lengths_us", "mean_ms"),
    [
        ([900, 10, 20, 30], 0.02),  # of a TensorFlow 1 session the first run starts devices and places the graph
        ([50, 10, 20, 30], 0.0275),
        ([10, 900, 20, 30], 0.24),
        ([900, 10], 0.455),
    ],
)
def test_the_first_run_of_a_session_is_excluded_if_it_took_much_longer(lengths_us, mean_ms):
    space = XSpace()
    line = space.plane("/host:CPU").line("session runs")
    for i, length in enumerate(lengths_us):
        line.event("session run", start_us=1000 * i, duration_us=length, step_num=i, _r=1)
    result = measured(space)
    assert result.summary["step_ms_mean"] == pytest.approx(mean_ms)
    assert any("started the session" in note for note in result.notes) == (mean_ms == 0.02)


def test_old_captures_without_steps_say_why():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("gemm", duration_us=5, correlation_id=1, **{"level 0": "MatMul:MatMul"})
    assert [note for note in measured(space).notes if not note.startswith("No steps: this profile")] == []


def test_without_steps_a_note_says_what_to_add():
    space = XSpace()
    space.plane("/host:CPU")
    result = measured(space)
    assert (len(result.table), result.summary["source"]) == (0, "none")
    assert "tfprof_nb.step(i)" in result.notes[0]


def test_a_note_reports_marks_that_never_finished():
    space = XSpace()
    space.plane("/host:CPU").line("python").event("train", duration_us=5, step_num=0, _r=1, interrupted=1)
    result = measured(space)
    assert (len(result.table), len(result.notes)) == (0, 1)
    assert "No step finished" in result.notes[0]


def test_trace_context_vector():
    """`xplane_to_op_stats_test.cc`: one step on a CPU, and 40 ps of 32-bit compute on a GPU."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, executor = cpu.line("python"), cpu.line("tf_Compute")
    python.event("TraceContext", duration_ps=100, step_num=123, graph_type="train")
    python.event("FunctionRun", start_ps=10, duration_ps=80, _pt=2, _p=0)
    executor.event("ExecutorState::Process", start_ps=20, duration_ps=60, _ct=2, _c=0)
    executor.event("matmul", start_ps=30, duration_ps=40, correlation_id=100)
    assert measured(space).table.index.tolist() == [123]
    space.plane("/device:GPU:0").line("Stream #1").event("matmul", start_ps=50, duration_ps=40, correlation_id=100)
    assert measured(space).table["device_compute_ms"].tolist() == pytest.approx([40e-9])


def test_a_step_on_the_host_alone_is_none_of_the_device():
    """`xplane_to_step_events_test.cc`: of two steps on the host one reaches the device; its host events count.

    What the executor and its op did counts (there as two events), the run of the function around them does not.
    """
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python, executor = cpu.line("python"), cpu.line("tf_Compute")
    for i, at in enumerate((0, 300)):
        python.event("TraceContext", start_ps=at, duration_ps=100, step_num=123 + i, graph_type="train")
        python.event("FunctionRun", start_ps=at + 10, duration_ps=80, _pt=2, _p=i)
        executor.event("ExecutorState::Process", start_ps=at + 20, duration_ps=60, _ct=2, _c=i)
        executor.event("matmul", start_ps=at + 30, duration_ps=40, correlation_id=100 + i)
    space.plane("/device:GPU:0").line("Stream #1").event("matmul", start_ps=50, duration_ps=40, correlation_id=100)
    result = measured(space)
    assert result.table.index.tolist() == [123]
    spent_ps = {name: round(us * 1e6) for name, us in spent(result).items()}
    assert {name: ps for name, ps in spent_ps.items() if ps} == {
        "device_compute_ms": 40,
        "kernel_launch_ms": 30,  # the executor from 20 on, until the device works
        "other_ms": 30,
    }


def test_steps_of_tpus_without_instructions_are_not_measured_and_a_note_says_so():
    """`op_stats_to_input_pipeline_analysis_test.cc`: XProf takes idle time for infeed; we have no counterpart."""
    space = loop()
    space.plane("/device:TPU:0").line("Steps").event("0", start_us=40, duration_us=1000)
    result = measured(space)
    assert (len(result.table), result.summary["source"]) == (0, "none")
    assert result.notes == [note for note in result.notes if "the TPU's cores recorded no instructions" in note]


def test_categories_add_up(xprof_marked_loop):
    table = read([forest(xprof_marked_loop.read_bytes())]).table
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["step_ms"], rtol=1e-9)


def test_events_of_no_length_take_no_time(tmp_path):
    """XProf holds them to go on until the next of their class ends, here from 10 to 60: see `test_stored_steps.py`."""
    from xprof.convert import raw_to_tool_data

    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("train", duration_us=100, step_num=0, _r=1)
    python.event("MemoryDeallocation", start_us=10)
    python.event("MatMul:MatMul", start_us=50, duration_us=10)
    assert spent(measured(space)) == {"host_compute_ms": 10, "other_ms": 90}
    file = space.write(tmp_path / "host.xplane.pb")
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(file)], "overview_page", {})
    graph = json.loads(data)[1]
    theirs = dict(zip((column["id"] for column in graph["cols"]), graph["rows"][0]["c"], strict=True))
    assert float(theirs["hostComputeTimeMs"]["v"]) == pytest.approx(0.05)


def test_every_category_equals_xprofs(xprof_marked_loop):
    """XProf drops the first and the last of more than five steps; of the others every number must agree."""
    from xprof.convert import raw_to_tool_data

    data, _ = raw_to_tool_data.xspace_to_tool_data([str(xprof_marked_loop)], "overview_page", {})
    graph = json.loads(data)[1]
    columns = [column["id"] for column in graph["cols"]]
    ours = read([forest(xprof_marked_loop.read_bytes())]).table
    assert len(graph["rows"]) == len(ours) - 2
    for cells in graph["rows"]:
        row = dict(zip(columns, (cell["v"] for cell in cells["c"]), strict=True))
        mine = ours.loc[int(row["stepnum"].split()[1])]
        assert mine["step_ms"] == pytest.approx(row["stepTimeMs"], abs=1e-6)
        assert mine["input_ms"] == pytest.approx(row["infeedTimeMs"], abs=1e-6)
        assert mine["host_compute_ms"] == pytest.approx(row["hostComputeTimeMs"], abs=1e-6)
        assert mine["other_ms"] == pytest.approx(row["otherTimeMs"], abs=1e-6)


def test_a_capture_without_the_host_says_so():
    """`profile_options` is what TensorFlow 2.21 wrote for ``host_tracer_level=0``."""
    space = XSpace()
    space.plane("/host:CPU")
    space.plane("Task Environment", profile_options=b"\x08\x01\x18\x01(\x018\x01")
    (note,) = measured(space).notes
    assert note.startswith("No steps: this profile was recorded with host_level=0")


def test_missing_steps_are_explained_in_the_words_of_the_framework():
    jax, torch = XSpace(), XSpace()
    jax.plane("/host:CPU").line("main").event("PjitFunction(f)", duration_us=10)
    torch.plane("/host:CPU").line("main").event("aten::mm", duration_us=10)
    assert "jax.profiler.StepTraceAnnotation" in measured(jax).notes[0]
    assert "torch.profiler" in measured(torch).notes[0]
