"""Captures of tiny models, read back with TensorFlow's own protobuf classes."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import Recording


class Marks(list):
    """The step marks of a profile in order of time: pairs of a name and a dict of stats."""

    def steps(self, name="train"):
        """Numbers of the whole steps."""
        return [s["step_num"] for n, s in self if n == name and not {"end_of_data", "interrupted"} & set(s)]

    def unfinished(self, stat):
        return [name for name, stats in self if stat in stats]


def marks_of_plane(plane):
    names = {key: meta.name for key, meta in plane.stat_metadata.items()}
    for line in plane.lines:
        for event in line.events:
            stats = {names[stat.metadata_id]: stat.int64_value for stat in event.stats}
            if "step_num" in stats:
                start_ps = line.timestamp_ns * 1000 + event.offset_ps
                yield start_ps, plane.event_metadata[event.metadata_id].name, stats


@pytest.fixture
def read_marks():
    """Read the marks of a run folder."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    def read(run):
        spaces = [xplane_pb2.XSpace.FromString(file.read_bytes()) for file in Path(run).glob("*.xplane.pb")]
        timed = [mark for space in spaces for plane in space.planes for mark in marks_of_plane(plane)]
        return Marks((name, stats) for _, name, stats in sorted(timed, key=lambda mark: mark[0]))

    return read


@pytest.fixture
def capturing(tmp_path, read_marks):
    """Context manager that captures and gives the marks, filled when it ends."""

    @contextmanager
    def capture():
        marks = Marks()
        recording = Recording(tmp_path, Options()).start()
        try:
            yield marks
        finally:
            marks.extend(read_marks(recording.stop()))

    return capture


@pytest.fixture
def model():
    """Make the same small compiled model, each time with the same weights."""
    import keras

    def make(**compile_options):
        keras.utils.set_random_seed(1)
        built = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        built.compile("sgd", "mse", **compile_options)
        return built

    return make


@pytest.fixture
def data():
    """40 batches of 2 examples, as a dataset whose length Keras knows."""
    import numpy as np
    import tensorflow as tf

    x = np.random.default_rng(0).normal(size=(80, 3)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, x[:, :2])).batch(2)


@pytest.fixture
def endless_data(data):
    """The same 40 batches, with a length that Keras does not know."""
    return data.filter(lambda *_: True)
