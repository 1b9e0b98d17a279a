"""What the capture says of the functions that ran: TensorFlow's own graphs and counts by hand are the oracle."""

import functools
import gc
import gzip
import json
import traceback
from types import SimpleNamespace

import pytest
from tensorflow.python.framework import function_def_to_graph

from tfprof_nb.capture.graphs import graphs
from tfprof_nb.capture.graphs import section as graph_section
from tfprof_nb.decode.sections.graphs import read_graphs


@pytest.fixture
def described():
    """Run something and return what is said of it, and the raw section."""

    def describe(run):
        with graphs() as gather:
            run()
        section = json.loads(json.dumps(gather(), allow_nan=False))
        return SimpleNamespace(section=section, graphs=read_graphs(section))

    return describe


def node(described, ending):
    """The one node whose name ends so, with its layer's name."""
    nodes = described.graphs.nodes
    (row,) = nodes[nodes["name"].str.endswith(ending)].itertuples()
    return row


def layer(described, row):
    return described.graphs.layers["name"][row.layer] if row.layer >= 0 else ""


def lines(described, row):
    return [described.graphs.frames["text"][frame] for frame in described.graphs.traces[row.trace]]


def test_float_ops_of_products_and_convolutions_are_those_by_hand(described):
    import tensorflow as tf

    @tf.function
    def run(image, kernel, left, right):
        return tf.nn.conv2d(image, kernel, 1, "VALID", name="convolved"), tf.linalg.matmul(left, right, name="product")

    found = described(lambda: run(tf.ones((2, 8, 8, 3)), tf.ones((3, 3, 3, 4)), tf.ones((5, 6)), tf.ones((6, 7))))
    assert node(found, "product").float_ops == 2 * 5 * 6 * 7
    # 6 x 6 places, each 3 x 3 x 3 products and sums for 4 channels, of 2 images.
    assert node(found, "convolved").float_ops == 2 * 6 * 6 * 3 * 3 * 3 * 4 * 2
    assert node(found, "product").outputs == "float32[5,7]"
    assert node(found, "product").takes == "float32[5,6];float32[6,7]"


def test_what_is_not_known_is_not_zero(described):
    import tensorflow as tf

    found = described(lambda: tf.function(lambda x: tf.cast(tf.linalg.qr(x)[0], tf.float64, name="cast"))(tf.eye(2)))
    assert found.graphs.nodes["float_ops"].isna().all()


def test_a_line_made_its_nodes(described):
    import tensorflow as tf

    def model(x):
        y = tf.linalg.matmul(x, x, name="product")
        return y + 1

    found = described(lambda: tf.function(model)(tf.eye(2)))
    assert lines(found, node(found, "product"))[0] == 'y = tf.linalg.matmul(x, x, name="product")'
    assert found.graphs.frames["users"].all()


def test_functions_traced_before_the_capture_have_lines_too(described):
    import tensorflow as tf

    product = tf.function(lambda x: tf.linalg.matmul(x, x, name="product"))
    product(tf.eye(2))
    found = described(lambda: product(tf.eye(2)))
    assert "tf.linalg.matmul" in lines(found, node(found, "product"))[0]


def test_only_what_ran_is_there(described):
    import tensorflow as tf

    ran, idle = (tf.function(lambda x, name=name: tf.identity(x, name=name)) for name in ("ran", "idle"))
    idle(tf.eye(2))
    found = described(lambda: ran(tf.eye(2)))
    assert "ran" in set(found.graphs.nodes["name"])
    assert "idle" not in set(found.graphs.nodes["name"])


@pytest.fixture(scope="module")
def fitted():
    import keras
    import numpy as np

    with_weights = keras.layers.Dense(3, name="shared")
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, name="deep")], name="inner")
    image = keras.Input((8, 8, 1))
    x = keras.layers.Conv2D(2, 3, name="first")(image)
    x = keras.layers.Dropout(0.5, name="drop_a")(x)
    x = keras.layers.Conv2D(2, 3, name="second")(x)
    x = keras.layers.Dropout(0.5, name="drop_b")(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(3, name="before")(x)
    x = with_weights(with_weights(x))
    model = keras.Model(image, keras.layers.Dense(1, name="last")(inner(x)))
    model.compile("sgd", "mse", metrics=["mae"])
    data = np.ones((8, 8, 8, 1), "float32"), np.ones((8, 1), "float32")
    with graphs() as gather:
        model.fit(*data, batch_size=4, verbose=0)
    section = json.loads(json.dumps(gather()))
    return SimpleNamespace(section=section, graphs=read_graphs(section), model=model)


class TestKeras:
    def of_type(self, fitted, op, phase):
        nodes = fitted.graphs.nodes
        return nodes[(nodes["op"] == op) & (nodes["phase"] == phase)]

    def test_the_batch_is_known_though_the_graph_leaves_it_open(self, fitted):
        assert set(self.of_type(fitted, "Conv2D", "forward")["outputs"]) == {"float32[4,6,6,2]", "float32[4,4,4,2]"}

    def test_layers_are_told_by_their_variables_also_shared_and_nested(self, fitted):
        products = [layer(fitted, row) for row in self.of_type(fitted, "MatMul", "forward").itertuples()]
        assert sorted(products) == ["before", "inner/deep", "last", "shared", "shared"]
        convolutions = self.of_type(fitted, "Conv2D", "forward").itertuples()
        assert {layer(fitted, row): row.outputs for row in convolutions} == {
            "first": "float32[4,6,6,2]",
            "second": "float32[4,4,4,2]",
        }

    def test_layers_without_weights_are_told_by_their_order(self, fitted):
        rows = self.of_type(fitted, "SelectV2", "forward").itertuples()
        dropped = {layer(fitted, row): row.outputs for row in rows if "drop" in row.name}
        assert dropped == {"drop_a": "float32[4,6,6,2]", "drop_b": "float32[4,4,4,2]"}

    def test_gradients_belong_to_the_layer_of_their_forward_node(self, fitted):
        rows = list(self.of_type(fitted, "Conv2DBackpropFilter", "backward").itertuples())
        assert {layer(fitted, row) for row in rows} == {"first", "second"}
        assert {fitted.graphs.nodes["op"][row.forward] for row in rows} == {"Conv2D"}

    def test_each_variable_has_its_parameters(self, fitted):
        known = fitted.graphs.variables.set_index("name")
        for weight in fitted.model.trainable_variables:
            assert known["parameters"][weight.path] == weight.shape.num_elements()
            assert known["trainable"][weight.path]
        assert not known["trainable"][fitted.model.optimizer.learning_rate.path]

    def test_parts_of_a_step_are_told(self, fitted):
        assert {"forward", "loss", "backward", "optimizer", "metrics"} <= set(fitted.graphs.nodes["phase"])
        nodes = fitted.graphs.nodes
        assert set(nodes[nodes["name"].str.startswith("compile_loss/")]["phase"]) == {"loss"}
        assert set(nodes[nodes["op"] == "AssignSubVariableOp"]["phase"]) == {"optimizer"}

    def test_it_is_small(self, fitted):
        assert len(gzip.compress(json.dumps(fitted.section).encode())) < 100_000


def test_the_batch_of_a_pipeline_is_that_of_its_last_batch(described, model, data):
    built = model()
    found = described(lambda: built.fit(data, verbose=0, steps_per_epoch=2))
    products = found.graphs.nodes[(found.graphs.nodes["op"] == "MatMul") & (found.graphs.nodes["phase"] == "forward")]
    assert list(products["takes"]) == ["float32[2,3];float32[3,2]"]


def test_the_batch_of_fewer_examples_than_keras_puts_into_one_is_theirs(described):
    import keras
    import numpy as np

    built = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    found = described(lambda: built.predict(np.ones((5, 3), "float32"), verbose=0))
    products = found.graphs.nodes[found.graphs.nodes["op"] == "MatMul"]
    assert set(products["outputs"]) == {"float32[5,2]"}


def test_several_batches_in_one_execution_are_entered(described, model, data):
    built = model(steps_per_execution=2)
    found = described(lambda: built.fit(data, verbose=0))
    assert not found.section["notes"]
    assert {"MatMul", "AssignSubVariableOp"} <= set(found.graphs.nodes["op"])


def test_a_function_that_cannot_be_described_costs_no_other(described, monkeypatch):
    import tensorflow as tf

    def fails(definition):
        if "fails" in definition.signature.name:
            raise ValueError("unusual")
        return original(definition)

    original = function_def_to_graph.function_def_to_graph_def
    monkeypatch.setattr(function_def_to_graph, "function_def_to_graph_def", fails)
    inner = tf.function(lambda x: tf.add(x, x, name="inner"))

    def fails_to_be_described(x):
        return tf.function(lambda x: inner(x) + 1)(x)

    found = described(lambda: (tf.function(fails_to_be_described)(tf.eye(2)), inner(tf.eye(3))))
    assert "ValueError: unusual" in " ".join(found.graphs.notes)
    assert node(found, "inner").op == "AddV2"


def test_loops_are_entered_and_sizes_that_they_change_stay_open(described):
    import tensorflow as tf

    @tf.function
    def run(kept, grown):
        def body(i, kept, grown):
            return i + 1, tf.linalg.matmul(kept, kept, name="kept"), tf.concat([grown, grown], 0, name="grown")

        shapes = [tf.TensorShape([]), kept.shape, tf.TensorShape([None])]
        return tf.while_loop(lambda i, *_: i < 3, body, [0, kept, grown], shape_invariants=shapes)

    found = described(lambda: run(tf.eye(4), tf.ones(2)))
    assert node(found, "kept").float_ops == 2 * 4**3
    assert node(found, "grown").outputs == "float32[?]"
    assert set(found.graphs.calls["role"]) == {"body", "cond"}


def test_functions_of_pipelines_are_there(described):
    import tensorflow as tf

    dataset = tf.data.Dataset.range(3).map(lambda x: tf.add(x, x, name="doubled"))
    found = described(lambda: list(dataset))
    row = node(found, "doubled")
    assert found.graphs.functions["name"][row.function].startswith("__inference_Dataset_map_")
    assert not found.graphs.functions["called"][row.function]


def test_functions_of_a_pipeline_that_is_gone_are_there(described):
    import tensorflow as tf

    numbers = tf.data.Dataset.range(3)
    found = described(lambda: [x for x in numbers.map(lambda x: tf.add(x, x, name="briefly"))])  # noqa: C416
    assert node(found, "briefly").op == "AddV2"


class TestNextCapture:
    """What the capture before found out is taken, where it still holds."""

    def test_it_says_the_same(self, described, model, data):
        built = model()
        first, second = (described(lambda: built.fit(data, verbose=0)) for _ in range(2))
        assert second.section == first.section

    def test_other_shapes_are_told_anew(self, described):
        import tensorflow as tf

        product = tf.function(lambda x: tf.linalg.matmul(x, x, name="product"), reduce_retracing=True)
        product.get_concrete_function(tf.TensorSpec([None, None]))
        found = [described(lambda size=size: product(tf.eye(size))) for size in (2, 3, 2)]
        assert [node(one, "product").float_ops for one in found] == [2 * 2**3, 2 * 3**3, 2 * 2**3]

    def test_functions_that_are_gone_are_forgotten(self, described):
        import tensorflow as tf

        functions = [tf.function(lambda x: x + 1)]
        name = described(lambda: functions[0](tf.eye(2))).section["functions"][0]["name"]
        assert name in graph_section._kept
        functions.clear()
        gc.collect()
        described(lambda: None)
        assert name not in graph_section._kept


def test_nothing_stays_and_tracebacks_show_nothing_of_it():
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction

    @tf.function
    def fails(x):
        tf.debugging.assert_less(x, 0.0)

    before = AtomicFunction.__dict__["name"]
    with graphs(), pytest.raises(tf.errors.InvalidArgumentError) as error:
        fails(tf.constant(1.0))
    assert AtomicFunction.__dict__["name"] is before
    assert "capture/graphs" not in "".join(traceback.format_exception(error.value))


def test_tensors_live_no_longer_for_it():
    import weakref

    import tensorflow as tf

    tensor = tf.ones((3,))
    seen = weakref.ref(tensor)
    with graphs():
        tf.function(lambda x: x + 1)(tensor)
        del tensor
        gc.collect()
        assert seen() is None


class TestLinesOfLayers:
    def lines_of(self, described, run):
        found = described(run)
        frames, layers = found.graphs.frames, found.graphs.layers
        return {
            name: frames["text"][frame] if frame >= 0 else "" for name, frame in layers[["name", "frame"]].to_numpy()
        }

    def test_a_layer_is_told_by_its_name_or_its_arguments(self, described):
        import keras
        import numpy as np

        model = keras.Sequential(
            [
                keras.layers.Dense(7, name="hidden_in_lines"),
                keras.layers.Dense(11),
                keras.layers.Dense(units=13, activation="tanh"),
            ]
        )
        model.compile("sgd", "mse")
        lines = self.lines_of(described, lambda: model.fit(np.ones((4, 3)), np.ones((4, 13)), verbose=0))
        assert [line.strip(" ,") for line in lines.values()] == [
            'keras.layers.Dense(7, name="hidden_in_lines")',
            "keras.layers.Dense(11)",
            'keras.layers.Dense(units=13, activation="tanh")',
        ]

    def test_a_line_in_a_loop_makes_several_layers(self, described):
        import keras
        import numpy as np

        model = keras.Sequential([keras.layers.Dense(17) for _ in range(3)])
        model.compile("sgd", "mse")
        lines = self.lines_of(described, lambda: model.fit(np.ones((4, 3)), np.ones((4, 17)), verbose=0))
        assert set(lines.values()) == {"model = keras.Sequential([keras.layers.Dense(17) for _ in range(3)])"}

    def test_layers_without_weights_of_two_models_have_their_own_lines_in_every_call(self, described):
        import keras
        import tensorflow as tf

        judge = keras.Sequential([keras.Input((5,)), keras.layers.LeakyReLU(), keras.layers.Dense(5)], name="judge")
        judge.add(keras.layers.LeakyReLU())
        maker = keras.Sequential([keras.Input((5,)), keras.layers.Dense(5)], name="maker")
        maker.add(keras.layers.LeakyReLU())  # made last, runs first

        @tf.function
        def step(x):
            return judge(maker(x)) + judge(x)

        found = described(lambda: step(tf.ones((2, 5))))
        frames, layers = found.graphs.frames["text"], found.graphs.layers
        rows = found.graphs.nodes[found.graphs.nodes["op"] == "LeakyRelu"]
        lines = [str(frames[layers["frame"][number]]).partition("(")[0] for number in rows["layer"]]
        assert lines == ["maker.add", "judge = keras.Sequential", "judge.add", "judge = keras.Sequential", "judge.add"]

    def test_in_doubt_there_is_no_line(self, described):
        import keras
        import numpy as np

        def one():
            return keras.layers.Dense(19)

        def other():
            return keras.layers.Dense(19)

        model = keras.Sequential([(one if np.ones(1) else other)()])
        model.compile("sgd", "mse")
        lines = self.lines_of(described, lambda: model.fit(np.ones((4, 3)), np.ones((4, 19)), verbose=0))
        assert set(lines.values()) == {""}


def test_arguments_that_the_caller_gives_are_told_from_what_the_function_holds(described):
    import tensorflow as tf

    held, weights = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function
    def run(given):
        return tf.add(given, held, name="both_arguments") * weights

    found = described(lambda: run(tf.ones(2)))
    both = node(found, "both_arguments")
    assert found.graphs.functions["given"][both.function] == 1
    taken = found.graphs.arguments[found.graphs.arguments["node"] == both.Index]
    assert taken[["place", "argument"]].to_numpy().tolist() == [[0, 0], [1, 1]]


def test_what_a_layer_of_keras_makes_is_told_from_what_the_user_makes(described):
    import keras
    import numpy as np
    import tensorflow as tf

    class Own(keras.layers.Layer):
        def call(self, x):
            return tf.sin(x, name="mine")

    model = keras.Sequential([Own(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = described(lambda: model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0))
    nodes = found.graphs.nodes
    assert not nodes.loc[nodes["op"] == "Sin", "by_keras"].any()
    assert nodes.loc[(nodes["op"] == "MatMul") & (nodes["phase"] == "forward"), "by_keras"].all()


def test_a_variable_has_the_layer_that_owns_it_also_in_a_loop_of_the_users(described):
    import keras
    import tensorflow as tf

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = keras.layers.Dense(7, name="first_own")
            self.second = keras.layers.Dense(1, name="second_own")

        def call(self, x):
            return self.second(self.first(x))

    net = Net()
    run = tf.function(net.call)
    found = described(lambda: run(tf.ones((2, 3))))
    variables, names = found.graphs.variables, found.graphs.layers["name"].str.rpartition("/")[2]
    owners = {int(row.parameters): names[row.layer] for row in variables.itertuples()}
    assert owners[3 * 7] == "first_own"
    assert owners[1] == "second_own"


def test_models_are_found_where_people_keep_them(described):
    import keras
    import tensorflow as tf

    class Trainer:
        def __init__(self, name):
            self.nets = [keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name=name)])]

        @tf.function
        def step(self, x):
            return self.nets[0](x)

    apart = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="in_partial")])

    def forward(x):
        return apart(x)

    def scaled(x, by):
        return by * forward(x)

    trainer, partial = Trainer("in_object"), tf.function(functools.partial(scaled, by=2.0))
    found = described(lambda: (trainer.step(tf.ones((1, 3))), partial(tf.ones((1, 3)))))
    layers = found.graphs.layers
    assert dict(zip(layers["name"].str.rpartition("/")[2], layers["type"], strict=True)) == {
        "in_object": "Dense",
        "in_partial": "Dense",
    }
