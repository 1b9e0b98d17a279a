"""tf.data on real pipelines in which one stage was made slow on purpose."""

import time

import pytest

from builders import forest
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.tf_data.tf_data import tf_data

pytestmark = pytest.mark.tensorflow


def sleepy(x):
    time.sleep(0.02)
    return x


def slow_map(tf, x):
    return tf.ensure_shape(tf.py_function(sleepy, [x], tf.int64), x.shape)


def read_slowly(tf, folder):
    """Read records that take long to unpack."""
    path = str(folder / "slow.tfrecord")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
        for _ in range(8):
            writer.write(bytes(4_000_000))
    return tf.data.TFRecordDataset(path, "GZIP").map(tf.strings.length).batch(2)


def open_slowly(tf, parallel):
    return tf.data.Dataset.range(8).interleave(
        lambda x: tf.data.Dataset.from_tensors(slow_map(tf, x)),
        cycle_length=2,
        num_parallel_calls=2 if parallel else None,
    )


PLANTED = {
    "map": ("Map", lambda tf, _: tf.data.Dataset.range(12).map(lambda x: slow_map(tf, x)).shuffle(2)),
    "map, fused with batch": (
        "Map",
        lambda tf, _: tf.data.Dataset.range(12).map(lambda x: slow_map(tf, x), num_parallel_calls=2).batch(4),
    ),
    "filter": ("Filter", lambda tf, _: tf.data.Dataset.range(8).filter(lambda x: slow_map(tf, x) >= 0).batch(2)),
    "read": ("TFRecord", read_slowly),
    "batch": ("Batch", lambda tf, _: tf.data.Dataset.from_tensors(tf.zeros((512, 1024))).repeat(24).batch(8)),
    "interleave": ("Interleave", lambda tf, _: open_slowly(tf, parallel=False).batch(2)),
    "parallel interleave": ("ParallelInterleave", lambda tf, _: open_slowly(tf, parallel=True).batch(2)),
    "interleaved map": (
        "Map",
        lambda tf, _: (
            tf.data.Dataset.range(2)
            .interleave(lambda _: tf.data.Dataset.range(4).map(lambda x: slow_map(tf, x)), num_parallel_calls=2)
            .batch(2)
            .prefetch(2)
        ),
    ),
    "generator": (
        "Generator",
        lambda tf, _: tf.data.Dataset.from_generator(
            lambda: map(sleepy, range(20)), output_signature=tf.TensorSpec([], tf.int64)
        ).batch(2),
    ),
}


def capture(tf, dataset, folder, passes=1):
    with tf.profiler.experimental.Profile(str(folder)):
        for _ in range(passes):
            for _ in dataset:
                pass
    file = next(folder.rglob("*.xplane.pb"))
    return tf_data([forest(file.read_bytes())])


@pytest.mark.parametrize("planted", PLANTED)
def test_a_stage_made_slow_is_the_bottleneck(planted, tmp_path):
    tf = pytest.importorskip("tensorflow")
    expected, make = PLANTED[planted]
    result = capture(tf, make(tf, tmp_path), tmp_path)
    assert expected in iterator_type(result.summary["bottleneck_long_name"])
    assert result.summary["bottleneck"] == result.table.loc[result.table["bottleneck"], "name"].item()
    assert result.table["critical_ms"].sum() == pytest.approx(result.summary["latency_ms"])
    assert result.summary["slow_calls"] > 0


def test_repeat_and_batch_give_their_four_stages(tmp_path):
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.Dataset.range(10).map(lambda x: x + 1).repeat(2).batch(5)
    result = capture(tf, dataset, tmp_path)
    own = result.table[~result.table["injected"]]
    assert [iterator_type(name) for name in own["long_name"]] in (
        ["Batch", repeat, map_, "Range"]
        for repeat in ("FiniteRepeat", "ForeverRepeat", "Repeat")
        for map_ in ("Map", "ParallelMap")
    )
    assert len(result.pipelines) == 1
    assert result.summary["calls"] == 5  # four batches, and the one that finds the end


def test_passes_over_a_short_dataset_are_one_pipeline(tmp_path):
    tf = pytest.importorskip("tensorflow")
    result = capture(tf, tf.data.Dataset.range(4).map(lambda x: x + 1).batch(2), tmp_path, passes=5)
    assert result.pipelines["calls"].tolist() == [15]  # two batches in each pass, and the end
