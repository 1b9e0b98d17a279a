"""The first screen: the verdict in a sentence that says neither more nor less than the numbers do."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.views.overview import headline


@pytest.fixture
def answer(tmp_path):
    """Return a function that says the answer for steps of 1 ms with so much input and unaccounted time, in percent."""

    def say(input_percent=0, other_percent=0):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        busy_us = 10 * (100 - input_percent - other_percent)
        for i in range(3):
            begin = 2000 * i
            python.event("train", start_us=begin, duration_us=1000, step_num=i, _r=1)
            python.event("IteratorGetNext:x", start_us=begin, duration_us=10 * input_percent)
            python.event("mul:MatMul", start_us=begin + 10 * input_percent, duration_us=busy_us)
        space.write(tmp_path / "host.xplane.pb")
        return headline(tp.load(tmp_path).overview)

    return say


def test_waiting_for_data_is_told_by_the_guides_thresholds(answer):
    assert answer(input_percent=30) == "HIGHLY input-bound: 30.0% of each step waits for data."
    assert answer(input_percent=10) == "MODERATELY input-bound: 10.0% of each step waits for data."
    assert answer(input_percent=2).startswith("NOT input-bound: 98.0% of each step is host compute, 2.0% waits")


def test_much_time_that_nothing_accounts_for_may_be_waiting(answer):
    assert answer(other_percent=40).startswith("POTENTIALLY input-bound: 40.0% of each step is time that TensorFlow")


def test_a_little_such_time_leaves_the_first_word_to_what_takes_most(answer):
    assert answer(other_percent=4) == (
        "At most POTENTIALLY input-bound: 96.0% of each step is host compute, 4.0% is time that TensorFlow does not "
        "account for (Python code, or reading data outside tf.data)."
    )


def test_without_steps_there_is_no_verdict(tmp_path):
    space = XSpace()
    space.plane("/host:CPU").line("python").event("mul:MatMul", duration_us=10)
    space.write(tmp_path / "host.xplane.pb")
    assert headline(tp.load(tmp_path).overview).startswith("No step times")
