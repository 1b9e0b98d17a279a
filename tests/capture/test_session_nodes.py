"""The graph that a session runs is described like a function: shapes, lines, variables and gradients."""

import json

import numpy as np
import pytest
import tensorflow as tf

from tfprof_nb.analysis.source.gradients import forward_nodes
from tfprof_nb.analysis.source.owners import PARTS, owners
from tfprof_nb.capture.graphs import graphs
from tfprof_nb.decode.sections.graphs import read_graphs

tf1 = tf.compat.v1


@pytest.fixture(scope="module", params=[False, True], ids=["reference variables", "resource variables"])
def described(request):
    """A session's graph that was run with batches of several sizes, most often of five."""
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, (None, 8), name="x")
        weights = tf1.get_variable("dense/weights", (8, 3), use_resource=request.param)
        product = tf.matmul(x, weights, name="dense/product")
        biases = tf1.get_variable("dense/biases", (3,), use_resource=request.param)
        loss = tf.reduce_mean(tf.square(tf.add(product, biases, name="dense/sum")))
        train = tf1.train.AdamOptimizer().minimize(loss)
        never = tf.sqrt(loss, name="once")
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            with graphs() as gather:
                session.run(never, {x: np.ones((2, 8))})
                for rows in (5, 5, 5, 4):
                    session.run(train, {x: np.ones((rows, 8))})
    return read_graphs(json.loads(json.dumps(gather(), allow_nan=False)))


def row(described, name):
    (found,) = described.nodes[described.nodes["name"] == name].itertuples()
    return found


def test_shapes_and_float_ops_follow_from_what_is_fed_most_often(described):
    product = row(described, "dense/product")
    assert (product.takes, product.outputs) == ("float32[5,8];float32[8,3]", "float32[5,3]")
    assert product.float_ops == 2 * 5 * 8 * 3
    assert described.functions["signature"].iloc[0] == [("x", "tensor", "float32[5,8]")]


def test_only_what_repeated_runs_need_is_described(described):
    names = set(described.nodes["name"])
    assert "once" not in names
    assert not any("Initializer" in name for name in names)


def test_nodes_have_the_programs_lines(described):
    frame = described.traces[row(described, "dense/product").trace][0]
    assert described.frames["text"][frame] == 'product = tf.matmul(x, weights, name="dense/product")'


def test_a_gradient_belongs_to_its_forward_op_and_an_update_to_the_optimizer(described):
    forward, product = forward_nodes(described), row(described, "dense/product")
    (gradient,) = described.nodes[described.nodes["name"].str.endswith("dense/product_grad/MatMul_1")].index
    assert forward[gradient] == product.Index
    layer, part = owners(described)
    assert PARTS[part[gradient]] == "backward"
    updates = described.nodes.index[described.nodes["op"].str.endswith("ApplyAdam")]
    assert [PARTS[one] for one in part[updates]] == ["optimizer"] * 2
    assert {layer[gradient], layer[product.Index], *layer[updates]} == {layer[product.Index]}
    assert described.layers["name"][layer[product.Index]] == "dense"


def test_graphs_with_loops_of_which_inner_tensors_are_fed_are_described_too():
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, (None, None), name="x")
        doubled = tf1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (0, x))[1]
        between = tf.reduce_sum(tf.identity(doubled, name="between"))
        with tf1.Session() as session, graphs() as gather:
            for _ in range(2):
                session.run(between, {x: np.ones((2, 2)), "between:0": np.ones((3, 3))})
    found = read_graphs(gather())
    assert row(found, "x").outputs == "float32[2,2]"
    assert not found.notes


def test_runs_of_many_graphs_keep_only_the_first_alive():
    with graphs() as gather:
        for _ in range(10):
            with tf.Graph().as_default(), tf1.Session() as session:
                one = tf.constant(1.0) + 1.0
                session.run(one)
    functions = read_graphs(gather()).functions  # those of pipelines that other tests made are among them
    assert functions.loc[functions["called"], "name"].tolist() == [
        "session graph",
        "session graph 2",
        "session graph 3",
        "session graph 4",
    ]
