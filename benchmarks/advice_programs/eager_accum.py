"""Gradients of small batches added up op by op, beside a tf.function."""

KIND = "gradients accumulated outside of the tf.function"

SETUP = """
import tensorflow as tf
from tensorflow.keras import layers, models

ACCUM_STEPS = 8
inp = layers.Input(shape=(16,))
h = inp
for _ in range(12):
    h = layers.Dense(48, activation='relu')(h)
    h = layers.LayerNormalization()(h)
model = models.Model(inp, layers.Dense(1)(h))
optimizer = tf.keras.optimizers.SGD(1e-3)
optimizer.build(model.trainable_variables)
train_data = tf.data.Dataset.from_tensor_slices((tf.random.normal((640, 16)), tf.random.normal((640, 1))))
train_data = train_data.shuffle(640).batch(8).prefetch(2)

@tf.function
def compute_grads(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    return loss, tape.gradient(loss, model.trainable_variables)

@tf.function
def apply_grads(grads):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

summed = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

@tf.function
def accumulate(x, y):
    loss, grads = compute_grads(x, y)
    for s, g in zip(summed, grads):
        s.assign_add(g / ACCUM_STEPS)
    return loss
"""

CELL = """
for epoch in range(3):
    accum_grads = [tf.zeros_like(v) for v in model.trainable_variables]
    for step, (x, y) in enumerate(train_data):
        loss, grads = compute_grads(x, y)
        accum_grads = [a + g / ACCUM_STEPS for a, g in zip(accum_grads, grads)]
        if (step + 1) % ACCUM_STEPS == 0:
            apply_grads(accum_grads)
            accum_grads = [tf.zeros_like(v) for v in model.trainable_variables]
"""

FIXED = """
for epoch in range(3):
    for step, (x, y) in enumerate(train_data):
        loss = accumulate(x, y)
        if (step + 1) % ACCUM_STEPS == 0:
            apply_grads([tf.convert_to_tensor(s) for s in summed])
            for s in summed:
                s.assign(tf.zeros_like(s))
"""

RULES = ("eager-ops",)
PLACES = ("accum_grads = [a + g",)
