"""The arithmetic on measured runs, by hand."""

import math

import pandas as pd
import pytest

from tfprof_nb.analysis.benchmark_input import COLUMNS, input_benchmark

STAGES = [("stage", "range"), ("stage", "map(f)"), ("stage", "shuffle(9)"), ("whole", "batch(8)")]
OTHERS = [("what-if", "prefetch at the end"), ("what-if", "cached"), ("bound", "one batch repeated")]


def variants(*rows, first_pass=(), fills=1.0):
    frame = pd.DataFrame(rows, columns=["kind", "name"])
    frame["compared"] = ["equal" if kind == "what-if" else "" for kind in frame["kind"]]
    return frame.assign(first_pass=[name in first_pass for name in frame["name"]], fills=fills)


def runs(*batch_ms, first_ms=None, slower=(1.0, 2.0, 1.0)):
    """Rounds of one machine that is slower by a factor in each."""
    first_ms = first_ms or batch_ms
    return pd.DataFrame(
        [
            {"variant": k, "round": r, "batch_ms": ms * by, "first_ms": first * by, "batches": 10}
            for r, by in enumerate(slower)
            for k, (ms, first) in enumerate(zip(batch_ms, first_ms, strict=True))
        ]
    )


def test_a_stage_adds_the_difference_to_the_one_before_in_the_same_round():
    made = input_benchmark(runs(1, 11, 12, 14), variants(*STAGES), math.nan, math.nan, 1.0)
    assert list(made.table.columns) == COLUMNS
    assert made.table["added_ms"].tolist() == [1, 10, 1, 2]
    assert made.table["batch_ms"].tolist() == [1, 11, 12, 14]
    assert made.table["batch_ms_high"].tolist() == [2, 22, 24, 28]
    assert made.summary["bottleneck"] == "map(f)"
    assert made.summary["batches_per_second"] == pytest.approx(1000 / 14)


def test_what_a_cache_keeps_adds_nothing_to_later_passes():
    rows = [("stage", "range"), ("stage", "map(f)"), ("stage", "cache()"), ("whole", "batch(8)")]
    told = variants(*rows, first_pass=("range", "map(f)"))
    made = input_benchmark(runs(1, 11, 0.5, 2), told, math.nan, math.nan, 1.0)
    assert made.table["added_ms"].tolist() == [1, 10, 0.5, 1.5]
    assert made.summary["bottleneck"] == "batch(8)"


@pytest.mark.parametrize(("fills", "named"), [(1.0, "map(f)"), (4.0, "map(f)"), (20.0, "shuffle(9)")])
def test_a_buffer_that_fills_for_much_of_a_pass_is_the_bottleneck(fills, named):
    # A pass of 100 batches takes about 1 s; filling takes 50 ms, or 20 times as long.
    measured = runs(0.1, 10, 10.1, 10.2, first_ms=(1, 12, 62, 62))
    made = input_benchmark(measured, variants(*STAGES, fills=fills), 100, math.nan, 1.0)
    assert made.summary["bottleneck"] == named


def test_the_best_what_if_is_the_one_that_takes_least():
    made = input_benchmark(runs(1, 11, 12, 14, 9, 0.5, 0.4), variants(*STAGES, *OTHERS), math.nan, math.nan, 1.0)
    assert made.summary["best"] == "cached"
    assert made.summary["bound_ms"] == 0.4


def test_with_a_step_the_first_of_those_that_are_fast_enough_is_the_best():
    made = input_benchmark(runs(1, 11, 12, 14, 9, 0.5, 0.4), variants(*STAGES, *OTHERS), math.nan, 10.0, 1.0)
    assert made.summary["best"] == "prefetch at the end"


@pytest.mark.parametrize("as_it_is", [0.52, 0.5, 0.1])
def test_what_is_hardly_faster_is_not_recommended(as_it_is):
    measured = runs(0.1, 0.2, 0.3, as_it_is, 0.5, 0.5, 0.1)
    made = input_benchmark(measured, variants(*STAGES, *OTHERS), math.nan, math.nan, 1.0)
    assert made.summary["best"] == ""
    assert math.isnan(made.summary["best_batch_ms"])


def test_what_was_not_measured_before_an_interrupt_has_no_row():
    measured = runs(1, 11, 12, 14)
    made = input_benchmark(measured[measured["variant"] == 3], variants(*STAGES, *OTHERS), 5, math.nan, 1.0)
    assert made.table["name"].tolist() == ["batch(8)"]
