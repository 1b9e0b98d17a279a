"""The graph of what TensorFlow's functions ran, on real captures; counts are by hand."""

import numpy as np
import pandas as pd
import pytest

import tfprof_nb as tp
from tfprof_nb.analysis.graph.estimate import estimate
from tfprof_nb.analysis.graph.graph import graph
from tfprof_nb.analysis.graph.model import GraphModel, no_runs

CONTRACT = [
    "name",
    "depth",
    "total_micros",
    "self_micros",
    "total_bytes",
    "self_bytes",
    "total_parameters",
    "self_parameters",
    "total_float_ops",
    "self_float_ops",
    "occurrences",
    "device",
    "input_shapes",
]
PRODUCT = 2 * 64 * 128 * 32  # float ops of a [64, 128] by [128, 32] product


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """Three steps of a function with a variable, a fused product and a branch of no use."""
    import tensorflow as tf

    weights = tf.Variable(tf.ones((128, 32)), name="weights")
    bias = tf.Variable(tf.ones((32,)), name="bias")

    @tf.function
    def layer(x):
        with tf.name_scope("dense"):
            product = tf.linalg.matmul(x, weights, name="product")
            fused = tf.nn.relu(tf.nn.bias_add(product, bias, name="biased"), name="activated")
        return tf.reduce_sum(tf.linalg.matmul(fused, fused, transpose_a=True, name="square"))

    layer(tf.ones((64, 128)))
    with tp.profile(logdir=tmp_path_factory.mktemp("logs")) as p:
        for i in range(3):
            with tp.step(i):
                layer(tf.ones((64, 128)))
    return p


def row(tree, ending):
    """The one row whose name ends so."""
    (found,) = tree.table[tree.table["name"].str.endswith(ending)].itertuples()
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_tables_start_with_the_root_and_have_the_columns(profile, view):
    table = getattr(profile.graph, view)().table
    assert list(table.columns[: len(CONTRACT)]) == CONTRACT
    assert (table["name"][0], table["depth"][0]) == ("_TFProfRoot", 0)
    assert (table["depth"][1:] > 0).all()


@pytest.mark.tensorflow
def test_a_product_has_its_float_ops_and_shapes(profile):
    found = row(profile.graph.scope(), "layer/square")
    assert found.self_float_ops == 2 * 32 * 64 * 32
    assert found.input_shapes == "float32[64,32];float32[64,32]"
    assert (found.occurrences, found.device) == (1, "/device:cpu:0")
    assert found.self_micros > 0


@pytest.mark.tensorflow
def test_a_fused_op_has_the_float_ops_of_all_that_it_holds(profile):
    scope = row(profile.graph.scope(), "layer/dense")
    assert scope.total_float_ops == PRODUCT + 64 * 32  # the product and its bias; none are counted for Relu


@pytest.mark.tensorflow
def test_variables_are_counted_once(profile):
    assert profile.graph.summary["parameters"] == 128 * 32 + 32
    trainable = profile.graph.scope(account_type_regexes=["_trainable_variables"]).table
    assert trainable["total_parameters"][0] == 128 * 32 + 32


@pytest.mark.tensorflow
def test_the_code_that_made_the_ops_has_their_time(profile):
    table = profile.graph.code().table
    inner = table[table["name"].str.startswith("test_graph.py:")]
    assert inner["total_float_ops"].max() == profile.graph.summary["float_ops"]


@pytest.mark.tensorflow
def test_one_step_and_the_average(profile):
    times = [profile.graph.scope(step=step).table["total_micros"][0] for step in range(3)]
    # Of the average, what ran in a single step only is left out.
    assert 0 < profile.graph.scope().table["total_micros"][0] <= 1.001 * np.mean(times)
    with pytest.raises(ValueError, match="step: there is no step 3"):
        profile.graph.scope(step=3)


@pytest.mark.tensorflow
def test_it_is_the_same_loaded(profile):
    pd.testing.assert_frame_equal(tp.load(profile.files[0].parent).graph.table, profile.graph.table)


@pytest.mark.tensorflow
def test_ops_have_float_ops_of_all_runs(profile):
    ops = profile.ops.table.set_index("op_name")
    (square,) = ops[ops.index.str.endswith("square")].itertuples()
    assert square.flops == 3 * 2 * 32 * 64 * 32
    assert square.gflops_per_s == pytest.approx(square.flops / square.self_us / 1e3)
    assert square.bound_by is None
    assert sum(ops["flops"].dropna()) == 3 * profile.graph.summary["float_ops"]
    assert ops["flops"].isna().any()  # unknown, not zero


@pytest.mark.tensorflow
def test_a_profile_without_described_functions_says_so(tmp_path):
    import tensorflow as tf

    product = tf.function(lambda x: tf.linalg.matmul(x, x))
    product(tf.ones((8, 8)))
    with tf.profiler.experimental.Profile(str(tmp_path)):
        product(tf.ones((8, 8)))
    loaded = tp.load(tmp_path)
    assert any(note.startswith("Inputs, shapes and lines of ops are not in this file") for note in loaded.graph.notes)
    assert loaded.graph.table["total_micros"][0] > 0
    assert loaded.ops.table["flops"].isna().all()


@pytest.mark.tensorflow
def test_a_capture_of_nothing_says_so(tmp_path):
    with tp.profile(logdir=tmp_path) as p:
        pass
    assert [len(getattr(p.graph, view)().table) for view in ("scope", "graph", "op", "code")] == [1, 1, 1, 1]
    assert "No op was recorded" in str(p.graph.view())
    device = {"peak_flops_per_s": 1.0, "bandwidth_bytes_per_s": 1.0, "memory_bytes": 1.0}
    assert "nothing to estimate" in p.graph.estimate(device).notes[0]


def chain():
    """A graph by hand: two products of [1000, 1000], the second from the first's result; one thousand in float32."""
    size = 1000 * 1000 * 4
    nodes = pd.DataFrame(
        {
            "name": ["f/weights", "f/first", "f/second", "f/gradients"],
            "op_type": ["ReadVariableOp", "MatMul", "MatMul", "MatMul"],
            "device": "",
            "types": [("ReadVariableOp",), ("MatMul",), ("MatMul",), ("MatMul",)],
            "parameters": [1000 * 1000, 0, 0, 0],
            "holds_variable": [True, False, False, False],
            "variable_shape": "",
            "float_ops": [np.nan, 2e9, 2e9, 4e9],
            "graph_float_ops": [np.nan, 2e9, 2e9, 4e9],
            "input_shapes": "",
            "trace": [()] * 4,
            "input_bytes": [0, 2 * size, 2 * size, 2 * size],
            "output_bytes": size,
            "phase": ["forward", "forward", "forward", "backward"],
            "function": 0,
        }
    )
    return GraphModel(nodes, [[], [0], [1, 0], [1, 2]], no_runs()), size


def test_estimates_are_the_rooflines():
    model, size = chain()
    slow_memory = {"peak_flops_per_s": 1e12, "bandwidth_bytes_per_s": 1e9, "memory_bytes": 3 * size}
    fast_memory = {**slow_memory, "bandwidth_bytes_per_s": 1e12}
    slow, fast = (estimate(model, device).table for device in (slow_memory, fast_memory))
    # Training computes 8 GFLOP, inference 4; each product moves three matrices of 4 MB.
    assert fast["time_bound_us"].tolist() == pytest.approx([8e9 / 1e12 * 1e6, 4e9 / 1e12 * 1e6])
    assert slow["time_bound_us"].tolist() == pytest.approx([9 * size / 1e9 * 1e6, 6 * size / 1e9 * 1e6])
    assert (list(fast["bound_by"]), list(slow["bound_by"])) == (["compute"] * 2, ["memory"] * 2)
    assert fast["parameter_bytes"].tolist() == [size, size]
    # Training holds both products and the gradient beside the weights, inference the two products.
    assert fast["peak_live_bytes"].tolist() == [4 * size, 3 * size]
    assert fast["fits"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ({"peak_flops_per_s": 1.0}, "bandwidth_bytes_per_s must be a number above 0"),
        ({"flops": 1.0}, "there is no 'flops'. Give peak_flops_per_s"),
        ({"peak_flops_per_s": -1.0, "bandwidth_bytes_per_s": 1, "memory_bytes": 1}, "peak_flops_per_s must be"),
    ],
)
def test_a_device_that_is_not_described_is_refused(device, said):
    with pytest.raises(ValueError, match=said):
        estimate(chain()[0], device)


def test_options_that_leave_nothing_say_so():
    assert "Nothing is left" in graph(chain()[0]).scope(start_name_regexes=["nothing"]).notes[0]


def test_large_graphs_build_fast_enough_to_have_no_recursion():
    """A chain of 20,000 nodes is deeper than Python's stack."""
    model, _ = chain()
    count = 20_000
    nodes = pd.concat([model.nodes.iloc[[1]]] * count, ignore_index=True)
    nodes["name"] = [f"f/{k}" for k in range(count)]
    deep = GraphModel(nodes, [[k - 1] if k else [] for k in range(count)], no_runs())
    assert graph(deep).graph(max_depth=count + 2).table["depth"].max() == count
