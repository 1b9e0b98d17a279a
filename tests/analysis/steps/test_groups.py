"""Grouping: XLA's own cases (`group_events_test.cc`), and the marks that win over everything else."""

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.events.links import links
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps


def grouped(space):
    events = forest(space)
    grouping = group_events(events)
    names = events.host.names[events.host.metadata]
    return grouping, dict(zip(names.tolist(), grouping.group.tolist(), strict=True))


def train_step(**mark):
    """A step on the Python thread, its function on an executor's thread, its kernel on the device."""
    space = XSpace()
    cpu, gpu = space.plane("/host:CPU"), space.plane("/device:GPU:0")
    python = cpu.line("python")
    python.event(mark.pop("name", "train"), duration_ps=100, **mark)
    python.event("FunctionRun", start_ps=10, duration_ps=80, _pt=2, _p=0, _r=1)
    executor = cpu.line("tf_Compute")
    executor.event("ExecutorState::Process", start_ps=20, duration_ps=60, _ct=2, _c=0)
    executor.event("matmul", start_ps=30, duration_ps=40, correlation_id=100)
    gpu.line("Stream #1").event("kernel", start_ps=200, duration_ps=40, correlation_id=100)
    return space


def test_a_mark_reaches_other_threads_and_the_device():
    grouping, group = grouped(train_step(step_num=123, _r=1))
    assert set(group.values()) == {0}
    assert grouping.source == "marked"
    assert grouping.spans[["start_ps", "end_ps"]].to_numpy().tolist() == [[0, 100]]


def test_numbers_of_steps_may_need_64_bits():
    grouping, _ = grouped(train_step(step_num=1, _r=1))
    for number in (7, 3 << 40):
        assert set(grouping.steps_of_events(np.array([0]), np.array([number])).tolist()) == {number}


def test_trace_contexts_are_marks():
    grouping, group = grouped(train_step(name="TraceContext", graph_type="train", step_num=123))
    assert grouping.source == "marked"
    assert set(group.values()) == {0}


def test_keras_batches_count_though_they_lack_the_root_flag():
    grouping, _ = grouped(train_step(name="Profiled batch", step_num=3))
    assert (grouping.source, len(grouping.spans)) == ("keras", 1)


def test_a_root_without_a_number_is_no_step():
    grouping, _ = grouped(train_step(name="my_block", _r=1))
    assert (grouping.source, len(grouping.spans)) == ("device", 0)


def test_unfinished_marks_are_no_steps():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("train", duration_ps=100, step_num=0, _r=1)
    python.event("train", start_ps=100, duration_ps=5, step_num=1, _r=1, end_of_data=1)
    python.event("train", start_ps=200, duration_ps=5, step_num=2, _r=1, interrupted=1)
    grouping, _ = grouped(space)
    assert grouping.spans["end_ps"].tolist() == [100]


def test_asynchronous_events_are_not_grouped_by_nesting():
    space = train_step(step_num=1, _r=1)
    space.planes[0].lines[0].event("transfer", start_ps=40, duration_ps=10, _a=1)
    assert grouped(space)[1]["transfer"] == -1


def test_functions_of_tf_data_are_no_steps():
    space = XSpace()
    line = space.plane("/host:CPU").line("tf_data")
    for i in range(4):
        line.event("InstantiatedCapturedFunction::Run", start_ps=100 * i, duration_ps=50, id=7)
        line.event("FunctionRun", start_ps=100 * i + 10, duration_ps=30, id=7, _r=1)
    assert grouped(space)[0].source == "none"


def test_functions_that_run_on_threads_of_tf_data_are_no_steps():
    """An iterator of several devices runs them without an event of its own."""
    space = XSpace()
    line = space.plane("/host:CPU").line("tf_data_multi_device_iterator_get_next/123")
    for i in range(4):
        line.event("FunctionRun", start_ps=100 * i, duration_ps=30, id=i, _r=1)
    assert grouped(space)[0].source == "none"


def test_marks_win_over_loops():
    space = train_step(step_num=1, _r=1)
    executor = space.planes[0].lines[1]
    for i in range(2):
        executor.event("ExecutorState::Process", start_ps=300 + 50 * i, duration_ps=40, id=5, iter_num=i, _ct=2, _c=0)
    grouping, _ = grouped(space)
    assert (grouping.source, len(grouping.spans)) == ("marked", 1)


def test_saved_groups_are_taken_as_they_are():
    space = XSpace()
    space.plane("/host:CPU").line("python").event(
        "train 7", duration_ps=100, group_id=3, step_name="train 7", step_num=7
    )
    space.plane("/device:GPU:0").line("Stream #1").event("kernel", start_ps=10, duration_ps=5, group_id=3)
    grouping, group = grouped(space)
    assert (grouping.source, group) == ("marked", {"train 7": 3, "kernel": 3})


def unmarked_loop(calls=4):
    """Each call of a function follows a wait for its data."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(calls):
        python.event("IteratorGetNext", start_us=100 * i, duration_us=60)
        python.event("EagerLocalExecute: __inference_step_5", start_us=100 * i + 60, duration_us=40)
        python.event("FunctionRun", start_us=100 * i + 65, duration_us=30, _r=1)
    return space


def test_repeated_calls_are_inferred_steps_with_the_wait_before_them():
    grouping, _ = grouped(unmarked_loop())
    assert grouping.source == "inferred"
    spans = grouping.spans[["start_ps", "end_ps"]] / 10**6
    assert spans.to_numpy().tolist() == [[0, 100], [100, 200], [200, 300], [300, 400]]


def test_a_function_that_is_traced_in_every_call_repeats_too():
    """Its graphs have a new name each; the event of the function itself has one."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train_step", start_us=1000 * i, duration_us=900, tf_function_call="traced-nonXla")
        python.event(f"EagerLocalExecute: __inference_train_step_{i}", start_us=1000 * i + 700, duration_us=100)
        python.event("FunctionRun", start_us=1000 * i + 700, duration_us=90, _r=1, id=i)
    grouping, *_ = grouped(space)
    assert (grouping.source, grouping.spans["end_ps"].tolist()) == ("inferred", [900e6, 1900e6, 2900e6])


def test_the_first_inferred_step_has_its_work_though_a_line_around_it_began_before():
    space = XSpace()
    python, executor = space.plane("/host:CPU").line("python"), space.planes[0].line("tf_Compute")
    for i in range(3):
        python.event("cell line 2", start_us=100 * i + 1, duration_us=98)
        python.event("SessionRun", start_us=100 * i + 10, duration_us=80, _r=1, _pt=2, _p=i)
        executor.event("MatMul:MatMul", start_us=100 * i + 20, duration_us=50, _ct=2, _c=i)
    grouping, _ = grouped(space)
    events = forest(space)
    assert grouping.group[events.named("MatMul:MatMul")].tolist() == [0, 1, 2]


def test_a_run_without_groups_beside_one_with_saved_ones_has_its_marks():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("session run", duration_ps=10, group_id=0, step_name="session run", step_num=0, _r=1)
    python.event("train", start_ps=100, duration_ps=10, step_num=0, _r=1)
    assert grouped(space)[0].spans["start_ps"].tolist() == [0, 100]


def beside_marks(calls, call_us):
    """A loop of function calls, and two steps that Keras marks, with a call each."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(2):
        python.event("predict", start_us=10_000 + 200 * number, duration_us=200, step_num=number, _r=1)
        python.event("FunctionRun", start_us=10_010 + 200 * number, duration_us=100, _r=1)
    for number in range(calls):
        at = call_us * number
        python.event("EagerLocalExecute: __inference_step_5", start_us=at, duration_us=call_us)
        python.event("FunctionRun", start_us=at + 1, duration_us=call_us - 2, _r=1)
    return space


def test_a_loop_of_calls_has_its_steps_beside_marks_that_take_less_time():
    space = beside_marks(calls=4, call_us=300)
    grouping, _ = grouped(space)
    assert len(grouping.spans) == 6
    table = steps([forest(space)], [grouping]).table
    assert table["phase"].tolist() == ["step"] * 4 + ["predict"] * 2


def test_short_calls_beside_marks_are_no_steps():
    grouping, _ = grouped(beside_marks(calls=4, call_us=30))
    assert (grouping.source, len(grouping.spans)) == ("marked", 2)


def test_a_single_call_is_no_step():
    assert grouped(unmarked_loop(calls=1))[0].source == "none"


def test_functions_that_take_turns_are_one_step_with_what_runs_between_them():
    """`train()` in one line of the cell: a fetch, the gradients, an op, the update."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("cell line 2", start_us=0, duration_us=1000)
    for at in range(0, 400, 100):
        python.event("IteratorGetNext", start_us=at + 1, duration_us=20)
        for name, start in (("grads", 30), ("update", 80)):
            python.event(f"EagerLocalExecute: __inference_{name}_5", start_us=at + start, duration_us=15)
            python.event("FunctionRun", start_us=at + start + 1, duration_us=10, _r=1)
        python.event("EagerLocalExecute: AddV2", start_us=at + 50, duration_us=20)
    grouping, _ = grouped(space)
    assert (grouping.spans["start_ps"] / 10**6).tolist() == [1, 95, 195, 295]
    assert (grouping.spans["end_ps"] / 10**6).tolist() == [95, 195, 295, 395]
    events = forest(space)
    for name in ("IteratorGetNext", "EagerLocalExecute: AddV2", "EagerLocalExecute: __inference_update_5"):
        assert grouping.group[events.named(name)].tolist() == [0, 1, 2, 3]


def test_an_iterator_that_is_taken_down_between_calls_belongs_to_no_step():
    space = unmarked_loop(calls=3)
    python = space.planes[0].lines[0]
    python.event("TFE_DeleteTensorHandle", start_us=300, duration_us=20_000)
    python.event("EagerLocalExecute: __inference_step_5", start_us=20_400, duration_us=40)
    python.event("FunctionRun", start_us=20_405, duration_us=30, _r=1)
    grouping, group = grouped(space)
    assert (grouping.spans["start_ps"] / 10**6).tolist() == [0, 100, 200, 20_300]
    assert group["TFE_DeleteTensorHandle"] == -1


def eager_epochs(epochs=2, batches=3):
    """Each epoch makes an iterator, takes batches, runs two ops on each, and finds the end of the data."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for epoch in range(epochs):
        at = 1000 * epoch
        python.event("EagerLocalExecute: MakeIterator", start_us=at, duration_us=50)
        for i in range(batches + 1):
            python.event("EagerLocalExecute: IteratorGetNext", start_us=at + 100 * (i + 1), duration_us=30)
            for start in (40, 70) if i < batches else ():
                python.event("EagerLocalExecute: MatMul", start_us=at + 100 * (i + 1) + start, duration_us=20)
    return space


def test_batches_of_an_eager_loop_are_steps_and_the_end_of_the_data_is_none():
    grouping, _ = grouped(eager_epochs())
    assert grouping.source == "inferred"
    assert (grouping.spans["start_ps"] / 10**6).tolist() == [100, 200, 300, 1100, 1200, 1300]
    assert (grouping.spans["end_ps"] / 10**6).tolist() == [200, 300, 400, 1200, 1300, 1400]


def test_what_follows_the_end_of_the_data_is_no_step_though_it_runs_ops():
    """The result of a metric is computed after each epoch; another iterator is left after two of its batches."""
    space = eager_epochs()
    (python,) = space.planes[0].lines
    for epoch in range(2):
        python.event("EagerLocalExecute: RealDiv", start_us=1000 * epoch + 450, duration_us=20)
    python.event("EagerLocalExecute: MakeIterator", start_us=2000, duration_us=50)
    for at in (2100, 2200):
        python.event("EagerLocalExecute: IteratorGetNext", start_us=at, duration_us=30)
        python.event("EagerLocalExecute: MatMul", start_us=at + 40, duration_us=50)
    grouping, _ = grouped(space)
    assert (grouping.spans["start_ps"] / 10**6).tolist() == [100, 200, 300, 1100, 1200, 1300, 2100, 2200]
    assert (grouping.spans["end_ps"] / 10**6).tolist() == [200, 300, 400, 1200, 1300, 1400, 2200, 2290]


def test_two_datasets_in_one_loop_make_one_step_per_pass():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for at in range(0, 500, 100):
        for start in (0, 30):
            python.event("EagerLocalExecute: IteratorGetNext", start_us=at + start, duration_us=20)
        python.event("EagerLocalExecute: MatMul", start_us=at + 60, duration_us=20)
    grouping, _ = grouped(space)
    assert (grouping.spans["start_ps"] / 10**6).tolist() == [0, 100, 200, 300, 400]
    assert grouping.spans["end_ps"].iloc[-1] == 480 * 10**6


def lines_of_a_cell(*lines, ops):
    """Each line takes 10 us; the lines in `ops` run an op each time."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k, line in enumerate(lines):
        python.event(f"cell line {line}", start_us=10 * k, duration_us=10)
        if line in ops:
            python.event(f"EagerLocalExecute: {ops[line]}", start_us=10 * k + 1, duration_us=8)
    return space


def starts(space):
    return (group_events(forest(space)).spans["start_ps"] / 10**7).tolist()


def test_passes_of_an_eager_loop_are_steps_by_the_lines_of_the_cell():
    twice = [2, 3, 4] * 4 + [2, 5]
    assert starts(lines_of_a_cell(*twice, ops={4: "MatMul"})) == [0, 3, 6, 9]
    assert starts(lines_of_a_cell(*twice, ops={})) == []


def loop_of_a_function(*passes, op="MatMul"):
    """A mark of `train` for each pass, and an op in each of the first five; with pass 0 the loop is entered."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k, number in enumerate(passes):
        python.event("loop line train:7", start_us=10 * k, duration_us=1, iteration=number)
        if number < 5:  # the mark behind the last pass
            python.event(f"EagerLocalExecute: {op}", start_us=10 * k + 2, duration_us=7)
    return space


def test_passes_of_a_loop_in_a_function_are_steps_each_time_that_it_is_entered():
    assert starts(loop_of_a_function(*range(6), *range(6))) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]


def test_a_slow_start_hides_no_loop():
    space = loop_of_a_function(*range(6))
    space.planes[0].lines[0].event("EagerLocalExecute: RandomUniform", start_us=100, duration_us=900)
    assert starts(space) == [0, 1, 2, 3, 4]


def test_a_with_block_is_no_loop():
    tape = [2, 3, 4, 3, 5] * 4 + [2, 6]
    assert starts(lines_of_a_cell(*tape, ops={4: "MatMul", 5: "AssignSubVariableOp"})) == [0, 5, 10, 15]


@pytest.mark.parametrize(
    ("gradients", "found"),
    [
        ([1] * 4, [0, 3, 6, 9, 13, 14]),
        ([0] * 4, [13, 14]),  # a loop that only computes is no training
        ([1] * 4 + [4], [13, 14]),  # as many gradients are computed elsewhere: it is one loop of two
    ],
)
def test_an_eager_loop_that_trains_has_its_steps_beside_marks(gradients, found):
    space = lines_of_a_cell(*[2, 3, 4] * 4, 2, ops={4: "MatMul"})
    python = space.planes[0].lines[0]
    for k, count in enumerate(gradients):
        for one in range(count):
            python.event("gradients train:9", start_us=30 * min(k, 4) + 21 + one, duration_ps=10, iteration=k + one)
    for number in range(2):
        python.event("test", start_us=130 + 10 * number, duration_us=5, step_num=number, _r=1)
    assert starts(space) == found


def test_of_nested_loops_the_one_that_updates_variables_has_the_steps():
    epochs = [2, *[3, 4] * 5, 3] * 9 + [2]
    updating = starts(lines_of_a_cell(*epochs, ops={4: "AssignSubVariableOp"}))
    assert updating[:6] == [1, 3, 5, 7, 9, 13]
    assert starts(lines_of_a_cell(*epochs, ops={4: "MatMul"}))[:3] == [0, 12, 24]


def test_an_unfinished_mark_hides_no_steps():
    space = unmarked_loop()
    space.planes[0].lines[0].event("train", start_us=500, duration_us=50, step_num=0, _r=1, interrupted=1)
    assert len(grouped(space)[0].spans) == 4


def looping(*passes, device=False):
    """Executors at work for ``(step id, iteration, start)``, for 10 ps each; on a device 5 ps more."""
    space = XSpace()
    executor = space.plane("/host:CPU").line("tf_Compute")
    stream = space.plane("/device:GPU:0").line("Stream #1") if device else None
    for number, (step, iteration, start) in enumerate(passes):
        executor.event("ExecutorState::Process", start_ps=start, duration_ps=10, id=step, iter_num=iteration)
        executor.event("launch", start_ps=start + 1, duration_ps=2, correlation_id=number)
        if stream:
            stream.event("kernel", start_ps=start + 5, duration_ps=10, correlation_id=number)
    return space


TWO_LOOPS = [(0, 10, 20), (0, 11, 120), (1, 0, 220), (1, 1, 320)]


def test_passes_of_loops_are_steps_where_nothing_else_is():
    """`group_events_test.cc`, TF loops: the second loop's passes follow the first's."""
    grouping, _ = grouped(looping(*TWO_LOOPS))
    assert grouping.source == "inferred"
    assert grouping.spans[["start_ps", "end_ps"]].to_numpy().tolist() == [[20, 30], [120, 130], [220, 230], [320, 330]]
    assert grouping.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    on_device, _ = grouped(looping(*TWO_LOOPS, device=True))
    assert (on_device.source, on_device.group[-4:].tolist()) == ("device", [0, 1, 2, 3])


def test_a_single_late_pass_is_a_loop_and_a_single_first_one_is_not():
    assert grouped(looping((0, 10, 20)))[0].source == "inferred"
    assert grouped(looping((0, 0, 20)))[0].source == "none"


def test_functions_that_repeat_win_over_their_loops():
    """XProf takes the passes for steps: then every time step of an LSTM is one."""
    space = looping(*TWO_LOOPS, device=True)
    python = space.planes[0].line("python")
    for i, (step, _, start) in enumerate(TWO_LOOPS[::2]):
        python.event("FunctionRun", start_ps=start - 10, duration_ps=5, id=step, _r=1, _pt=2, _p=i)
        space.planes[0].lines[0].event("run", start_ps=start - 5, duration_ps=150, _ct=2, _c=i)
    grouping, _ = grouped(space)
    assert (grouping.source, grouping.group.max()) == ("device", 1)


def test_batches_of_a_server_are_steps_and_their_requests_are_not():
    """`group_events_test.cc`, batching: XProf links the groups of requests and batches as parents and children.

    Only its trace viewer shows these links, and ours shows what caused what from event to event.
    """
    space = XSpace()
    cpu = space.plane("/host:CPU")
    requests, batches = cpu.line("request"), cpu.line("batch")
    for i in range(2):
        at = 1000 * i
        requests.event("BatchingSessionRun", start_ps=at, duration_ps=100, _pt=4, _p=i)
        batches.event("ProcessBatch", start_ps=at + 200, duration_ps=300, _ct=4, _c=i)
        batches.event("SessionRun", start_ps=at + 250, duration_ps=200, _r=1)
    events = forest(space)
    causes, effects = links(events)
    names = events.host.names[events.host.metadata]
    assert set(zip(names[causes], names[effects], strict=True)) == {("BatchingSessionRun", "ProcessBatch")}
    grouping = group_events(events)
    assert (grouping.source, grouping.spans["end_ps"].tolist()) == ("inferred", [450, 1450])
    assert grouping.group[names == "BatchingSessionRun"].tolist() == [-1, -1]
