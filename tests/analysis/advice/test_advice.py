"""Findings have evidence; without evidence there are none."""

import pytest

from builders import XSpace
from tfprof_nb.analysis.advice.advice import COLUMNS, advice
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.api.load import load


def advised(tmp_path, space):
    return load(space.write(tmp_path / "host.xplane.pb")).advice


def loop(**shares):
    """Steps of 1 ms; what is given waits, launches, copies ... for so many percent of each."""
    names = {"input": "IteratorGetNext", "compute": "MatMul:MatMul"}
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(5):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        at = 1000 * i
        for kind, percent in shares.items():
            python.event(names[kind], start_us=at, duration_us=10 * percent)
            at += 10 * percent
    return space


def test_input_bound_steps_are_the_first_finding(tmp_path):
    result = advised(tmp_path, loop(input=60, compute=39))
    first = result.table.iloc[0]
    assert list(result.table.columns) == COLUMNS
    assert first["severity"] == "high"
    assert first["estimated_gain_percent"] == pytest.approx(60)
    assert "600 µs of the average step's 1.00 ms" in first["evidence"]
    assert "prefetch" in first["fix"]


def test_the_evidence_bounds_the_gain_of_less_waiting(tmp_path):
    assert (
        "Without this wait, a step would take 400 µs at best."
        in advised(tmp_path, loop(input=60, compute=39)).table["evidence"].iloc[0]
    )


@pytest.mark.parametrize(("outside_us", "time"), [(0, "the time"), (5000, "the steps' time")])
def test_a_gain_of_steps_is_one_of_the_time_only_if_the_steps_are_most_of_it(tmp_path, outside_us, time):
    space = loop(input=60, compute=39)
    space.planes[0].lines[0].event("evaluation", start_us=5000, duration_us=outside_us)
    result = advised(tmp_path, space)
    assert result.table["gain_of"].iloc[0] == time
    assert f"of {time}." in str(result)


def test_the_slowest_stage_is_named_with_its_line(tmp_path):
    space = loop(input=60, compute=39)
    python, ahead = space.planes[0].lines[0], space.planes[0].line("tf_data_iterator_resource")
    python.event("Iterator::Prefetch", start_us=10, duration_us=580, id=1)
    python.event("PrefetchConsume", start_us=580, duration_us=10, element_id=7)
    ahead.event("PrefetchProduce", start_us=10, duration_us=570, element_id=7)
    ahead.event("Iterator::Prefetch::Map", start_us=10, duration_us=570, id=2, parent_id=1)
    p = load(space.write(tmp_path / "host.xplane.pb"))
    assert p.tf_data.summary["bottleneck_long_name"].endswith("Map")
    lines = {"Dataset_map_": "cell line 4"}
    results = {name: getattr(p, name) for name in ("overview", "steps", "ops", "functions", "tf_data", "python")}
    evidence = Evidence(**results, line_of=lines.get)
    assert "the slowest stage of the input pipeline is Map (cell line 4)." in advice(evidence).table["evidence"].iloc[0]
    assert "pipeline is Map." in p.advice.table["evidence"].iloc[0]


@pytest.mark.parametrize(("worked_us", "told"), [(500, True), (100, False)])
def test_a_pipeline_that_works_less_than_devices_wait_is_no_cause(tmp_path, worked_us, told):
    """Each of five steps waits 600 us for the device's part of the pipeline; the host's part works for less."""
    space = loop(input=60, compute=39)
    python, ahead = space.planes[0].lines[0], space.planes[0].line("tf_data_multi_device_iterator_resource")
    for i in range(5):
        at = 1000 * i
        for k, stage in enumerate(("", "::Prefetch", "::Prefetch::Generator")):
            start, parent = at + 10 + k, {"parent_id": k} if k else {}
            python.event(f"Iterator::Root{stage}", start_us=start, duration_us=580 - 2 * k, id=k + 1, **parent)
        ahead.event("Iterator::Root", start_us=at + 10, duration_us=worked_us, id=8)
        ahead.event("Iterator::Root::Shuffle", start_us=at + 11, duration_us=worked_us - 2, id=9, parent_id=8)
    findings = advised(tmp_path, space).table["finding"].tolist()
    assert ("Steps wait for their data: Shuffle is slow" in findings) == told
    assert any(finding.startswith("Steps wait") for finding in findings) == told


def test_time_that_nothing_accounts_for(tmp_path):
    table = advised(tmp_path, loop(compute=90)).table
    assert table["finding"].tolist()[0] == "Much of each step is not recorded"
    assert table["severity"].tolist()[0] == "medium"


def test_time_of_a_session_that_nothing_accounts_for_is_not_pythons(tmp_path):
    space = XSpace()
    line = space.plane("/host:CPU").line("session runs")
    for i in range(3):
        line.event("session run", start_us=1000 * i, duration_us=900, step_num=i, _r=1)
        line.event("MatMul:MatMul", start_us=1000 * i, duration_us=500)
    assert set(advised(tmp_path, space).table["severity"]) <= {"info"}


def test_a_dominant_op_is_named_as_information(tmp_path):
    table = advised(tmp_path, loop(compute=100)).table
    assert table["severity"].tolist() == ["info"]
    assert "MatMul" in table["finding"].iloc[0]


def copying_loop(wait_us, copy_us):
    """Steps of 1 ms on a GPU that wait for a batch, copy it to the device, and compute."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for i in range(3):
        at = 1000 * i
        python.event("train", start_us=at, duration_us=1000, step_num=i, _r=1)
        python.event("IteratorGetNext", start_us=at, duration_us=wait_us)
        done = at + wait_us + copy_us
        for name, begin, end in (("MemcpyH2D", at + wait_us, done), ("gemm", done, at + 1000)):
            number = 2 * i + (name == "gemm")
            python.event("launch", start_us=begin, correlation_id=number)
            stream.event(name, start_us=begin, duration_us=end - begin, correlation_id=number)
    return space


@pytest.mark.parametrize(
    ("wait_us", "copy_us", "findings"),
    [
        (300, 30, ["Steps wait for their data"]),
        (200, 100, ["Steps wait for their data", "Batches are copied to the device while it waits"]),
        (10, 290, ["Batches are copied to the device while it waits"]),
        (0, 40, []),
    ],
)
def test_copies_to_the_device_have_a_finding_of_their_own(tmp_path, wait_us, copy_us, findings):
    """From 10 percent of the input time on they have a finding, from 90 on the only one."""
    table = advised(tmp_path, copying_loop(wait_us, copy_us)).table
    assert [finding for finding in table["finding"] if "data" in finding or "copied" in finding] == findings


def fetching_loop(fetch_us, inside):
    """Steps of 1 ms every 2 ms; the next batch is fetched between their marks, or inside them."""
    space = XSpace()
    python, other = (space.plane("/host:CPU").line(name) for name in ("python", "tf_data"))
    for i in range(4):
        at = 2000 * i
        python.event("train", start_us=at, duration_us=1000, step_num=i, _r=1)
        python.event("MatMul:MatMul", start_us=at, duration_us=10)
        fetch = at + (20 if inside else 1100)
        python.event("EagerLocalExecute: IteratorGetNext", start_us=fetch, duration_us=fetch_us)
        python.event("IteratorGetNextOp::DoCompute", start_us=fetch + 1, duration_us=fetch_us - 2)
        other.event("IteratorGetNextOp::DoCompute", start_us=at + 1050, duration_us=900)
    return space


OUTSIDE = "Data is fetched outside the steps"


def test_data_fetched_outside_the_marks_is_reported(tmp_path):
    """Of the 7 ms from the first step to the last, three fetches of 0.8 ms lie between steps."""
    found = advised(tmp_path, fetching_loop(800, inside=False)).table.set_index("finding").loc[OUTSIDE]
    assert found["severity"] == "high"
    assert found["evidence"].startswith("2.40 ms (34.3% of the time")
    assert "train_step(next(batches))" in found["fix"]


def test_pages_agree_on_the_wait_for_data_that_is_fetched_outside_the_marks(tmp_path):
    profile = load(fetching_loop(800, inside=False).write(tmp_path / "host.xplane.pb"))
    assert str(profile.input_pipeline).splitlines()[2] == (
        "Steps wait for data 34.3% of their time, 34.3% of it before they begin."
    )
    assert profile.tf_data.summary["waiting_percent"] == pytest.approx(34.3, abs=0.05)
    assert profile.overview.summary["waiting_percent"] == pytest.approx(34.3, abs=0.05)


@pytest.mark.parametrize(("fetch_us", "inside"), [(800, True), (100, False)])
def test_data_fetched_inside_the_marks_or_at_once_is_not_reported(tmp_path, fetch_us, inside):
    assert OUTSIDE not in advised(tmp_path, fetching_loop(fetch_us, inside)).table["finding"].tolist()


def test_without_evidence_there_are_no_findings(tmp_path):
    space = XSpace()
    space.plane("/host:CPU")
    result = advised(tmp_path, space)
    assert len(result.table) == 0
    assert result.notes[0].startswith("Without steps there is little to base advice on")


def test_a_healthy_program_has_nothing_to_change(tmp_path):
    space = loop()
    python = space.planes[0].lines[0]
    for i in range(5):
        for part in range(4):
            python.event(f"op{part}:Type{part}", start_us=1000 * i + 250 * part, duration_us=250)
    assert advised(tmp_path, space).notes == ["Nothing in this profile calls for a change."]


def test_a_function_that_is_traced_again_and_again(tmp_path):
    space = loop(compute=100)
    python = space.plane("/host:CPU").line("other")
    for i in range(4):
        python.event("f", start_us=100 * i, duration_us=90, tf_function_call="traced-nonXla", tracing_count=i + 1)
    findings = advised(tmp_path, space).table["finding"].tolist()
    assert "f is traced again and again" in findings


def test_a_step_in_the_middle_that_traces_again(tmp_path):
    """As the smaller last batch of an epoch does; the first step of all has to trace, and is no finding."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(8):
        start, length = 10_000 * i, 5000 if i in (0, 5) else 1000
        python.event("train", start_us=start, duration_us=length, step_num=i, _r=1)
        python.event("mul:MatMul", start_us=start, duration_us=900)
        if i in (0, 5):
            python.event("f", start_us=start + 900, duration_us=4000, tf_function_call="traced-nonXla")
    found = advised(tmp_path, space).table.set_index("finding")
    late = found.loc["A function is traced again in the middle of the run"]
    assert late["evidence"] == "train 5 traced or compiled: 5.00 ms, compared to 1.00 ms for the median step."
    assert "drop_remainder=True" in late["fix"]
    assert (late["start_ms"], late["duration_ms"]) == (50, 5)


def test_python_in_the_input_pipeline_is_named(tmp_path):
    space = loop(input=60, compute=39)
    pool = space.plane("/host:CPU").line("tf_data_private_threadpool")
    pool.event("py:EagerPyFunc", duration_us=1600)
    evidence = advised(tmp_path, space).table["evidence"]
    assert "Python functions in the pipeline ran for 1.60 ms" in evidence.iloc[0]
    assert "Python" not in advised(tmp_path, loop(input=60, compute=39)).table["evidence"].iloc[0]


def test_several_batches_per_step_are_advised_in_the_programs_own_terms(tmp_path):
    space = loop(compute=80)
    assert "steps_per_execution" not in advised(tmp_path, space).table["fix"].iloc[0]
    of_keras = XSpace()
    python = of_keras.plane("/host:CPU").line("python")
    for i in range(5):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1, epoch=0)
        python.event("mul:MatMul", start_us=1000 * i, duration_us=800)
    assert "steps_per_execution" in advised(tmp_path, of_keras).table["fix"].iloc[0]


def test_time_between_the_steps(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i, start_us in enumerate((0, 1000, 4000)):
        python.event("train", start_us=start_us, duration_us=1000, step_num=i, _r=1)
        python.event("MatMul:MatMul", start_us=start_us, duration_us=1000)
    found = advised(tmp_path, space).table.set_index("finding").loc["Much of the time lies between the steps"]
    assert "2.00 ms (40% of the time" in found["evidence"].replace("40.0%", "40%")
