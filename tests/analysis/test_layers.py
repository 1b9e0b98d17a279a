"""The layers' graph, on real models."""

import pytest

import tfprof_nb as tp

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    import keras
    import numpy as np

    given = keras.Input((8, 8, 3), name="images")
    first = keras.layers.Conv2D(4, 3, padding="same", name="first")(given)
    second = keras.layers.Conv2D(4, 3, padding="same", name="second")(first)
    both = keras.layers.Add(name="both")([first, second])
    mean = keras.layers.GlobalAveragePooling2D(name="mean")(both)
    model = keras.Model(given, keras.layers.Dense(2, name="head")(mean))
    model.compile("adam", "mse")
    x, y = np.zeros((32, 8, 8, 3), "float32"), np.zeros((32, 2), "float32")
    model.fit(x, y, batch_size=4, verbose=0)
    with tp.profile(logdir=tmp_path_factory.mktemp("logs")) as p:
        model.fit(x, y, batch_size=4, verbose=0)
    return p.layers


def test_layers_stand_in_the_order_of_the_data_with_what_they_take(layers):
    table = layers.table
    assert table["layer"].tolist() == ["first", "second", "both", "mean", "head"]
    assert table["inputs"].tolist() == [(), (0,), (0, 1), (2,), (3,)]
    assert table["kind"].tolist() == ["Conv2D", "Conv2D", "Add", "GlobalAveragePooling2D", "Dense"]


def test_outputs_and_parameters_are_those_of_the_model(layers):
    table = layers.table.set_index("layer")
    assert table.loc["second", "output"] == "float32[4,8,8,4]"
    assert table.loc["second", "output_bytes"] == 4 * 8 * 8 * 4 * 4
    assert table["parameters"].tolist() == [3 * 3 * 3 * 4 + 4, 3 * 3 * 4 * 4 + 4, 0, 0, 4 * 2 + 2]


def test_the_parts_of_a_layers_time_add_up(layers):
    table = layers.table
    parts = table[["forward_ms", "backward_ms", "optimizer_ms"]].sum(axis=1)
    assert parts.tolist() == pytest.approx(table["op_ms"].tolist())
    assert table["op_share"].sum() <= 1 + 1e-9
    assert table["op_share"].tolist() == pytest.approx((table["op_ms"] / layers.summary["op_ms"]).tolist())


def test_the_drawing_names_layers_with_time_and_output(layers):
    text = str(layers.view())
    assert "both" in text
    assert "← first, second" in text
    picture = layers.view().to_html()
    assert "5 layers;" in picture


def test_chains_of_cheap_layers_are_one_box(tmp_path):
    import keras
    import numpy as np

    cheap = [keras.layers.Activation("linear", name=f"cheap_{k}") for k in range(40)]
    model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(1024), *cheap, keras.layers.Dense(1024)])
    model.compile("sgd", "mse")
    x, y = np.zeros((64, 256), "float32"), np.zeros((64, 1024), "float32")
    model.fit(x, y, batch_size=32, verbose=0)
    with tp.profile(logdir=tmp_path) as p:
        model.fit(x, y, batch_size=32, verbose=0)
    boxes = p.layers.boxes
    assert len(p.layers.table) >= len(boxes)
    assert boxes["op_ms"].sum() == pytest.approx(p.layers.table["op_ms"].sum())
    assert boxes["inputs"].tolist() == [(k - 1,) if k else () for k in range(len(boxes))]


def test_the_backward_pass_of_a_recurrent_layer_is_its_own(tmp_path):
    import keras
    import numpy as np

    # In smaller layers ops are so short that TensorFlow may record none of them.
    model = keras.Sequential([keras.Input((30, 8)), keras.layers.GRU(256, name="recurrent"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.zeros((64, 30, 8), "float32"), np.zeros((64, 1), "float32")
    model.fit(x, y, batch_size=16, verbose=0)
    with tp.profile(logdir=tmp_path) as p:
        model.fit(x, y, batch_size=16, verbose=0)
    (layer,) = p.layers.table[p.layers.table["layer"].str.contains("recurrent")].to_dict("records")
    # How many of a loop's short ops TensorFlow records varies: all that it did belong to the layer.
    ops = p.source.all_ops
    of_loop = ops[ops["op_name"].str.contains("while_grad/body")]
    assert len(of_loop)
    assert of_loop["layer"].str.contains("recurrent").all()
    assert layer["backward_ms"] > 0
    backward = ops[ops["layer"].str.contains("recurrent") & (ops["phase"] == "backward")]
    assert backward["op_ms"].sum() >= 0.9 * of_loop["op_ms"].sum()


def test_a_profile_without_graphs_says_what_is_missing(tmp_path):
    with tp.profile(logdir=tmp_path) as p:
        pass
    assert p.layers.table.empty
    assert "No layer is known" in str(p.layers.view())


def test_the_lines_know_the_same_layers(tmp_path):
    """TensorFlow's scope of the layer `x` is `x_1`, the name of the next layer, whose own scope is `x_1_2`."""
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Dense(32, name=name, activation="relu") for name in ("x", "x_1")])
    model.compile("adam", "mse")
    x = np.zeros((64, 32), "float32")
    with tp.profile(logdir=tmp_path) as p:
        model.fit(x, x, batch_size=8, verbose=0)
    ops = p.source.all_ops[p.source.all_ops["phase"].isin(["forward", "backward"])]
    known = p.layers.table["layer"].tolist()
    assert len(known) == 2
    times = ops.groupby(["layer", "phase"])["op_ms"].sum()
    assert all(times[name, phase] > 0 for name in known for phase in ("forward", "backward"))


def test_a_recurrent_layer_has_the_gradient_of_its_loop(tmp_path):
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.LSTM(16, name="reads"), keras.layers.Dense(1, name="head")])
    model.compile("adam", "mse")
    with tp.profile(logdir=tmp_path) as p:
        model.fit(np.zeros((64, 20, 8), "float32"), np.zeros((64, 1), "float32"), batch_size=8, verbose=0)
    ops = p.source.all_ops
    of_loop = ops[ops["op_name"].str.contains("while_grad/body")]
    assert len(of_loop)
    assert of_loop["layer"].str.contains("reads").all()
    assert (of_loop["phase"] == "backward").all()


def test_layers_inside_a_layer_of_the_users_have_times_of_their_own(tmp_path):
    import keras
    import numpy as np

    class Block(keras.layers.Layer):
        def __init__(self):
            super().__init__(name="block")
            self.wide, self.narrow = keras.layers.Dense(256, name="wide"), keras.layers.Dense(32, name="narrow")

        def call(self, x):
            return x + self.narrow(self.wide(x))

    given = keras.Input((32,))
    model = keras.Model(given, keras.layers.Dense(1)(Block()(given)))
    model.compile("sgd", "mse")
    x = np.ones((256, 32), "float32")
    with tp.profile(logdir=tmp_path) as p:
        model.fit(x, x[:, :1], batch_size=32, epochs=2, verbose=0)
    table = p.layers.table.set_index("layer")
    for name in ("block/wide", "block/narrow"):
        assert table.loc[name, "forward_ms"] > 0
        assert table.loc[name, "backward_ms"] > 0
