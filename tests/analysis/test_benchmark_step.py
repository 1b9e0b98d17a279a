"""The arithmetic on measured steps, by hand."""

import math

import pandas as pd
import pytest

from tfprof_nb.analysis.benchmark_step import COLUMNS, step_benchmark

VARIANTS = pd.DataFrame(
    [["as it is", 8, 1, ""], ["jit_compile=True", 8, 1, "compiled"], ["batch of 32", 32, 10, ""]],
    columns=["name", "examples", "per_run", "code"],
)


def runs(*step_ms, slower=(1.0, 3.0, 1.0)):
    return pd.DataFrame(
        [
            {"variant": k, "round": r, "batch_ms": ms * by, "batches": 4}
            for r, by in enumerate(slower)
            for k, ms in enumerate(step_ms)
        ]
    )


def test_variants_are_compared_by_example():
    made = step_benchmark(runs(8, 4, 16), VARIANTS, 2.0)
    assert list(made.table.columns) == COLUMNS
    assert made.table["example_us"].tolist() == [1000, 500, 500]
    assert made.table["speedup"].tolist() == [1, 2, 2]
    assert made.table["step_ms_high"].tolist() == [24, 12, 48]
    assert made.table["steps"].tolist() == [12, 12, 120]
    assert (made.summary["best"], made.code) == ("jit_compile=True", "compiled")
    assert made.summary["examples_per_second"] == pytest.approx(1000)


def test_a_larger_batch_that_takes_longer_can_still_be_the_best():
    made = step_benchmark(runs(8, 9, 10), VARIANTS, 2.0)
    assert made.summary["best"] == "batch of 32"
    assert made.summary["best_speedup"] == pytest.approx(3.2)


def test_what_is_hardly_faster_is_not_recommended():
    made = step_benchmark(runs(8, 7.9, 31), VARIANTS, 2.0)
    assert made.summary["best"] == ""
    assert math.isnan(made.summary["best_speedup"])


def test_a_variant_that_was_not_reached_has_no_row():
    measured = runs(8, 4, 16)
    made = step_benchmark(measured[measured["variant"] < 2], VARIANTS, 2.0)
    assert made.table["name"].tolist() == ["as it is", "jit_compile=True"]
