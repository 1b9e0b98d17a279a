"""How many steps the runs of a trial do, and what is taken for the pace of a whole cell."""

import pytest

from tfprof_nb.capture.trial.steps import Limit, Steps
from tfprof_nb.capture.trial.turns import AS_IT_IS, CHANGED, Run, _bounded

PER_EPOCH = 20


def run(variant, steps, first_s, later_s, epochs):
    """A run of so many training steps, of which those of the first epoch take longer than the others."""
    told = Steps(Limit(1.0))
    told.per_epoch, told.planned_epochs, told.is_ended = PER_EPOCH, epochs, True
    at = 0.0
    for number in range(steps):
        at += first_s if number < PER_EPOCH + 4 else later_s  # four steps warm up
        told.ends["train"].append((at, number + 1))
    return Run(variant, 1, 0.0, at, False, told)


@pytest.mark.parametrize(("epochs", "pace_s"), [(1, 0.6), (2, 0.6), (5, 0.36), (20, 0.24)])
def test_epochs_that_did_not_run_are_like_those_after_the_first(epochs, pace_s):
    """A cache fills in the first epoch: with 1 s a step, then 0.2 s."""
    assert run(CHANGED, 2 * PER_EPOCH + 4, 1.0, 0.2, epochs).pace("train").step_s == pytest.approx(pace_s)


@pytest.mark.parametrize(
    ("left_s", "epochs", "steps"),
    [(400, 5, 40 + 5), (400, 1, 20 + 3), (100, 5, 20 + 3), (40, 5, 5)],
    ids=["two epochs", "all that is planned", "one epoch", "steps"],
)
def test_runs_go_on_into_the_second_epoch_where_the_time_allows(left_s, epochs, steps):
    first = [run(name, 10, 1.0, 1.0, epochs) for name in (AS_IT_IS, CHANGED)]
    assert _bounded(first, "train", left_s).steps == steps
