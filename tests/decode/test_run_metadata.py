"""RunMetadata, against TensorFlow's own timelines of the same runs."""

import contextlib
import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfprof_nb import BadProfileError, load
from tfprof_nb.decode.run_metadata import executed_nodes, parse_run_metadata, read_run_metadata
from tfprof_nb.decode.session_runs import RUNS

US = 10**6


@pytest.fixture(scope="module")
def metadata():
    """What one step of a small program said of itself."""
    tf = pytest.importorskip("tensorflow")
    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session() as session:
        images = tf1.placeholder(tf.float32, [None, 16], name="images")
        weights = tf1.get_variable("weights", [16, 4])
        loss = tf.reduce_mean(tf.nn.relu(tf.matmul(images, weights, name="product")), name="loss")
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf1.global_variables_initializer())
        found = tf1.RunMetadata()
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        for _ in range(2):
            session.run([train, loss], {images: [[1.0] * 16] * 32}, options, found)
    return found


@pytest.fixture(scope="module")
def timeline(metadata):
    """TensorFlow's own chart of it."""
    from tensorflow.python.client.timeline import Timeline

    return json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))["traceEvents"]


@pytest.fixture(params=["binary", "text"])
def file(request, metadata, tmp_path):
    if request.param == "binary":
        path = tmp_path / "step.pb"
        path.write_bytes(metadata.SerializeToString())
    else:
        path = tmp_path / "step.pbtxt"
        path.write_text(str(metadata))
    return path


@pytest.mark.tensorflow
def test_ops_are_tensorflows_to_the_microsecond(file, timeline):
    profile = load(file)
    ours = profile.events[profile.events["line"].str.startswith("CPU:0 ops")]
    theirs = sorted((f"{e['args']['name']}:{e['args']['op']}", e["ts"], e["dur"]) for e in timeline if e["ph"] == "X")
    origin_us = min(start for _, start, _ in theirs)
    times = sorted(zip(ours["name"], ours["start_ps"] / US, ours["duration_ps"] / US, strict=True))
    assert [name for name, *_ in times] == [name for name, *_ in theirs]
    for (_, start, length), (_, their_start, their_length) in zip(times, theirs, strict=True):
        assert start == pytest.approx(their_start - origin_us, abs=1.5)  # theirs are cut to whole microseconds
        assert length == pytest.approx(their_length, abs=1.5)


@pytest.mark.tensorflow
def test_a_run_is_a_step(file):
    steps = load(file).steps
    assert steps.summary["source"] == "marked"
    assert steps.table["step_name"].tolist() == ["session run 0"]
    assert steps.table["step_ms"].iloc[0] == pytest.approx(load(file).duration_ms)


@pytest.mark.tensorflow
def test_memory_is_tensorflows(file, timeline, tmp_path):
    chart = tmp_path / "timeline.json"
    chart.write_text(json.dumps({"traceEvents": timeline}))
    ours, theirs = load(file).memory, load(chart).memory
    assert ours.summary.keys() == theirs.summary.keys()
    described = ["allocator", "op_name", "requested_bytes", "shape", "data_type", "event"]
    sizes = [found.timeline[described].sort_values(described, ignore_index=True) for found in (ours, theirs)]
    assert len(sizes[0]) > 0
    assert sizes[0].equals(sizes[1])
    peak = max(e["args"][name] for e in timeline if e["ph"] == "C" for name in e["args"])
    assert max(allocator["peak_bytes"] for allocator in theirs.summary.values()) == peak


@pytest.mark.tensorflow
def test_nodes_have_what_tfprof_asks_for(metadata):
    nodes = executed_nodes(parse_run_metadata(metadata.SerializeToString(), "x"))
    theirs = [stats for device in metadata.step_stats.dev_stats for stats in device.node_stats]
    assert nodes["node"].tolist() == [stats.node_name for stats in theirs]
    assert nodes["start_ps"].tolist() == [stats.all_start_nanos * 1000 for stats in theirs]
    assert nodes["op_end_ps"].tolist() == [stats.op_end_rel_nanos * 1000 for stats in theirs]
    for ours, their in (("requested", "total"), ("peak", "peak"), ("residual", "live")):
        assert nodes[f"{ours}_bytes"].tolist() == [
            sum(getattr(memory, f"{their}_bytes") for memory in stats.memory) for stats in theirs
        ]
    product = nodes.set_index("node").loc["product"]
    assert product["inputs"][1] == "product/ReadVariableOp"
    assert [dim.size for dim in product["outputs"][0].tensor_description.shape.dim] == [32, 4]


@pytest.fixture
def gpu_run():
    from tensorflow.core.protobuf import config_pb2

    run = config_pb2.RunMetadata()
    for device, nodes in {
        "/job:localhost/replica:0/task:0/device:GPU:0": [("dense/MatMul", "dense/MatMul = MatMul(x, w/read/_5)", 3)],
        "/device:GPU:0/stream:all": [("dense/MatMul:MatMul", "sgemm_128@@dense/MatMul:MatMul#id=1#", 7)],
        "/device:GPU:0/stream:7": [("dense/MatMul:MatMul", "sgemm_128@@dense/MatMul:MatMul#id=1#", 7)],
        "/device:GPU:0/memcpy": [("edge_3_x:MEMCPYHtoD", "MEMCPYHtoD", 2)],
        "/device:GPU:0/stream:14": [("edge_3_x:MEMCPYHtoD", "MEMCPYHtoD", 2)],
    }.items():
        stats = run.step_stats.dev_stats.add(device=device)
        for name, label, length in nodes:
            stats.node_stats.add(
                node_name=name, timeline_label=label, all_start_micros=1_600_000_000_000_000, all_end_rel_micros=length
            )
    return run


@pytest.mark.tensorflow
def test_kernels_of_a_gpu_count_once(gpu_run, tmp_path):
    path = tmp_path / "gpu.pb"
    path.write_bytes(gpu_run.SerializeToString())
    profile = load(path)
    device = profile.ops.table[profile.ops.table["side"] == "device"].set_index("op_name")
    assert device["total_us"].to_dict() == {"dense/MatMul": 7.0, "edge_3_x": 2.0}
    assert device.loc["dense/MatMul", "op_type"] == "MatMul"
    assert "sgemm_128" in set(profile.events["name"])
    assert profile.steps.table["device_compute_ms"].tolist() == [pytest.approx(0.007)]


@pytest.mark.tensorflow
def test_a_text_with_fields_that_nobody_knows_is_read(gpu_run):
    text = str(gpu_run) + "some_future_field { a: 1 }\n"
    host = read_run_metadata(text.encode(), "x")
    assert RUNS in [line.name for line in host.lines]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\x08\x01\x02\xff\xff", "not supported"),
        (b'# A graph.\nnode { name: "a" op: "Const" }', "a GraphDef"),
        (b"cost_graph { }", "no traced ops.*FULL_TRACE"),
        ("ä".encode("latin-1"), "not supported"),
    ],
)
def test_what_is_none_is_refused(tmp_path, content, message):
    path = tmp_path / "bad.pb"
    path.write_bytes(content)
    with pytest.raises(BadProfileError, match=rf"bad.pb: .*{message}"):
        load(path)


@pytest.mark.tensorflow
@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_files_are_read_or_refused(gpu_run, data):
    content = data.draw(st.sampled_from([gpu_run.SerializeToString(), str(gpu_run).encode()]))
    first = data.draw(st.integers(0, len(content)))
    last = data.draw(st.integers(first, min(first + 30, len(content))))
    damaged = content[:first] + data.draw(st.binary(max_size=20)) + content[last:]
    with contextlib.suppress(BadProfileError):
        assert len(read_run_metadata(damaged, "x"))


@pytest.mark.tensorflow
@pytest.mark.parametrize("section", [{"functions": []}, {"functions": [{}]}, [1], {"strings": 5, "functions": [1]}])
def test_a_damaged_graph_beside_runs_costs_only_itself(metadata, tmp_path, section):
    path = tmp_path / "host.0000.run_metadata.pb"
    path.write_bytes(metadata.SerializeToString())
    written = json.dumps({"version": 1, "graphs": section}).encode()
    (tmp_path / "graph.tfprof.json.gz").write_bytes(gzip.compress(written))
    graph = load(path).graph
    assert "product" in set(graph.table["name"])
    assert any("section graphs of" in note and "is damaged" in note for note in graph.notes)
