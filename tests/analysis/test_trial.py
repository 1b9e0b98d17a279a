"""What a change gains and whether it keeps results, from runs and values that are written by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from tfprof_nb.analysis.same_examples import difference_of_examples
from tfprof_nb.analysis.trial import Outcome, Ran, trial
from tfprof_nb.render.content import Content
from tfprof_nb.views import trial as view

SIDES = ("as it is", "changed")


def ran(
    seconds, *, steps=10, whole=True, is_whole=True, values=None, per_epoch=(math.nan, math.nan), epochs=1, **given
):
    """Runs of both cells: ``seconds`` has a pair per round, and a step takes a tenth of a run."""
    rows = [
        {
            "round": k,
            "variant": name,
            "steps": steps,
            "seconds": taken,
            "ms_per_step": 1000 * taken / 10,
            "first_ms": 100.0 if name == "as it is" else 400.0,
            "per_epoch": per_epoch[SIDES.index(name)],
            "epochs": epochs,
            "is_whole": is_whole,
        }
        for k, pair in enumerate(seconds)
        for name, taken in zip(SIDES, pair, strict=True)
    ]
    outcomes = [
        Outcome(k, name, one) for k, pair in enumerate(values or []) for name, one in zip(SIDES, pair, strict=True)
    ]
    return Ran(pd.DataFrame(rows), outcomes, {}, whole, **given)


def made(*losses, **others):
    return {f"step {k}: loss": [np.array(loss)] for k, loss in enumerate(losses, 1)} | others


def judged(one, other, again=None, claim="equal"):
    again = one if again is None else again
    return trial(ran([(2, 1)] * 3, values=[(one, other), (one, other), (again, other)]), "rule", claim)


def test_the_speedup_is_of_rounds_after_the_first():
    summary = trial(ran([(9, 1), (2, 1), (4, 2), (6, 3)]), "rule").summary
    assert summary["speedup"] == 2
    assert (summary["speedup_low"], summary["speedup_high"]) == pytest.approx((2, 2))
    assert summary["rounds"] == 3
    assert summary["first_cost_ms"] == 300


@pytest.mark.parametrize(
    ("per_epoch", "epochs", "lacks"),
    [(4, 5, ""), (8, 5, "second epoch"), (8, 1, ""), (30, 1, "between epochs"), (30, 2, "second epoch")],
)
def test_what_the_steps_lack_that_were_compared_is_said(per_epoch, epochs, lacks):
    runs = ran([(9, 1), (2, 2)], whole=False, is_whole=False, per_epoch=(per_epoch, per_epoch), epochs=epochs)
    notes = [note for note in trial(runs, "rule").notes if "epoch" in note]
    assert len(notes) == bool(lacks)
    assert lacks in "".join(notes)


def test_one_round_has_no_interval():
    summary = trial(ran([(9, 1), (2, 1)]), "rule").summary
    assert summary["speedup"] == 2
    assert math.isnan(summary["speedup_low"])


def test_steps_of_cells_that_were_ended():
    found = trial(ran([(9, 1), (2, 1), (4, 2)], whole=False, is_whole=False), "rule")
    assert (found.summary["speedup"], found.summary["of"]) == (2, "a step")


def test_larger_batches_count_by_the_epoch():
    found = trial(ran([(9, 1), (2, 2), (4, 4)], whole=False, is_whole=False, per_epoch=(30, 10)), "rule", "dynamics")
    assert found.summary["speedup"] == 3
    assert found.notes[0] == "Results: different: 30 and 10 steps per epoch."


def test_whole_cells_follow_from_some_of_their_steps():
    # 100 ms and 10 steps of 200 ms before, 400 ms and 10 steps of 100 ms after.
    found = trial(ran([(9, 1), (2, 1)], whole=False), "rule")
    assert found.summary["speedup"] == pytest.approx(2100 / 1400)
    assert found.summary["of"] == "the cell"


@pytest.mark.parametrize(
    ("one", "other", "results", "words"),
    [
        (made(0.5, 0.4), made(0.5, 0.4), "equal", "equal for 10 steps"),
        (made(0.5, 0.4), made(0.5, 0.4 * (1 + 2e-6)), "close", "equal up to 2e-06 for 10 steps"),
        (made(0.5, 0.41), made(0.5, 0.39), "different", "different: loss 0.41 and 0.39 after 2 steps"),
        (made(x=[np.ones(3)]), made(x=[np.ones(4)]), "different", "different: x has the shape (3,) and (4,)"),
        (made(x=["a"]), made(x=["b"]), "different", "different: x is 'a' and 'b'"),
        (made(x=[np.nan]), made(x=[np.nan]), "equal", "equal for 10 steps"),
        (made(x=[1.0]), made(x=[np.nan]), "different", "different: x is 1 and nan"),
        (made(0.5), {}, "unknown", "the cell leaves nothing that can be compared"),
        (
            {"weights of m": [np.ones(4)]},
            {"weights of m": [np.full(4, 1.1)]},
            "different",
            "different: the weights of m",
        ),
    ],
)
def test_results_are_told(one, other, results, words):
    found = judged(one, other)
    assert found.summary["results"] == results
    assert found.notes[0] == f"Results: {words}."
    assert found.summary["refuted"] == (results == "different")
    assert not judged(one, other, claim="dynamics").summary["refuted"]


def test_what_differs_between_runs_of_the_cell_as_it_is_is_left_out():
    found = judged(made(0.5, began=[1.0]), made(0.5, began=[3.0]), made(0.5, began=[2.0]))
    assert found.summary["results"] == "equal"


def test_losses_that_vary_are_different_only_if_all_runs_are_apart():
    varying = [0.50, 0.52, 0.51, 0.53]
    pairs = [(made(loss), made(loss + 0.01)) for loss in varying]
    assert trial(ran([(2, 1)] * 4, values=pairs), "rule").summary["results"] == "close"
    pairs = [(made(loss), made(loss + 0.4)) for loss in varying]
    assert trial(ran([(2, 1)] * 4, values=pairs), "rule").summary["results"] == "different"


def test_without_a_second_run_nothing_is_refuted():
    found = trial(ran([(2, 1)] * 2, values=[(made(0.4), made(0.5))] * 2), "rule")
    assert (found.summary["results"], found.summary["refuted"]) == ("unknown", False)


def test_a_key_that_the_history_lost():
    one, other = ({"epoch 1: loss": [0.5], "epoch 1: mae": [0.1]}, {"epoch 1: loss": [0.5]})
    assert judged(one, other).notes[0] == "Results: different: the history lacks `mae`."


def test_a_cell_that_fails_is_refuted_whatever_is_claimed():
    found = trial(ran([(2, 1)], failed="NameError: x"), "rule", "dynamics")
    assert found.summary["refuted"]
    assert found.notes[0] == "Results: different: the changed cell fails with NameError: x."
    assert "NameError" in str(Content("Tried", view.panels(found)))


def test_random_examples_make_other_losses_no_difference():
    passes = [[np.arange(9.0), np.arange(9.0) + 0.5]]
    losses = [(0.50, 0.52), (0.50, 0.52), (0.50, 0.51), (0.53, 0.50), (0.51, 0.53)]
    runs = ran([(2, 1)] * 5, values=[tuple(map(made, pair)) for pair in losses])
    outcomes = [one._replace(examples=passes) for one in runs.outcomes]
    assert judged(made(0.50), made(0.52)).summary["results"] == "different"
    assert trial(Ran(runs.runs, outcomes), "rule").summary["results"] == "close"


ROWS = np.array([3.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ([ROWS, ROWS[::-1]], [ROWS, ROWS[::-1]], ""),
        ([ROWS, ROWS[::-1]], [ROWS[::-1], ROWS], ""),
        ([ROWS, ROWS[::-1]], [ROWS, ROWS], "order"),
        ([ROWS, ROWS], [ROWS[:2], ROWS[:2]], "rows"),
        ([ROWS, ROWS + 1], [ROWS, ROWS], "values"),
        ([ROWS, ROWS], [ROWS, ROWS + 1], "redrawn"),
        ([ROWS, ROWS + 1], [ROWS + 2, ROWS + 3], ""),
        ([ROWS], [ROWS * (1 + 1e-9)], ""),
        ([], [], ""),
    ],
)
def test_examples_are_compared_pass_by_pass(one, other, kind):
    assert difference_of_examples([one], [other])[0] == kind
