"""The Mann-Whitney U test against published results: of R's documentation, and of the tables of critical values."""

import numpy as np
import pytest

from tfprof_nb.analysis.compare.between_runs import p_value

# R's airquality: ozone in May and in August, which has ties. `wilcox.test` prints W = 127.5, p-value = 0.0001208.
MAY = [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37]
AUGUST = [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85]
# Permeability of the chorioamnion (Hollander & Wolfe, in R's help): W = 35, one-sided p-value = 0.1272.
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]


def test_ties_as_in_r():
    assert p_value(np.array(MAY, float), np.array(AUGUST, float)) == pytest.approx(0.0001208, rel=5e-4)


def test_exact_as_in_r():
    assert p_value(np.array(AT_TERM), np.array(EARLY)) == pytest.approx(2 * 0.1272, abs=1e-4)


@pytest.mark.parametrize(("size", "critical"), [(5, 2), (6, 5), (7, 8), (8, 13), (10, 23)])
def test_critical_values_of_the_tables(size, critical):
    """The largest U that is significant at 5%, two-sided, for two groups of one size."""

    def of_u(u):
        """The first group first, but for its last value, and more of them, that u of the second group precede."""
        return p_value(*groups_with_u(size, u))

    assert of_u(critical) < 0.05 <= of_u(critical + 1)


def groups_with_u(size, u):
    """Two groups of which the first precedes the second but for u pairs."""
    second = np.arange(1, size + 1) * 100.0
    passed = [size] * (u // size) + [u % size] + [0] * size  # how many of the second each of the first exceeds
    return np.array([100.0 * count + 50 + k for k, count in enumerate(passed[:size])]), second


def test_either_order_gives_the_same():
    one, other = np.array([1.0, 2, 3, 4, 9]), np.array([5.0, 6, 7, 8, 10, 11])
    assert p_value(one, other) == p_value(other, one) == p_value(-one, -other)


def test_few_values_have_no_p_value():
    assert np.isnan(p_value(np.arange(4.0), np.arange(100.0) + 50))


def test_equal_values_are_no_difference():
    assert p_value(np.full(6, 3.0), np.full(9, 3.0)) == 1


def test_many_values():
    """Far apart: the exact probability is 2 / comb(60, 30), too small for the approximation to be near."""
    assert p_value(np.arange(30.0), np.arange(30.0) + 100) < 1e-9
    assert 0 < p_value(np.arange(9000.0), np.arange(9000.0) + 9000) < 1e-99
