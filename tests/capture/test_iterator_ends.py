"""The end of each iterator over a dataset leaves an event, whether ops are recorded or not."""

import gc

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.capture.trace_level import MARKS, set_level
from tfprof_nb.formats.marks import ITERATOR_END


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_each_pass_over_a_dataset_leaves_one_where_no_ops_are_recorded():
    data = tf.data.Dataset.range(8).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE).batch(2)
    with tp.profile() as p:
        set_level(MARKS)
        found = [[batch.numpy().tolist() for batch in data] for _ in range(3)]
        gc.collect()
    assert found == [[[1, 2], [3, 4], [5, 6], [7, 8]]] * 3
    assert (p.events["name"].astype(str) == ITERATOR_END).sum() == 3


def test_an_iterator_that_lives_longer_goes_on():
    data = tf.data.Dataset.range(4)
    with tp.profile():
        iterator = iter(data)
        first = next(iterator).numpy()
    assert [first, *(int(one) for one in iterator)] == [0, 1, 2, 3]


def test_iterators_in_graphs_are_left_alone():
    @tf.function
    def total():
        found = tf.constant(0, tf.int64)
        for one in tf.data.Dataset.range(4):
            found += one
        return found

    with tp.profile():
        assert int(total()) == 6
