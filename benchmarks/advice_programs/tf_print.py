"""tf.print of whole tensors in every step, forgotten in the code."""

KIND = "tensors printed in every step"

SETUP = """
import tensorflow as tf

mnist_x = tf.random.uniform((4000, 784))
mnist_y = tf.random.uniform((4000,), maxval=10, dtype=tf.int32)
mlp = tf.keras.Sequential([tf.keras.Input((784,)), tf.keras.layers.Dense(256, 'relu'), tf.keras.layers.Dense(10)])
opt = tf.keras.optimizers.Adam()
lossfn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train = tf.data.Dataset.from_tensor_slices((mnist_x, mnist_y)).shuffle(4000).batch(100).prefetch(1)
"""

CELL = """
@tf.function
def train_step(x, y):
    with tf.GradientTape() as t:
        logits = mlp(x, training=True)
        tf.print("logits", logits, "x", x, summarize=-1, output_stream="file://debug.log")
        loss = lossfn(y, logits)
    grads = t.gradient(loss, mlp.trainable_variables)
    opt.apply_gradients(zip(grads, mlp.trainable_variables))
    return loss

for epoch in range(2):
    for x, y in train:
        loss = train_step(x, y)
    print(epoch, loss.numpy())
"""

FIXED = "\n".join(line for line in CELL.splitlines() if "tf.print(" not in line)

RULES = ("tf-print",)
PLACES = ("tf.print(",)
