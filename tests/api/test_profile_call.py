"""What a call costs: by hand, and as TensorFlow.js tells it of the same programs."""

import gc
import subprocess
import sys

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.analysis.profile_call import COLUMNS

N = 512
MATRIX = N * N * 4  # bytes; more than the 256 KiB from which on the CPU's allocator records


def test_one_constant_of_four_numbers():
    call = tp.profile_call(lambda: tf.constant([[[[1.0, 2.0, 3.0, 4.0]]]]))
    assert (call.new_bytes, call.new_tensors, call.peak_bytes) == (16, 1, 16)
    assert call.result.shape == (1, 1, 1, 4)
    assert list(call.table.columns) == COLUMNS
    assert call.table.empty


def test_the_shape_given_apart_is_no_new_tensor():
    call = tp.profile_call(tf.constant, [1.0, 2.0, 3.0, 4.0], shape=(1, 1, 2, 2))
    assert (call.new_bytes, call.new_tensors) == (16, 1)


def test_the_example_in_the_documentation_of_tensorflow_js():
    def squares():
        x = tf.constant([1.0, 2.0, 3.0])
        x2 = tf.square(x)
        del x2
        x2 = tf.square(x)
        del x2
        return x

    call = tp.profile_call(squares)
    assert (call.new_bytes, call.new_tensors, call.peak_bytes) == (12, 1, 24)
    kernels = call.table[["name", "bytes_added", "total_bytes", "input_shapes", "output_shapes"]]
    assert kernels.to_numpy().tolist() == [["Square", 12, 24, [[3]], [[3]]]] * 2
    assert (call.table["time_us"] > 0).all()
    assert call.summary["time_ms"] * 1e3 > call.table["time_us"].sum()


def test_what_is_not_kept_is_not_new():
    call = tp.profile_call(lambda: float(tf.reduce_sum(tf.ones((10, 10)))))
    assert (call.new_bytes, call.new_tensors, call.result) == (0, 0, 100.0)
    assert call.peak_bytes >= 400


def test_a_cycle_of_references_keeps_nothing():
    class Node:
        pass

    def cyclic():
        node = Node()
        node.tensor, node.self = tf.ones(100), node

    gc.disable()
    try:
        assert tp.profile_call(cyclic).new_tensors == 0
    finally:
        gc.enable()


def test_shared_memory_counts_once():
    before = tf.ones((4, 4))
    assert tp.profile_call(tf.reshape, before, (16,)).new_bytes == 0
    both = tp.profile_call(lambda: (x := tf.square(before), tf.reshape(x, (16,))))
    assert (both.new_bytes, both.new_tensors) == (64, 2)


def test_a_variable_is_a_tensor_and_reading_it_costs_nothing():
    made = tp.profile_call(lambda: tf.Variable(tf.ones((4, 4))))
    assert (made.new_bytes, made.new_tensors) == (64, 1)
    read = tp.profile_call(made.result.value)
    assert (read.new_bytes, read.new_tensors) == (0, 1)
    added = read.table[read.table["name"] == "ReadVariableOp"]["bytes_added"]
    assert added.tolist() == [0]


def test_ops_that_read_variables_themselves_cost_nothing_for_it():
    variable = tf.Variable(tf.ones((16, 16)))
    call = tp.profile_call(lambda: variable * variable)
    assert (call.new_bytes, call.peak_bytes) == (1024, 1024)
    assert call.table["total_bytes"].max() == 1024


def test_a_variable_that_is_replaced_adds_what_it_holds_only_while_the_value_lives():
    variable = tf.Variable(tf.ones((16, 16)))
    call = tp.profile_call(lambda: variable.assign(tf.zeros((16, 16))) is None)
    assert (call.new_bytes, call.new_tensors) == (0, 0)
    assert 1024 <= call.peak_bytes < 2048


def test_variables_that_a_function_makes_when_it_is_traced_count():
    class Scale(tf.Module):
        variable = None

        @tf.function
        def __call__(self, x):
            if self.variable is None:
                self.variable = tf.Variable(tf.ones((16, 16)))
            return tf.reduce_sum(x * self.variable)

    scale, x = Scale(), tf.ones((16, 16))
    assert 1024 <= tp.profile_call(scale, x).new_bytes < 2048
    assert tp.profile_call(scale, x).new_bytes == 4


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: tf.constant(["a", "bcd"]), 4),
        (lambda: tf.zeros(3, tf.bfloat16), 6),
        (lambda: tf.zeros((0, 5)), 0),
        (lambda: tf.ragged.constant([[1], [2, 3]]), 3 * 4 + 3 * 8),
        (lambda: tf.sparse.from_dense([[0, 7]]), 2 * 8 + 4 + 2 * 8),
        (lambda: tf.data.Dataset.range(3), 3 * 8),  # keeps its start, stop and step
    ],
)
def test_sizes_of_other_kinds_of_tensors(make, size):
    assert tp.profile_call(make).new_bytes == size


@pytest.fixture(scope="module")
def function_call():
    @tf.function
    def product(a):
        return tf.nn.relu(a @ a)

    x = tf.random.uniform((N, N))
    product(x)
    return tp.profile_call(lambda: tf.square(product(x)))


def test_kernels_inside_functions(function_call):
    table = function_call.table
    assert table["name"].tolist()[0] == "product"
    assert table["name"].tolist()[-1] == "Square"
    inside = table[table["function"] == "product"]
    assert len(inside) >= 1
    product = inside.iloc[0]
    assert "MatMul" in product["name"]
    assert product["time_us"] <= table["time_us"].iloc[0]
    assert product["output_shapes"] == [[N, N]]
    outer = table[table["function"] == ""]
    assert outer["bytes_added"].tolist() == [MATRIX, MATRIX]
    assert outer["total_bytes"].tolist() == [MATRIX, 2 * MATRIX]
    assert (function_call.new_bytes, function_call.new_tensors) == (MATRIX, 1)
    assert any("tf.function" in note for note in function_call.notes)


def test_what_a_function_holds_inside_counts_for_the_peak():
    @tf.function
    def three_at_a_time(a):
        b, c = tf.sin(a), tf.cos(a)
        return tf.reduce_sum(tf.linalg.matmul(b, c))

    x = tf.random.uniform((N, N))
    three_at_a_time(x)
    call = tp.profile_call(three_at_a_time, x)
    if call.table["bytes_added"].dropna().max() < MATRIX:
        pytest.skip("this build of TensorFlow records no allocations of the CPU")
    assert call.peak_bytes >= 3 * MATRIX
    assert call.new_bytes == 4


def test_sizes_that_a_graph_leaves_open_are_told_as_such():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def halved(a):
        return tf.boolean_mask(a, a[:, 0] > 0)

    x = tf.ones((4, 3))
    halved(x)
    call = tp.profile_call(halved, x)
    inside = call.table[call.table["function"] == "halved"]
    assert [None, 3] in [shape for shapes in inside["output_shapes"].dropna() for shape in shapes]
    assert "[?,3]" in str(call)


def test_a_layer_keeps_its_variables():
    import keras

    x = tf.ones((2, 3))
    layer = keras.layers.Dense(5)
    built = tp.profile_call(layer, x)
    variables = (3 * 5 + 5) * 4
    assert built.new_bytes == variables + 2 * 5 * 4
    called = tp.profile_call(layer, x)
    assert (called.new_bytes, called.new_tensors) == (2 * 5 * 4, 1)
    assert {"MatMul", "ReadVariableOp"} <= set(called.table["name"])


def test_ops_that_raise_inside_are_no_kernels_of_others():
    def forgiving():
        try:
            tf.linalg.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
        except tf.errors.InvalidArgumentError:
            return tf.square(tf.ones(2))

    assert tp.profile_call(forgiving).table["name"].tolist()[-1] == "Square"


def test_a_function_may_have_parameters_of_any_name():
    assert tp.profile_call(lambda function: function, function=3).result == 3


def test_work_that_the_call_left_for_later_is_noted():
    def ones():
        yield tf.ones(3)

    assert "whose work comes later" in tp.profile_call(ones).notes[-1]
    assert tp.profile_call(list, ones()).notes == []


def test_an_error_goes_on_and_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError):
        tp.profile_call(lambda: 1 / 0)
    assert tp.profile_call(tf.square, 2.0).new_tensors == 1


def test_it_is_refused_while_a_profile_is_captured(tmp_path):
    with tp.profile(logdir=tmp_path) as p:
        with pytest.raises(tp.CaptureActiveError, match="already running"):
            tp.profile_call(tf.square, 2.0)
        tf.square(2.0)
    assert len(p.events) > 0


def test_it_shows_itself(function_call):
    text = str(function_call)
    assert "new bytes" in text
    assert "1.00 MiB" in text
    assert "product" in text
    assert "ran no kernel" in str(tp.profile_call(lambda: 3))
    function_call.view()._build()
    assert "[512,512]" in function_call.view().to_html()


def test_without_tensorflow_it_says_what_to_install():
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "import tfprof_nb as tp\n"
        "try:\n    tp.profile_call(len, [])\n"
        "except tp.MissingDependencyError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "needs TensorFlow" in done.stdout, done.stderr
