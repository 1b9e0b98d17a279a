"""Models that compute in float64: what counts is of which type the weights are that are trained."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.rules.graph import float64
from tfprof_nb.analysis.source.code import Code


@pytest.mark.parametrize(
    ("variables", "percents"),
    [
        ([("float64", True, 900), ("float32", True, 100)], [40.0]),
        ([("float64", True, 100), ("float32", True, 900)], []),
        ([("float64", False, 900), ("float32", True, 100)], []),
        ([("float64", True, 100), ("float32", False, 900)], [40.0]),
    ],
)
def test_most_of_the_trained_parameters_are_float64(variables, percents):
    graphs = SimpleNamespace(
        variables=pd.DataFrame(variables, columns=["dtype", "trainable", "parameters"]),
        nodes=pd.DataFrame({"outputs": ["float64[2]", "float32[2]", "float64[3]"]}),
    )
    ops = SimpleNamespace(graphs=graphs, steps=3, percent=lambda nodes: 20.0 * nodes.sum())
    evidence = SimpleNamespace(step_ops=lambda: ops, code=Code({}))
    assert [case.percent for case in float64.check(evidence, {})] == percents
