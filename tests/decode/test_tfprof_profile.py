"""tfprof's own profiles, against the RunMetadata that TensorFlow made them from."""

import pytest

from tfprof_nb import BadProfileError, load

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return what two steps of a small program said of themselves, and tfprof's profile of these."""
    tf = pytest.importorskip("tensorflow")
    tf1 = tf.compat.v1
    folder = tmp_path_factory.mktemp("steps")
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        images = tf1.placeholder(tf.float32, [None, 16], name="images")
        loss = tf.reduce_mean(tf.nn.relu(tf.matmul(images, tf.ones([16, 4]), name="product")), name="loss")
        profiler = tf1.profiler.Profiler(graph)
        for step in range(2):
            metadata = tf1.RunMetadata()
            options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
            session.run(loss, {images: [[1.0] * 16] * 32}, options, metadata)
            profiler.add_step(step, metadata)
            (folder / f"step{step}.pb").write_bytes(metadata.SerializeToString())
        (folder / "profile").write_bytes(profiler.serialize_to_string())
    return folder


def test_each_step_is_a_run_with_the_ops_that_tensorflow_recorded(files):
    ours = load(files / "profile")
    runs = [load(files / f"step{step}.pb") for step in range(2)]
    assert len(ours.steps.table) == 2
    table = ours.ops.table.set_index("op_name")
    theirs = runs[0].ops.table.set_index("op_name")
    assert table.loc["product", ["op_type", "occurrences"]].tolist() == ["MatMul", 2]
    assert table.loc["loss", "op_type"] == theirs.loc["loss", "op_type"] == "Mean"
    assert any("tfprof's own profile" in note for host in ours.data.forests for note in host.host.notes)


def test_a_file_that_is_cut_short_is_named(files, tmp_path):
    path = tmp_path / "profile"
    path.write_bytes((files / "profile").read_bytes()[:-3])
    with pytest.raises(BadProfileError, match="this profile of tfprof is cut short"):
        load(path)
