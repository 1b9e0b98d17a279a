"""What a step's numbers are made of: events by hand, and Keras's own counts of parameters."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tfprof_nb as tp
from builders import XSpace, forest
from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.graph.from_events import from_events
from tfprof_nb.analysis.graph.graph import graph
from tfprof_nb.analysis.graph.model import MEASURED, GraphModel
from tfprof_nb.decode.sections.graphs import read_graphs

STEPS = 4


def ran(*ops, functions=(), measured=()):
    """Describe ops given as ``(step, name, duration_us)``, -1 being outside of steps; one after another."""
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for place, (_, name, duration_us) in enumerate(ops):
        line.event(name, start_us=1000 * place, duration_us=duration_us)
    events = forest(space)
    steps = np.array([step for step, _, _ in ops])[(events.host.start_ps // 10**9).astype(int)]
    graphs = [read_graphs(graphs_section(*functions))]
    return graph(from_events([events], graphs, [steps], measured=measured))


def micros(found):
    return found.table.set_index("name")["total_micros"]


def test_setup_in_the_first_step_is_no_time_per_step():
    found = ran(*[(step, "MatMul:MatMul", 10) for step in range(STEPS)], *[(0, "VarHandleOp:VarHandleOp", 300)] * 2)
    assert found.summary["micros"] == 10
    assert "outside functions/VarHandleOp" not in micros(found)[lambda time: time > 0].index
    (said,) = (note for note in found.notes if "not part of an average step" in note)
    assert "VarHandleOp 600" in said
    assert micros(found.scope(step=0))["_TFProfRoot"] == 610  # of the step itself it is


def test_steps_without_an_op_count_as_zero():
    ops = [(step, "Mean:Mean", 8) for step in range(3)]
    found = ran(*ops, *[(step, "MatMul:MatMul", 10) for step in range(STEPS)])
    assert micros(found)["outside functions/Mean"] == 3 * 8 / STEPS


def test_the_average_is_over_the_steps_in_the_averages():
    """Step 0 is warm-up, step 3 an evaluation: 20 us in step 1 and 30 us in step 2 are 25."""
    took = {0: 900, 1: 20, 2: 30, 3: 500}
    found = ran(*[(step, "MatMul:MatMul", duration) for step, duration in took.items()], measured=[1, 2])
    assert found.summary["micros"] == 25
    assert micros(found.scope(step=3))["_TFProfRoot"] == 500
    assert "Averages are over the same 2 of 4 steps as on the page Steps." in found.notes


def test_a_function_that_is_traced_in_each_step_belongs_to_the_average_step():
    """Each traced version has nodes of its own, and each ran once."""
    functions = [Function(f"__inference_train_{step}", [Node(f"{'abcd'[step]}", "MatMul")]) for step in range(STEPS)]
    found = ran(*[(step, f"{'abcd'[step]}:MatMul", 12) for step in range(STEPS)], functions=functions)
    assert found.summary["micros"] == 12


def test_without_steps_numbers_are_of_the_capture():
    found = ran(*[(-1, "MatMul:MatMul", 10)] * 3)
    assert (found.summary["steps"], found.summary["micros"]) == (0, 30)
    assert any("of the whole capture" in note for note in found.notes)


def test_excluded_ops_are_named():
    pipeline = Function("__inference_Dataset_map_load_7", [Node("EagerPyFunc", "EagerPyFunc")], called=False)
    ops = [(-1, "EagerPyFunc:EagerPyFunc", 90), (0, "MatMul:MatMul", 5), (1, "MatMul:MatMul", 5)]
    said = ran(*ops, functions=[pipeline]).notes[0]
    assert said.startswith("90% of the ops' time is outside of steps (most of it in the input pipeline's own ops)")
    assert "Dataset_map_load/EagerPyFunc 90" in said


def test_a_sessions_average_stays_that_of_the_steps_in_which_a_node_ran():
    """It is tfprof's: 10 us in one of two steps are 10."""
    runs = pd.DataFrame({"node": [0, 0, 1], "step": [0, 1, 0], "micros": [4, 4, 10]}).reindex(
        columns=["node", "step", *MEASURED], fill_value=0
    )
    nodes = pd.DataFrame({"parameters": [0, 0], "float_ops": np.nan})
    assert GraphModel(nodes, [[], []], runs).metrics()[:, 1].tolist() == [4, 10]
    every = GraphModel(nodes, [[], []], runs, occasional=np.array([], np.int64), averaged=frozenset({0, 1}))
    assert every.metrics()[:, 1].tolist() == [4, 5]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    import keras

    layers = [keras.Input((4,)), keras.layers.Dense(3), keras.layers.BatchNormalization(), keras.layers.Dropout(0.5)]
    model = keras.Sequential([*layers, keras.layers.Dense(2, trainable=False)])
    model.compile("adam", "mse", metrics=["mae"])
    with tp.profile(logdir=tmp_path_factory.mktemp("logs")) as p:
        model.fit(np.ones((16, 4)), np.ones((16, 2)), batch_size=4, verbose=0)
    return p, model


@pytest.mark.tensorflow
def test_parameters_are_those_of_the_models_summary(fitted):
    profile, model = fitted
    assert profile.graph.summary["parameters"] == model.count_params()
    trainable = profile.graph.scope(account_type_regexes=["_trainable_variables"]).table["total_parameters"][0]
    assert trainable == sum(weight.shape.num_elements() for weight in model.trainable_variables)


@pytest.mark.tensorflow
def test_parameters_of_older_captures_are_those_of_trainable_variables(fitted):
    profile, model = fitted
    (own,) = profile.data.graphs
    older = replace(own, variables=own.variables.assign(model=None))
    found = graph(from_events(profile.data.forests, [older], profile.steps.of_events(profile.data.groupings)))
    assert found.summary["parameters"] == sum(weight.shape.num_elements() for weight in model.trainable_variables)
    assert any("Parameters are those of trainable variables" in note for note in found.notes)


@pytest.mark.tensorflow
def test_parameters_of_a_custom_loop_exclude_the_optimizer_and_counters(tmp_path):
    import keras
    import tensorflow as tf

    weights = [tf.Variable(tf.ones((4, 4)), name="same") for _ in range(2)]
    counter = tf.Variable(0, trainable=False)
    optimizer = keras.optimizers.Adam()
    optimizer.build(weights)

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x @ weights[0] @ weights[1])
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        counter.assign_add(1)

    with tp.profile(logdir=tmp_path) as p:
        train(tf.ones((2, 4)))
    assert p.graph.summary["parameters"] == 2 * 4 * 4
