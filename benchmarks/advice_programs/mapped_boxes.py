"""An overlap of boxes that tf.map_fn computes for one pair after another."""

KIND = "tf.map_fn over elements"

SETUP = """
import tensorflow as tf

truth = tf.random.uniform([300, 4])
guesses = tf.random.uniform([30, 300, 4])
w = tf.Variable(tf.eye(4))

def iou(pair):
    a, b = pair
    wh = tf.maximum(tf.minimum(a[2:], b[2:]) - tf.maximum(a[:2], b[:2]), 0.0)
    inter = wh[0] * wh[1]
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / (tf.abs(union) + 1e-3)

@tf.function
def train(boxes):
    with tf.GradientTape() as tape:
        overlap = tf.map_fn(iou, (boxes @ w, truth), fn_output_signature=tf.float32)
        loss = 1.0 - tf.reduce_mean(overlap)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss
"""

CELL = """
for boxes in guesses:
    loss = train(boxes)
print(loss.numpy())
"""

FIXED = """
@tf.function
def fast_train(boxes):
    with tf.GradientTape() as tape:
        overlap = tf.vectorized_map(iou, (boxes @ w, truth))
        loss = 1.0 - tf.reduce_mean(overlap)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

for boxes in guesses:
    loss = fast_train(boxes)
print(loss.numpy())
"""

RULES = ("map-fn",)
PLACES = ("overlap = tf.map_fn",)
