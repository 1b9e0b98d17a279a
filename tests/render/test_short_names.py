"""Short names: within the limit, never two the same, and what tells most is kept."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render import short_names as module
from tfprof_nb.render.short_names import short_names

PART = st.sampled_from(["StatefulPartitionedCall", "net", "dense", "dense_1", "MatMul", "a" * 30, ""])
NAMES = st.lists(st.lists(PART, min_size=1, max_size=6).map("/".join), max_size=30)


def test_the_examples_in_the_docstring_hold():
    assert doctest.testmod(module).attempted > 0
    assert doctest.testmod(module).failed == 0


@given(NAMES, st.integers(12, 60))
def test_different_names_never_look_the_same_and_all_fit(names, limit):
    short = short_names(names, limit, without_calls)
    assert len(set(short)) == len(set(names))
    assert len({*zip(names, short, strict=True)}) == len(set(names))
    assert all(len(text) <= limit for text in short)


def test_layer_and_op_are_kept_and_the_call_is_left_out():
    call = "StatefulPartitionedCall/"
    names = [f"{call}gradient_tape/functional_1/dense_{k}/Tensordot/MatMul/MatMul" for k in (1, 2)]
    assert short_names([*names, f"{call}adam/Square_33"], 40, without_calls) == [
        "…/dense_1/Tensordot/MatMul/MatMul",
        "…/dense_2/Tensordot/MatMul/MatMul",
        "adam/Square_33",
    ]


def test_the_layer_is_kept_rather_than_the_scope_right_around_the_op():
    names = ["gradient_tape/sequential_1/conv2d_1/convolution/Conv2DBackpropInput"]
    assert short_names(names, 40) == ["…/conv2d_1/…/Conv2DBackpropInput"]


def test_names_that_all_fit_stay_as_they_are():
    names = ["StatefulPartitionedCall/adam/Square_33", "VarHandleOp"]
    assert short_names(names, 40, without_calls) == names


def test_names_that_differ_only_in_the_middle_show_where():
    kernels = [f"void tensorflow::functor::ShuffleInTensor{k}Simple<float, 2, 1, 0, false>(int, float)" for k in "23"]
    short = short_names(kernels, 32)
    assert ["r2Simple" in short[0], "r3Simple" in short[1]] == [True, True]


def test_a_long_name_without_slashes_gets_none():
    kernels = [f"void engine<float, {k}, 128, 5, 5, 3, 3, 3, true>(int, int, int, float const*)" for k in (1, 2)]
    short = short_names([*kernels, "void other<half, 1>(int, int, int, int, int, int)"], 30)
    assert len(set(short)) == 3
    assert all("/" not in name and name.startswith("void ") and len(name) <= 30 for name in short)
