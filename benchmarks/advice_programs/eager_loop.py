"""A training loop from a tutorial, without tf.function."""

KIND = "eager loop"

SETUP = """
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(11)
x_train = tf.random.uniform((1280, 28, 28))
y_train = tf.random.uniform((1280,), 0, 10, tf.int32)
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(32).prefetch(2)

inputs = keras.Input(shape=(28, 28))
x = keras.layers.Flatten()(inputs)
for _ in range(4):
    x = keras.layers.Dense(64, activation="relu")(x)
    x = keras.layers.BatchNormalization()(x)
model = keras.Model(inputs, keras.layers.Dense(10)(x))
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc = keras.metrics.SparseCategoricalAccuracy()
"""

CELL = """
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss_value = loss_fn(y, logits)
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    train_acc.update_state(y, logits)
    return loss_value

for step, (x_batch, y_batch) in enumerate(train_dataset):
    loss_value = train_step(x_batch, y_batch)
    if step % 10 == 0:
        print(f"step {step}: loss {float(loss_value):.3f}, accuracy {float(train_acc.result()):.3f}")
"""

FIXED = CELL.replace("def train_step", "@tf.function\ndef train_step")

RULES = ("eager-ops",)
PLACES = ("train_step",)
