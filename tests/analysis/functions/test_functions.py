"""Calls of tf.function: XProf's own cases (`xplane_to_tf_functions_test.cc`), and a capture made here."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.functions.functions import COLUMNS, functions


def run(*threads):
    """Analyse calls given as ``(function, start_ms, duration_ms, mode, tracing_count)``, one list per thread."""
    space = XSpace()
    plane = space.plane("/host:CPU")
    for number, calls in enumerate(threads):
        line = plane.line(f"thread{number}")
        for name, start, duration, mode, count in calls:
            line.event(name, start_ms=start, duration_ms=duration, tf_function_call=mode, tracing_count=count)
    return functions([forest(space)])


def rows(result, *columns):
    return {
        (row.function, row.mode): tuple(getattr(row, name) for name in columns) for row in result.table.itertuples()
    }


def test_modes_add_up_over_threads():
    result = run(
        [
            ("decrement", 10, 100, "traced-nonXla", 1),
            ("decrement", 150, 20, "notTraced-nonXla", 2),
            ("decrement", 200, 80, "traced-nonXla", 3),
        ],
        [
            ("decrement", 20, 100, "traced-nonXla", 2),
            ("decrement", 160, 20, "notTraced-nonXla", 2),
            ("decrement", 210, 80, "traced-xla", 4),
        ],
    )
    assert list(result.table.columns) == COLUMNS
    assert rows(result, "calls", "self_ms", "tracings", "expensive_call_percent") == {
        ("decrement", "traced-nonXla"): (3, 280, 4, 90),
        ("decrement", "traced-xla"): (1, 80, 4, 90),
        ("decrement", "notTraced-nonXla"): (2, 40, 4, 90),
    }
    assert result.summary == {
        "functions": 1,
        "calls": 6,
        "tracings": 4,
        "retraced": ["decrement"],
        "expensive": ["decrement"],
        "compilers": {"decrement": "MIXED"},
    }


def test_self_time_excludes_functions_called_in_turn():
    result = run([("outer", 10, 100, "traced-nonXla", 1), ("inner", 30, 40, "notTraced-xla", 0)])
    assert rows(result, "total_ms", "self_ms", "expensive_call_percent") == {
        ("outer", "traced-nonXla"): (100, 60, 100),
        ("inner", "notTraced-xla"): (40, 40, 0),
    }
    assert result.summary["compilers"] == {"outer": "OTHER", "inner": "XLA"}


@pytest.mark.parametrize(("mode", "duration", "percent"), [("eager", 200, 100), ("concrete", 40, 0)])
def test_eager_and_concrete_calls(mode, duration, percent):
    result = run([("f", 10, duration, mode, 0)])
    assert rows(result, "self_ms", "expensive_call_percent") == {("f", mode): (duration, percent)}
    assert result.summary["compilers"] == {"f": None}


def test_no_calls_say_so():
    result = run([])
    assert result.table.empty
    assert list(result.table.columns) == COLUMNS
    assert result.summary == {
        "functions": 0,
        "calls": 0,
        "tracings": 0,
        "retraced": [],
        "expensive": [],
        "compilers": {},
    }
    assert result.notes == ["No call of a tf.function is in this capture."]
    assert functions([]).table.empty


def test_a_keras_program_calls_its_train_function(keras_capture):
    result = functions([forest(keras_capture.read_bytes())])
    # 64 examples in batches of 8: eight calls of one function that was traced in the epoch before.
    trained = result.table[result.table["calls"] == 8]
    assert trained["mode"].tolist() == ["notTraced-nonXla"]
    assert (result.table["self_ms"] <= result.table["total_ms"]).all()


@pytest.mark.parametrize("folder", ["tf2-gpu-pong", "tf2-gpu-multi-worker", "jax-rocm-conv", "jax-tpu-inference"])
def test_captures_give_calls_or_a_note(shared_data, folder):
    for file in (shared_data / folder).rglob("*.xplane.pb"):
        result = functions([forest(file.read_bytes())])
        assert bool(len(result.table)) != bool(result.notes)


@pytest.mark.parametrize(
    ("counts", "retraced"),
    [
        ([("traced", 1), ("traced", 1)], []),  # two functions of one name
        ([("traced", 2), ("notTraced", 2), ("traced", 2)], []),  # two that make variables
        ([("traced", 1), ("traced", 2)], ["step"]),
        ([("notTraced", 1), ("traced", 2)], ["step"]),
        ([("traced", 3)], ["step"]),  # the others came before the capture
        ([("traced", 1), ("notTraced", 1)], []),
    ],
)
def test_the_first_tracing_of_another_function_with_the_same_name_is_no_retracing(counts, retraced):
    calls = [("step", 10 * k, 5, f"{mode}-nonXla", count) for k, (mode, count) in enumerate(counts)]
    assert run(calls).summary["retraced"] == retraced
