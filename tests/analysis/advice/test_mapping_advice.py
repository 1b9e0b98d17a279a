"""A loop of tf.map_fn is told with the line, and with what runs all elements at once."""

import tensorflow as tf

BEGIN = "tf.map_fn runs its function for one element after another"
BOXES = tf.random.uniform((200, 4), seed=1)


@tf.function
def area(box):
    width = tf.maximum(box[2] - box[0], 0.0)
    return tf.sqrt(width * tf.maximum(box[3] - box[1], 0.0) + 1e-6)


def areas(boxes):
    return tf.map_fn(area, boxes, fn_output_signature=tf.float32)


@tf.function
def sizes(boxes):
    return tf.reduce_sum(areas(boxes))


@tf.function
def train(weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_sum(areas(BOXES * weights))
    return tape.gradient(loss, weights)


def test_the_line_and_its_code(advised, place_of, the_one):
    table = advised(lambda: [sizes(BOXES) for _ in range(30)])
    found = the_one(table, f"{BEGIN} ({place_of(areas, 'tf.map_fn')})")
    assert table["finding"].iloc[0] == found["finding"]
    assert not table["finding"].str.startswith("Many small ops").any()
    scope = {"tf": tf, "area": area}
    exec(f"def changed(boxes):\n    {found['change']}", scope)
    tf.debugging.assert_near(scope["changed"](BOXES), areas(BOXES))


def test_its_gradients_belong_to_it(advised, place_of, the_one):
    found = the_one(advised(lambda: [train(tf.ones(4)) for _ in range(10)]), BEGIN)
    assert found["place"] == place_of(areas, "tf.map_fn")
    assert found["gain_high_percent"] > 70


@tf.function
def pooled(rows):
    return tf.map_fn(lambda row: tf.reduce_mean(tf.sqrt(row)), rows, fn_output_signature=tf.float32)


def test_a_ragged_tensor_is_given_as_a_whole(advised, the_one):
    rows = tf.RaggedTensor.from_row_lengths(tf.random.uniform([1200], seed=1), [2, 10] * 100)
    found = the_one(advised(lambda: [pooled(rows) for _ in range(30)]), BEGIN)
    assert found["fix"].startswith("What it goes through is ragged")
    assert not found["change"]
