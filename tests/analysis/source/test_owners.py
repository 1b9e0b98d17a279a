"""Which layer each node of a graph belongs to."""

import numpy as np
import tensorflow as tf

from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.capture.graphs import graphs as captured_graphs
from tfprof_nb.decode.sections.graphs import read_graphs

tf1 = tf.compat.v1


def test_owners_are_found_once_for_all_results_of_a_host():
    section = graphs_section(Function("f", [Node("MatMul", "MatMul")]))
    graphs, others = read_graphs(section), read_graphs(section)
    assert graphs.once(owners) is graphs.once(owners)
    assert others.once(owners) is not graphs.once(owners)


def test_a_bias_belongs_to_the_weights_that_it_is_added_to():
    """Their names need not tell: a program's own variables are called "Variable" and "Variable_1"."""
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, (None, 8))
        weights, biases = tf.Variable(tf.ones((8, 3))), tf.Variable(tf.ones(3))
        kept = tf.add(tf.matmul(x, weights, name="product"), biases, name="sum")
        alone = tf.add(x[:, :3], biases, name="alone")
        with tf1.Session() as session, captured_graphs() as gather:
            session.run(weights.initializer)
            session.run(biases.initializer)
            for _ in range(2):
                session.run([kept, alone], {x: np.ones((5, 8))})
    graphs = read_graphs(gather())
    layer = dict(zip(graphs.nodes["name"], graphs.once(owners)[0] - len(graphs.layers), strict=True))
    names = graphs.variables["name"]
    assert names[layer["sum"]] == names[layer["product"]] == "Variable"
    assert names[layer["alone"]] == "Variable_1"
