"""Programs and their rewrites, recorded: the gain that is told is that of the clock, whatever a step has become."""

import pytest

import tfprof_nb as tp

EXAMPLES, BATCH = 256, 8
SLOW_S = 0.02


@pytest.fixture
def sides(captured):
    """Return the profiles of two programs."""

    def of(*names):
        return [captured(f"rewrites/{name}") for name in names]

    return of


@pytest.fixture
def checked(seconds):
    """Return what is said of two profiles, once it is known that the gain agrees with the clock."""

    def check(before, after, *, changes):
        found = tp.compare(before, after).summary
        assert found["verdict"] == "faster"
        assert found["changes"] == changes
        assert found["speedup"] == pytest.approx(seconds(before) / seconds(after), rel=0.25)
        return found

    return check


def test_a_larger_batch(sides, checked):
    found = checked(*sides("small_batches", "large_batches"), changes=["batch size: 4 before, 64 after"])
    assert found["step_speedup"] < found["speedup"] / 2
    assert (found["batch_before"], found["batch_after"]) == (4, 64)


def test_several_steps_per_execution(sides, checked):
    """The last execution has fewer batches."""
    one, ten = sides("one_step_per_execution", "ten_steps_per_execution")
    found = checked(one, ten, changes=["steps per execution: 1 before, 10 after"])
    assert found["speedup_of"] == "time per example"
    assert found["step_speedup"] < 1 < found["speedup"]


def test_two_functions_that_became_one(sides, checked):
    """Nothing marks the steps: before, each batch has two calls."""
    two, one = sides("two_functions", "one_function")
    found = checked(two, one, changes=["functions: forward, update before, both after"])
    assert (found["speedup_of"], found["batch_before"], found["batch_after"]) == ("time per example", BATCH, BATCH)


def test_what_begins_and_ends_an_epoch(sides, checked):
    with_slow, without = sides("slow_epoch_ends", "quick_epoch_ends")
    checked(with_slow, without, changes=[])
    parts = tp.compare(with_slow, without).table.set_index("metric")["change"].drop("time_ms")
    assert parts.idxmin() == "outside_steps_ms"


def test_retracing_that_is_gone(sides, seconds):
    retraced, traced_once = sides("traced_in_each_call", "traced_once")
    found = tp.compare(retraced, traced_once).summary
    assert found["verdict"] == "faster"
    assert found["speedup"] == pytest.approx(seconds(retraced) / seconds(traced_once), rel=0.25)


@pytest.mark.xfail(strict=True, reason="too few steps were recorded to tell")
def test_of_a_model_that_was_not_warm_the_clock_is_told_first_and_longer_training_next(sides):
    """The first step traces, and the cell makes the model: neither is work that a longer training repeats."""
    compared = tp.compare(*sides("cold_with_callback", "cold_without_callback"))
    found, steps = compared.summary, EXAMPLES // BATCH
    assert (found["verdict"], found["speedup_of"]) == ("faster", "capture")
    assert found["before_ms"] > found["after_ms"] > 1000
    assert found["longer_before_ms"] * EXAMPLES > 1000 * SLOW_S * steps
    assert found["longer_after_ms"] * EXAMPLES < 1000
    assert "without making the model and tracing, one example took" in " ".join(str(compared).split())


def test_the_load_of_other_programs_is_recorded(sides):
    summary = tp.compare(*sides("traced_in_each_call", "traced_once")).summary
    loads = [summary[f"other_load_{side}_percent"] for side in ("before", "after")]
    assert all(load is None or 0 <= load <= 100 for load in loads)  # unknown where a capture was too short to tell
