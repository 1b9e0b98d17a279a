"""How long steps wait for data, as it is told while they run: also where a graph fetches the data."""

import time

import numpy as np
import pytest

import tfprof_nb as tp
from tfprof_nb.capture.pipeline_gaps import Gaps
from tfprof_nb.capture.step_times import StepTimes, step_times


@pytest.mark.tensorflow
@pytest.mark.parametrize("batches_per_step", [1, 4])
def test_what_waits_inside_a_function_is_told_by_the_pipeline(batches_per_step):
    import tensorflow as tf

    def slow(i):
        time.sleep(0.03 / batches_per_step)
        return i

    data = tf.data.Dataset.range(1000).map(lambda i: tf.numpy_function(slow, [i], tf.int64))

    @tf.function(reduce_retracing=True)
    def fetch(batches):
        for _ in range(batches_per_step):
            next(batches)

    with step_times() as times:
        batches = iter(data.prefetch(1))
        for i in range(20):
            with tp.step(i):
                fetch(batches)
            if i in (9, 19):
                assert not any(bar.waiting for bar in times.bars[-9:])
                times.look()
    assert times.tells_waits
    assert 0 < times.typical.waiting < times.typical.step


def test_the_gaps_of_a_step_that_fetches_several_batches_are_one():
    gaps = Gaps(8, np.array([0.001, 0.002, 0.003, 0.004] * 2))
    assert gaps.of_a_step(2) == pytest.approx(0.01)
    assert gaps.of_a_step(8) == pytest.approx(0.0025)


class Pipelines:
    """A pipeline whose steps compute for 25 of 100 ms, until it is gone."""

    def __init__(self):
        self.gone = False

    def newest(self):
        return None if self.gone else Gaps(2, np.full(2, 0.025))


def test_the_last_steps_of_a_pass_wait_like_those_before_them():
    times = StepTimes(pipelines := Pipelines())
    for gone in (False, True):
        pipelines.gone = gone
        for _ in range(3):
            times.add(0.1, 0.0)
        times.look()
    assert [bar.waiting for bar in times.bars] == pytest.approx([0.075] * 6)


def test_steps_without_a_pipeline_tell_no_wait():
    times = StepTimes()
    for _ in range(3):
        times.add(0.1, 0.0)
        times.look()
    assert not times.tells_waits
