"""``local.trace`` of TensorFlow 2.0 and 2.1, written by protobuf's own classes."""

import pytest

from tfprof_nb import BadProfileError, find_runs, load

TASK = "/job:localhost/replica:0/task:0"


@pytest.fixture
def trace():
    """A product on the host, launched on a GPU; in TensorFlow 2.1's form, the last device has an annotation."""
    messages = pytest.importorskip("xprof.protobuf.trace_events_old_pb2")
    trace = messages.Trace()
    for number, name in enumerate([f"{TASK}/device:CPU:0", f"{TASK}/device:GPU:0", "/device:GPU:0/stream:7"]):
        trace.devices[number].name = name
        trace.devices[number].device_id = number
        trace.devices[number].resources[0].name = "0"
    events = [
        (0, "model/add", "model/add = AddV2(a, b)", "", 0, 10),
        (1, "model/product", "model/product = MatMul(a, b)", "", 10, 5),
        (2, "model/product:MatMul", "sgemm", "model/product:MatMul#id=1#", 20, 40),
    ]
    for device, name, label, annotation, start_us, length_us in events:
        event = trace.trace_events.add(
            device_id=device, name=name, timestamp_ps=start_us * 10**6, duration_ps=length_us * 10**6
        )
        event.args["label"] = label
        if annotation:
            event.args["annotation"] = annotation
    return trace


def test_ops_of_host_and_device_have_their_names_types_and_times(trace, tmp_path):
    folder = tmp_path / "plugins" / "profile" / "2019-10-01_12-30-00"
    folder.mkdir(parents=True)
    (folder / "local.trace").write_bytes(trace.SerializeToString())
    (run,) = find_runs(tmp_path)
    assert (run.time.year, run.time.hour) == (2019, 12)
    profile = load(tmp_path)
    table = profile.ops.table
    assert table[["side", "op_name", "op_type", "total_us"]].to_numpy().tolist() == [
        ["device", "model/product", "MatMul", 40],
        ["host", "model/add", "AddV2", 10],
        ["host", "model/product", "MatMul", 5],
    ]
    assert profile.device_type == "Nvidia GPU"
    assert "session.run" not in str(profile)


def test_a_file_that_is_cut_short_or_empty_is_named(trace, tmp_path):
    path = tmp_path / "local.trace"
    path.write_bytes(trace.SerializeToString()[:-2])
    with pytest.raises(BadProfileError, match="is cut short"):
        load(path)
    del trace.trace_events[:]
    path.write_bytes(trace.SerializeToString())
    with pytest.raises(BadProfileError, match="has no events"):
        load(path)
