"""PyTorch's traces: what their events are, from the names and fields that Kineto writes."""

import json

import pytest

from tfprof_nb import load

GPU, THREAD, BACKWARD = {"pid": 0, "tid": 7}, {"pid": 9, "tid": 9}, {"pid": 9, "tid": 10}


def event(cat, name, at, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, **at, "ts": ts, "dur": dur, "args": args}


def step(number):
    """A batch is awaited for 100 us and copied for 50; a product takes 300 on the device, its gradient 200."""
    at, n = 1000 * number + 5_000_000, 10 * number
    launch = {"registers per thread": 32, "shared memory": 1024, "grid": [2, 1, 1], "block": [64, 1, 1]}
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    return [
        event("user_annotation", f"ProfilerStep#{number}", THREAD, at, 1000),
        event("user_annotation", loader, THREAD, at, 100),
        event("user_annotation", "## forward ##", THREAD, at + 100, 800),
        event("cpu_op", "aten::mm", THREAD, at + 150, 50, **{"External id": n}),
        event("cuda_runtime", "cudaLaunchKernel", THREAD, at + 160, 10, correlation=n + 1),
        event("cpu_op", "aten::mm_backward", BACKWARD, at + 300, 50, **{"External id": n + 5}),
        event("cuda_runtime", "cudaLaunchKernel", BACKWARD, at + 310, 10, correlation=n + 2),
        event("cuda_runtime", "cudaMemcpyAsync", THREAD, at + 110, 10, correlation=n + 3),
        event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", GPU, at + 120, 50, correlation=n + 3),
        event("kernel", "sgemm", GPU, at + 200, 300, correlation=n + 1, **{"External id": n}, **launch),
        event("kernel", "sgemm", GPU, at + 600, 200, correlation=n + 2, **{"External id": n + 5}, **launch),
        event("gpu_user_annotation", f"ProfilerStep#{number}", GPU, at + 120, 680),
        event("python_function", "torch/nn/module.py(12): call", {"pid": 9, "tid": 11}, at, 900),
    ]


@pytest.fixture
def profile(tmp_path):
    events = [*step(1), *step(2), {"ph": "M", "pid": 9, "name": "process_name", "args": {"name": "python"}}]
    about = {"deviceProperties": [{"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0}]}
    path = tmp_path / "worker.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, **about, "traceEvents": events}))
    return load(path)


def test_profiler_steps_are_steps_with_what_other_threads_launched(profile):
    table = profile.steps.table
    assert table.index.tolist() == [1, 2]
    assert table["step_ms"].tolist() == [1.0, 1.0]
    assert table["device_compute_ms"].tolist() == pytest.approx([0.5, 0.5])
    # The loader's 100 us, and the copy's 50 but for 10 in which a kernel is launched.
    assert table["input_ms"].tolist() == pytest.approx([0.14, 0.14])
    assert profile.steps.summary["source"] == "marked"


def test_kernels_without_recorded_launches_are_of_the_step_in_which_they_began(tmp_path):
    """A device that is busy on two streams is not idle in its steps; what overlaps is busy once."""
    streams = [{"pid": 0, "tid": tid} for tid in (7, 20)]
    events = [event("user_annotation", f"ProfilerStep#{n}", THREAD, 1000 * n, 1000) for n in (1, 2)]
    events += [event("kernel", "sgemm", at, 1000 * n + 100, 600) for n in (1, 2) for at in streams]
    path = tmp_path / "worker.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    profile = load(path)
    assert profile.steps.table["device_compute_ms"].tolist() == [0.6, 0.6]
    numbers = profile.overview.summary
    assert (numbers["device_busy_percent"], numbers["framework"]) == (75.0, "pytorch")  # 1,200 of 1,600 us


def test_kernels_are_kernels_with_their_ops(profile):
    table = profile.kernels.table.set_index("op_name")
    assert table["total_us"].to_dict() == {"aten::mm": 600, "aten::mm_backward": 400}
    assert set(table["grid"]) == {"2,1,1"}
    assert set(table["registers_per_thread"]) == {32}
    assert profile.device_type == "Nvidia GPU (Ampere)"


def test_aten_ops_are_ops_and_annotations_are_none(profile):
    ops = profile.ops.table
    assert ops.loc[ops["side"] == "host", "op_name"].tolist() == ["aten::mm", "aten::mm_backward"]
    assert ops.loc[ops["side"] == "host", "op_type"].tolist() == ["mm", "mm_backward"]


def test_pages_of_tensorflow_say_in_a_line_that_they_do_not_apply(profile):
    for page in (profile.tf_data, profile.functions, profile.source):
        (note,) = page.notes
        assert note.startswith("This page shows")
        assert note.endswith("a profile of a PyTorch program has none.")
    assert "tf.data.AUTOTUNE" not in str(profile.input_pipeline)
    assert "TensorFlow" not in str(profile.overview)


def test_no_page_names_tensorflow_where_a_real_trace_is_of_pytorch(shared_data):
    profile = load(shared_data / "chrome/kineto-455k-events.json.gz")
    assert profile.device_type == "MTIA"
    (step,) = profile.steps.table.to_dict("records")
    assert step["step_name"] == "step 1"
    assert step["device_compute_ms"] > 0.5 * step["step_ms"]  # the union of its kernels is 7.7 s of 13.3 s
    assert "TensorFlow" not in str(profile.overview)
