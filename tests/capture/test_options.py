"""What TensorFlow's profiler is asked to record."""

import operator

import numpy as np
import pytest

from tfprof_nb.capture.options import Options


@pytest.mark.parametrize("level", [3.0, "2", None, 4, -1, np.float64(1), np.array([1, 2])])
def test_levels_are_whole_numbers(level):
    with pytest.raises(ValueError, match="host_level must be a whole number from 0 to 3, not"):
        Options(level)


@pytest.mark.parametrize("level", [3, True, np.int64(3)])
def test_whole_numbers_of_any_type_reach_tensorflow(level):
    asked = Options(level).for_tensorflow()
    assert operator.index(asked["host_tracer_level"]) == int(level)
