"""Statistics of runs: Student's distribution against its tables, and what has no answer."""

import numpy as np
import pytest

from tfprof_nb.analysis.compare.between_runs import (
    _quantile,
    _within,
    chance,
    paired_p_value,
    ratio,
    ratio_interval,
    took_turns,
)

ONES = np.ones(5)


@pytest.mark.parametrize(
    ("freedom", "exceeded_by_5_percent"),
    [(1, 12.706), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (9, 2.2622), (10, 2.2281), (30, 2.0423)],
)
def test_students_distribution_is_that_of_the_tables(freedom, exceeded_by_5_percent):
    assert _quantile(freedom) == pytest.approx(exceeded_by_5_percent, rel=1e-4)
    assert _within(exceeded_by_5_percent, freedom) == pytest.approx(0.95, abs=1e-5)
    assert _within(0, freedom) == 0


def test_pairs_that_all_differ_by_the_same_are_no_chance():
    assert 0 < paired_p_value(2 * ONES, ONES) < 1e-6
    assert paired_p_value(ONES, ONES) == 1


@pytest.mark.parametrize("in_turn", [True, False])
@pytest.mark.parametrize("sides", [(ONES, 0 * ONES), (0 * ONES, ONES), (0 * ONES, 0 * ONES), (ONES, np.eye(5)[0])])
def test_a_time_of_zero_has_no_interval(sides, in_turn):
    assert np.isnan(ratio_interval(*sides, in_turn=in_turn)).all()
    assert 0 < chance(*sides, in_turn=in_turn) <= 1
    assert np.isnan(ratio(ONES, 0 * ONES, in_turn=in_turn))


def test_pairs_are_compared_where_there_are_as_many():
    """A machine that becomes slower with every round: the groups overlap, each pair differs by a tenth."""
    before = np.array([1.0, 1.2, 1.4, 1.6, 1.8])
    after = before / np.array([1.1, 1.09, 1.11, 1.1, 1.1])
    assert chance(before, after, in_turn=True) < 0.001
    assert chance(before, after, in_turn=False) > 0.3
    assert ratio(before, after, in_turn=True) == pytest.approx(1.1)
    assert chance(before, after[:4], in_turn=True) != chance(before, after, in_turn=True)  # four: no pairs, no chance


@pytest.mark.parametrize(
    ("before", "after", "turns"),
    [
        ([1, 4, 5, 8, 9], [2, 3, 6, 7, 10], True),
        ([1, 3, 5, 7, 9], [2, 4, 6, 8, 10], True),
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], False),
        ([1, 2, 3, 9, 10], [4, 5, 6, 7, 8], False),
        ([0, 3, 5], [2, 4, 6], False),
        ([1, 1, 1], [1, 1, 1], False),
        ([1], [2], True),
    ],
)
def test_runs_take_turns(before, after, turns):
    assert took_turns(before, after) is turns
    assert took_turns(after, before) is turns


def identical(random, rounds, *, in_turn):
    """Times of one program on a machine whose speed wanders by 5% from run to run, and 3% of chance in each."""
    sides = np.array([0, 1, 1, 0] * rounds)[: 2 * rounds] if in_turn else np.repeat([0, 1], rounds)
    times = np.exp(np.cumsum(random.normal(0, 0.05, 2 * rounds)) + random.normal(0, 0.03, 2 * rounds))
    return times[sides == 0], times[sides == 1]


def test_drift_makes_no_difference_of_runs_that_take_turns():
    """Of 400 pairs, 5% by chance, and five standard deviations of that; one after another, it is a third of them."""
    random = np.random.default_rng(0)
    found = {
        in_turn: np.mean([chance(*identical(random, 5, in_turn=in_turn), in_turn=in_turn) < 0.05 for _ in range(400)])
        for in_turn in (True, False)
    }
    assert found[True] < 0.1
    assert found[False] > 0.2
