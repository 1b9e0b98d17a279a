"""Histograms of all weights and gradients written for TensorBoard in each step."""

KIND = "summaries written in each step"

SETUP = """
import tensorflow as tf

tf.random.set_seed(1)
x_all = tf.random.normal((1600, 40))
y_all = tf.reduce_sum(x_all[:, :3], axis=1, keepdims=True)
batches = tf.data.Dataset.from_tensor_slices((x_all, y_all)).shuffle(1600).batch(40).prefetch(2)

mlp = tf.keras.Sequential([tf.keras.layers.Dense(n, activation="tanh") for n in (128, 128, 64)])
mlp.add(tf.keras.layers.Dense(1))
mlp.build((None, 40))
optimizer = tf.keras.optimizers.Adam()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(mlp(x) - y))
    grads = tape.gradient(loss, mlp.trainable_variables)
    optimizer.apply_gradients(zip(grads, mlp.trainable_variables))
    return loss, grads
"""

CELL = """
writer = tf.summary.create_file_writer("logs/run1")

def log_everything(step, loss, grads):
    with writer.as_default(step=step):
        tf.summary.scalar("loss", loss)
        for var, grad in zip(mlp.trainable_variables, grads):
            tf.summary.histogram(var.path, var)
            tf.summary.histogram(var.path + "/grad", grad)
    writer.flush()

step = 0
for x, y in batches:
    loss, grads = train_step(x, y)
    log_everything(step, loss, grads)
    step += 1
"""

FIXED = CELL.replace("    log_everything", "    if step % 20 == 0:\n        log_everything")

RULES = ("frequent-writing",)
PLACES = ("log_everything",)
