"""Names of events: which operation, of which type."""

import numpy as np
import pytest

from tfprof_nb.analysis.events.names import Category, parse_names, parse_tf_op


@pytest.mark.parametrize(
    ("text", "category", "op_name", "op_type"),
    [
        ("model/conv/Conv2D:Conv2D", "TENSORFLOW", "model/conv/Conv2D", "Conv2D"),
        ("a.b-c>d/x_1:_Send", "TENSORFLOW", "a.b-c>d/x_1", "_Send"),
        ("a/MatMul_12:", "TENSORFLOW", "a/MatMul_12", "MatMul"),
        ("Iterator::Root::Prefetch", "TF_DATA", "Iterator::Root::Prefetch", "Dataset"),
        ("Iterator:x", "TF_DATA", "Iterator:x", "Dataset"),
        (
            "jit(f)/jit(main)/transpose:transpose[permutation=(0, 3, 1, 2)]",
            "JAX",
            "jit(f)/jit(main)/transpose",
            "transpose",
        ),
        ("jit(f)/dot_general_3:", "JAX", "jit(f)/dot_general_3", "dot_general"),
        ("ThreadpoolListener::Record", "UNKNOWN", "ThreadpoolListener::Record", ""),
        ("session.py:12 run", "UNKNOWN", "session.py:12 run", ""),
        ("FunctionRun", "UNKNOWN", "FunctionRun", ""),
        ("", "UNKNOWN", "", ""),
        ("MEMCPYHtoD", "MEMCPY_H2D", "MEMCPYHtoD", "MemcpyHToD"),
        ("memcpydtoh async", "MEMCPY_D2H", "memcpydtoh async", "MemcpyDToH"),
        ("MemcpyD2D", "MEMCPY_D2D", "MemcpyD2D", "MemcpyDToD"),
        ("MemcpyP2P", "MEMCPY_D2D", "MemcpyP2P", "MemcpyDToD"),
        ("MemcpyH2H", "MEMCPY_H2H", "MemcpyH2H", "MemcpyHToH"),
        ("MemcpyH2D:x", "JAX", "MemcpyH2D", "x"),
        ("Memset", "UNKNOWN", "Memset", ""),
        ("cuMemcpyHtoDAsync", "UNKNOWN", "cuMemcpyHtoDAsync", ""),
    ],
)
def test_parses_a_name(text, category, op_name, op_type):
    assert parse_tf_op(text) == (Category[category], op_name, op_type)


def test_columns_follow_the_names():
    parsed = parse_names(np.array(["b:B", "FunctionRun", "b:B"], dtype=object))
    assert parsed.category.tolist() == [1, 0, 1]
    assert parsed.op_name.tolist() == ["b", "FunctionRun", "b"]
    assert parsed.op_type.tolist() == ["B", "", "B"]


def test_no_names_give_empty_columns():
    parsed = parse_names([])
    assert (len(parsed.category), len(parsed.op_name), len(parsed.op_type)) == (0, 0, 0)
