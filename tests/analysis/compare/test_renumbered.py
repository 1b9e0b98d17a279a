"""Names of the ops of a rebuilt model."""

from tfprof_nb.analysis.compare.renumbered import renumbered

# What Keras 3.15 called the ops of two models of the same code, built one after the other.
FIRST = [
    "StatefulPartitionedCall/sequential_1/dense_1/Relu",
    "StatefulPartitionedCall/sequential_1/dense_1_2/Add",
    "StatefulPartitionedCall/gradient_tape/sequential_1/dense_1_2/MatMul/MatMul_1",
    "StatefulPartitionedCall/adam/Mul_3",
]
SECOND = [
    "StatefulPartitionedCall/sequential_1_1/dense_2_1/Relu",
    "StatefulPartitionedCall/sequential_1_1/dense_3_1/Add",
    "StatefulPartitionedCall/gradient_tape/sequential_1_1/dense_3_1/MatMul/MatMul_1",
    "StatefulPartitionedCall/adam_1/Mul_3",
]


def test_a_rebuilt_model_has_the_same_ops():
    assert list(renumbered(FIRST, SECOND).values()) == SECOND
    assert list(renumbered(SECOND, FIRST).values()) == FIRST


def test_names_that_are_the_same_stay():
    names = ["Iterator::Root::Prefetch", "dense/MatMul", "dense_1/MatMul", "MatMul.14"]
    assert list(renumbered(names, reversed(names)).values()) == names


def test_numbers_are_ordered_as_numbers():
    assert renumbered(["d_9/x", "d_10/x"], ["d_11/x", "d_12/x"]) == {"d_9/x": "d_11/x", "d_10/x": "d_12/x"}


def test_names_stay_if_a_layer_was_added():
    """Which of three is new, nothing tells."""
    assert renumbered(["dense", "dense_1"], ["dense_1", "dense_2", "dense_3"]) == {
        "dense": "dense",
        "dense_1": "dense_1",
    }


def test_two_names_never_become_one():
    names = ["a", "a_1", "a/b", "a_1/b_2", "b", "b_7"]
    assert len(set(renumbered(names, ["a_1", "b_7", "b_8", "a_1/b"]).values())) == len(names)
