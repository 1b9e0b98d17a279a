"""The learning rate of a warm-up goes into a tf.function as a Python number."""

KIND = "retracing by a Python number"

SETUP = """
import tensorflow as tf

tf.random.set_seed(5)
images = tf.random.normal((800, 16, 16, 1))
digits = tf.random.uniform((800,), maxval=10, dtype=tf.int64)

conv_net = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])
conv_net.build((None, 16, 16, 1))
"""

CELL = """
@tf.function
def sgd_step(x, y, lr):
    with tf.GradientTape() as tape:
        logits = conv_net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    for v, g in zip(conv_net.trainable_variables, tape.gradient(loss, conv_net.trainable_variables)):
        v.assign_sub(lr * g)
    return loss

step, base_lr = 0, 0.1
for x, y in tf.data.Dataset.from_tensor_slices((images, digits)).batch(20):
    lr = base_lr * min(1.0, (step + 1) / 100)
    loss = sgd_step(x, y, lr)
    step += 1
"""

FIXED = CELL.replace("sgd_step(x, y, lr)\n    step", "sgd_step(x, y, tf.constant(lr))\n    step")

RULES = ("retracing-by-value",)
PLACES = ("sgd_step",)
