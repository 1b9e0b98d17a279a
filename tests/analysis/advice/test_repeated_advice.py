"""What is the same in every step, or in every epoch, is found by what its ops depend on."""

import keras
import numpy as np
import tensorflow as tf

SAME, FEATURES = "The same value is computed in every step", "The frozen model "
POINTS = tf.constant(np.random.default_rng(0).random((500, 500)), tf.float32)


def distances(a, b):
    return tf.matmul(a, b, transpose_b=True)


def loop(step, batches):
    def run():
        for batch in batches:
            step(batch)

    return run


def batches(shape):
    return tf.data.Dataset.from_tensors(tf.ones(shape)).repeat(20)


def test_a_constant_chain_is_told_with_the_lines_to_move(advised, place_of, the_one):
    weights = tf.Variable(tf.ones((500, 1)))

    def step(x):
        kernel = distances(POINTS, POINTS)
        inverse = tf.linalg.inv(kernel + tf.eye(500))
        weights.assign_sub(1e-6 * tf.transpose(distances(x, inverse @ POINTS)) @ x[:, :1])

    found = the_one(advised(loop(tf.function(step), batches((4, 500)))), SAME)
    assert found["severity"] == "high"
    assert place_of(step, "tf.linalg.inv") in found["evidence"]
    assert found["place"] == place_of(step, "def step")
    assert found["change"].splitlines() == [
        "kernel = distances(POINTS, POINTS)",
        "inverse = tf.linalg.inv(kernel + tf.eye(500))",
        "",
        "def step(x):",
        "    weights.assign_sub(1e-6 * tf.transpose(distances(x, inverse @ POINTS)) @ x[:, :1])",
    ]
    assert found["gain_low_percent"] < found["gain_high_percent"]


def test_a_constant_of_a_layer_of_keras(advised, place_of, the_one):
    class Projected(keras.layers.Layer):
        def call(self, x):
            return x @ tf.linalg.inv(POINTS + tf.eye(500))

    model = keras.Sequential([Projected(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones((80, 500), "float32")
    found = the_one(advised(lambda: model.fit(data, data[:, :1], batch_size=8, verbose=0)), SAME)
    assert found["place"] == place_of(Projected, "tf.linalg.inv")


def test_what_depends_on_the_batch_weights_or_chance_is_not_the_same(advised):
    weights = tf.Variable(tf.random.normal((500, 500)))

    @tf.function
    def step(x):
        noise = tf.linalg.inv(tf.random.normal((500, 500)))
        weights.assign_add(1e-6 * tf.linalg.inv(weights + tf.eye(500)) @ noise)
        return tf.linalg.inv(POINTS + x[0])

    assert not advised(loop(step, batches((4, 500))))["finding"].str.startswith(SAME).any()


def backbone(*, trainable):
    image = keras.Input((96, 96, 3))
    x = keras.layers.Conv2D(32, 3, activation="relu")(image)
    x = keras.layers.Conv2D(48, 3, activation="relu")(x)
    model = keras.Model(image, keras.layers.GlobalAveragePooling2D()(x), name="backbone")
    model.trainable = trainable
    return model


def transfer(frozen, augmented=False, epochs=3):
    inputs = keras.Input((96, 96, 3))
    x = keras.layers.RandomFlip()(inputs) if augmented else inputs
    model = keras.Model(inputs, keras.layers.Dense(2)(backbone(trainable=not frozen)(x, training=False)))
    model.compile("adam", "mse")
    images = np.ones((64, 96, 96, 3), "float32")
    return lambda: model.fit(images, np.zeros((64, 2)), batch_size=16, epochs=epochs, verbose=0)


def test_a_frozen_backbone_is_named(advised, place_of, the_one):
    found = the_one(advised(transfer(frozen=True)), FEATURES)
    assert found["finding"] == "The frozen model backbone computes the same features in every epoch"
    assert found["place"] == place_of(backbone, "Conv2D(32")
    assert "predict" in found["fix"]


def test_what_is_trained_augmented_or_read_once_is_computed_in_every_step(advised):
    for program in (transfer(frozen=False), transfer(frozen=True, augmented=True), transfer(frozen=True, epochs=1)):
        assert not advised(program)["finding"].str.contains("same features").any()
