"""A list keeps the activations of all steps."""

KIND = "memory that grows: a list keeps tensors"

SAVES = "memory"

SETUP = """
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
video = tf.data.Dataset.from_tensor_slices(tf.random.uniform((160, 64, 64, 3))).repeat(4).batch(8).prefetch(1)

class AutoEncoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu")
        self.decode = tf.keras.layers.Conv2D(3, 3, padding="same")

    def call(self, x):
        hidden = self.encode(x)
        return self.decode(hidden), hidden

ae = AutoEncoder()
opt = tf.keras.optimizers.RMSprop(1e-3)

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        out, hidden = ae(x)
        loss = tf.reduce_mean((out - x) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, ae.trainable_variables), ae.trainable_variables))
    return loss, hidden
"""

CELL = """
losses, activations = [], []
for frames in video:
    loss, hidden = train_step(frames)
    losses.append(float(loss))
    activations.append(hidden)

sparsity = [float(tf.reduce_mean(tf.cast(h == 0, tf.float32))) for h in activations]
del activations
"""

FIXED = """
losses, sparsity = [], []
for frames in video:
    loss, hidden = train_step(frames)
    losses.append(float(loss))
    sparsity.append(float(tf.reduce_mean(tf.cast(hidden == 0, tf.float32))))
"""

RULES = ("growing-memory",)
PLACES = ("activations", "hidden", "train_step(frames)")
