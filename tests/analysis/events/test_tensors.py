"""Tensors as captures write them."""

import pytest

from tfprof_nb.analysis.events.tensors import bytes_of


@pytest.mark.parametrize(
    ("tensors", "size"),
    [("float32[2,3];int64[]", 32), ("float32[?,3]", 0), ("bfloat16[4]", 8), ("bool[5]", 5), ("resource[]", 0), ("", 0)],
)
def test_sizes_of_written_tensors(tensors, size):
    assert bytes_of(tensors) == size
