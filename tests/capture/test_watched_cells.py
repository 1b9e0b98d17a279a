"""Training cells that are watched without a profiler: their steps count, and TensorFlow is as before afterwards."""

import numpy as np
import pytest

from tfprof_nb.capture.watched_cells import _MAX_INTERVALS, Watcher, _Intervals
from tfprof_nb.formats.watched_cells import Interval

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def watched():
    """Run functions as cells; each gives the run that was watched, or None."""
    ended = []
    watcher = Watcher(ended.append, lambda: False)

    def run(cell):
        watcher.begin_cell("import keras")
        cell()
        watcher.end_cell("In[1]")
        return ended.pop() if ended else None

    yield run
    watcher.stop()


@pytest.fixture(scope="module")
def model():
    import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(ones(2), ones(2), verbose=0)
    return model


def ones(count):
    return np.ones((count, 4), "float32")


def dataset(batches, size=8):
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((ones(batches * size), ones(batches * size))).batch(size).prefetch(1)


def steps(cell):
    return sum(interval.steps for interval in cell.intervals)


def test_steps_of_fit_count_and_those_of_its_validation_do_not(watched, model):
    cell = watched(
        lambda: model.fit(ones(40), ones(40), batch_size=4, epochs=3, validation_data=(ones(9), ones(9)), verbose=0)
    )
    assert (cell.cell, cell.text, cell.batch, steps(cell)) == ("In[1]", "import keras", 4, 30)
    assert set(cell.versions) == {"TensorFlow", "Keras"}
    assert all(interval.memory_bytes > 0 for interval in cell.intervals)
    assert 0 < cell.intervals[-1].ended_s <= cell.seconds + 0.1


def test_batches_of_a_dataset_are_of_its_size(watched, model):
    cell = watched(lambda: model.fit(dataset(5), verbose=0))
    assert (cell.batch, steps(cell)) == (8, 5)


def test_single_batches_count(watched, model):
    assert steps(watched(lambda: [model.train_on_batch(ones(4), ones(4)) for _ in range(6)])) == 6


def test_a_loop_that_takes_data_has_a_step_per_pass(watched):
    def cell():
        for _ in range(3):
            for _ in dataset(5):
                pass

    ran = watched(cell)
    assert (ran.batch, steps(ran)) == (8, 3 * 5)  # the end of the data ends the last
    assert ran.tells_waits


def test_a_loop_that_is_left_early_does_not_hide_the_next(watched):
    def cell():
        kept = iter(dataset(9))
        next(kept)
        for _ in range(3):
            for number, _ in enumerate(dataset(40)):
                if number == 29:
                    break

    assert steps(watched(cell)) > 60


def test_a_loop_of_single_batches_has_each_once(watched, model):
    def cell():
        for x, y in dataset(5):
            model.train_on_batch(x, y)

    assert steps(watched(cell)) == 5


def test_cells_that_do_not_train_are_none(watched, model):
    assert watched(lambda: model.predict(ones(64), verbose=0)) is None
    assert watched(lambda: model.evaluate(dataset(9), verbose=0)) is None
    assert watched(lambda: None) is None


def test_each_cell_is_counted_by_itself(watched, model):
    counts = [steps(watched(lambda n=n: model.fit(dataset(n), verbose=0))) for n in (3, 5)]
    assert counts == [3, 5]


def test_marked_steps_count_once_beside_a_capture(watched, model, tmp_path):
    import tfprof_nb as tp

    def cell():
        with tp.profile(logdir=tmp_path) as p:
            model.fit(dataset(6), verbose=0)
            for number in range(4):
                with tp.step(number):
                    pass
        assert len(p.steps.table) == 10

    assert steps(watched(cell)) == 10


def test_keras_and_tensorflow_are_as_before_once_it_stops(model):
    from keras.src.callbacks.callback_list import CallbackList
    from keras.src.trainers.epoch_iterator import EpochIterator
    from tensorflow.python.profiler.trace import Trace

    from tfprof_nb.capture.tensorflow import iterator_class

    owners = CallbackList, EpochIterator, type(model).__mro__, Trace, iterator_class()
    owners = [one for owner in owners for one in (owner if isinstance(owner, tuple) else (owner,)) if one is not object]
    before = [dict(vars(owner)) for owner in owners]
    watcher = Watcher(print, lambda: False)
    watcher.begin_cell("import keras")
    assert [dict(vars(owner)) for owner in owners] != before
    watcher.stop()
    assert [dict(vars(owner)) for owner in owners] == before


def test_a_watch_waits_for_a_capture_that_runs():
    waits, watcher = [True], Watcher(print, lambda: waits[0])
    watcher.begin_cell("import keras")
    assert watcher._times is None
    waits[0] = False
    watcher.begin_cell("import keras")
    assert watcher._times is not None
    watcher.stop()


class Times:
    """Steps of which each interval has one more than the one before, and takes as many seconds."""

    def __init__(self):
        self.count = self.looks = 0

    def look(self):
        self.looks += 1
        self.count += self.looks
        return float(self.looks), self.looks / 4


def test_a_long_cell_takes_no_more_memory_than_a_short_one():
    intervals, times = _Intervals(), Times()
    times.count = 1
    for _ in range(5 * _MAX_INTERVALS):
        intervals.add(times)
        assert len(intervals.kept) < _MAX_INTERVALS
    assert sum(one.steps for one in intervals.kept) == times.count
    assert intervals.length_s > 4
    steps_ms = [one.step_ms for one in intervals.kept]
    assert steps_ms == sorted(steps_ms)
    assert [one.waiting_ms for one in intervals.kept] == pytest.approx([each / 4 for each in steps_ms], rel=1e-3)
    assert isinstance(intervals.kept[0], Interval)
