"""What makes steps wait, by small tables."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.rules.input._cause import cause_of_waiting
from tfprof_nb.analysis.source.code import Code

TEXT = "for i in range(20):\n    x = next(iter(data))\n    step(x)"


@pytest.fixture
def evidence():
    """20 steps of 10 ms, of which the second line of the cell takes 9 ms, and so many iterators."""

    def make(iterators, text=TEXT):
        calls = {"file": "cell", "line": [2, 2, 3, 2], "thread": ["main", "main", "main", "tf.data"]}
        steps = {"step_ms": [10.0] * 20, "phase": "train", "epoch": float("nan"), "input_ms": 5.0}
        ops = {"op_type": ["MakeIterator", "MatMul"], "occurrences": [iterators, 20], "self_us": 1.0, "eager": True}
        stages = pd.DataFrame({"long_name": ["Iterator::Root::Batch"], "self_ms": [1.0]})
        bottleneck = {"bottleneck_long_name": "Iterator::Root::Batch", "bottleneck_ms": 1.0, "suggestion": ""}
        return SimpleNamespace(
            tf_data=SimpleNamespace(summary=bottleneck, table=stages),
            steps=SimpleNamespace(table=pd.DataFrame(steps)),
            ops=SimpleNamespace(table=pd.DataFrame(ops | {"side": "host"})),
            python=SimpleNamespace(
                calls=pd.DataFrame(calls | {"in_steps_ms": [100.0, 80.0, 20.0, 500.0]}),
                table=pd.DataFrame(columns=["thread", "line", "function", "file", "self_ms"]).astype({"line": int}),
            ),
            code=Code({"cell": text}),
            line_of=lambda _name: "",
        )

    return make


def test_a_new_iterator_for_each_batch_costs_its_whole_line(evidence):
    cause = cause_of_waiting(evidence(19))
    assert cause.name == "a new iterator is made for each batch"
    assert (cause.place, cause.percent) == ("cell line 2", 90.0)
    assert "19 iterators were made for 20 steps: `x = next(iter(data))` (cell line 2)" in cause.evidence
    assert cause.evidence.endswith("the line takes 90.0% of the steps")


def test_a_new_iterator_for_each_batch_is_told_where_few_steps_were_recorded(evidence):
    """What is recorded between the windows' steps does not tell how many were made in all."""
    cause = cause_of_waiting(evidence(5))
    assert cause.name == "a new iterator is made for each batch"
    assert "`x = next(iter(data))` (cell line 2) makes an iterator in each pass of its loop." in cause.evidence


@pytest.mark.parametrize(
    "text", ["for i in range(20):\n    x = next(data)\n    step(x)", "first = next(iter(data))\nfor x in data: step(x)"]
)
def test_an_iterator_now_and_then_is_no_cause(evidence, text):
    assert cause_of_waiting(evidence(5, text)).name != "a new iterator is made for each batch"
