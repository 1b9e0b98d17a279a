"""Ops on all rows of a large table, of which a step looks few up, are told with what makes them: a penalty, or Adam."""

import keras
import numpy as np
import tensorflow as tf

WORDS, LABELS = np.zeros((64, 10), "int32"), np.zeros((64, 1), "float32")


def learn(optimizer, rows=100_000, regularizer=None):
    def program():
        model = keras.Sequential(
            [
                keras.layers.Embedding(rows, 32, embeddings_regularizer=regularizer),
                keras.layers.Flatten(),
                keras.layers.Dense(1),
            ]
        )
        model.compile(optimizer(), "mse")
        model.fit(WORDS, LABELS, batch_size=8, epochs=2, verbose=0)

    return program


def test_an_optimizer_that_updates_all_rows(advised, place_of, the_one):
    table = advised(learn(keras.optimizers.Adam))
    found = the_one(table, "The optimizer updates all 100,000 rows of the Embedding layer ")
    assert found["place"] == place_of(learn, "keras.layers.Embedding")
    assert "SGD without momentum" in found["fix"]
    assert "A step looks up 80 rows" in found["evidence"]
    assert not table["finding"].str.startswith("The layer ").any()


def test_a_penalty_on_all_rows(advised, place_of, the_one):
    found = the_one(advised(learn(keras.optimizers.SGD, regularizer="l2")), "A penalty is computed on all 100,000 rows")
    assert found["place"] == place_of(learn, "keras.layers.Embedding")
    assert "activity_regularizer" in found["fix"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100


def test_an_optimizer_without_moments_and_a_small_table(advised):
    for program in (learn(keras.optimizers.SGD), learn(keras.optimizers.Adam, rows=500)):
        assert not advised(program)["finding"].str.contains("rows of").any()


TABLE = tf.Variable(tf.random.uniform((100_000, 32), seed=1))
PAIRS = tf.random.uniform((2, 64), 0, 100_000, tf.int32, seed=2)


@tf.function
def penalised(pairs):
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(tf.gather(TABLE, pairs[0]) * tf.gather(TABLE, pairs[1]))
        loss = score + 1e-6 * tf.nn.l2_loss(TABLE)
    TABLE.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, TABLE)))


@tf.function
def multiplied(pairs):
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(tf.gather(TABLE, pairs[0]) * tf.gather(TABLE, pairs[1]))
    TABLE.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(score, TABLE)))


def test_a_penalty_in_a_loop_of_the_users(advised, place_of, the_one):
    found = the_one(advised(lambda: [penalised(PAIRS) for _ in range(10)]), "A penalty is computed on all 100,000 rows")
    assert found["place"] == place_of(penalised.python_function, "l2_loss")
    assert "Keras divides" not in found["fix"]


def test_a_product_of_looked_up_rows_is_no_penalty(advised):
    table = advised(lambda: [multiplied(PAIRS) for _ in range(10)])
    assert not table["finding"].str.startswith("A penalty").any()
