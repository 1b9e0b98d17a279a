"""Products with one-hot vectors are told with the lookups and sums that compute the same."""

import tensorflow as tf

BEGIN = "One-hot vectors of 1,500 classes are multiplied by a matrix"
NODES = 1500
EDGES = tf.random.uniform((2, 3000), 0, NODES, tf.int32, seed=1)
FEATURES = tf.random.normal((NODES, 16), seed=2)


def pass_on(features):
    senders = tf.one_hot(EDGES[0], NODES)
    receivers = tf.one_hot(EDGES[1], NODES)
    messages = tf.nn.relu(tf.matmul(senders, features))
    return tf.matmul(receivers, messages, transpose_a=True)


def test_computed_rows_are_looked_up_and_added(advised, place_of, the_one):
    step = tf.function(pass_on)
    found = the_one(advised(lambda: [step(FEATURES) for _ in range(20)]), BEGIN)
    assert found["place"] == place_of(pass_on, "messages =")
    assert place_of(pass_on, "return") in found["fix"]
    both = [text for text in found["fix"].split("`") if text.startswith(("messages", "return"))]
    scope = {"tf": tf, "EDGES": EDGES, "NODES": NODES}
    exec("def changed(features):\n    " + "\n    ".join(both), scope)
    tf.debugging.assert_near(scope["changed"](FEATURES), pass_on(FEATURES), atol=1e-3)


WORDS = tf.sparse.from_dense(tf.one_hot(tf.random.uniform((64,), 0, 20_000, tf.int32, seed=3), 20_000))
WEIGHTS = tf.random.normal((20_000, 16), seed=4)


@tf.function
def encode(words):
    counts = tf.sparse.to_dense(words)
    return tf.nn.relu(tf.matmul(counts, WEIGHTS))


def test_a_sparse_matrix_that_is_made_dense(advised, place_of, the_one):
    found = the_one(advised(lambda: [encode(WORDS) for _ in range(20)]), "A sparse matrix of 20,000 columns")
    assert found["place"] == place_of(encode.python_function, "tf.matmul")
    scope = {"tf": tf, "WEIGHTS": WEIGHTS}
    exec(f"def changed(words):\n    {found['change']}", scope)
    tf.debugging.assert_near(scope["changed"](WORDS), encode(WORDS), atol=1e-4)
