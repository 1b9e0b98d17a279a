"""A training function that defines its tf.function anew for each epoch."""

KIND = "a tf.function defined in a function of each epoch"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses, models, optimizers

images = np.random.rand(512, 28, 28, 1).astype("float32")
targets = np.random.randint(0, 10, 512)

def train_one_epoch(model, opt, loss_fn, data):
    @tf.function
    def _step(xb, yb):
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    return sum(float(_step(xb, yb)) for xb, yb in data)

cnn = models.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPool2D(),
                         layers.Conv2D(16, 3, activation="relu"), layers.Flatten(), layers.Dense(10)])
sgd = optimizers.SGD(0.05, momentum=0.9)
ce = losses.SparseCategoricalCrossentropy(from_logits=True)
train_data = tf.data.Dataset.from_tensor_slices((images, targets)).batch(64).cache().prefetch(1)
"""

CELL = """
for epoch in range(8):
    print(epoch, train_one_epoch(cnn, sgd, ce, train_data))
"""

FIXED = """
@tf.function
def step_once(xb, yb, model, opt, loss_fn):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss

for epoch in range(8):
    print(epoch, sum(float(step_once(xb, yb, cnn, sgd, ce)) for xb, yb in train_data))
"""

RULES = ("function-defined-in-loop",)
PLACES = ("def _step", "train_one_epoch(")
