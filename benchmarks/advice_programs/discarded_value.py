"""Validation that each step computes, and that tf.where throws away in all but a few of them."""

KIND = "a value that tf.where mostly throws away"

SETUP = """
import tensorflow as tf

d_model = 256
W = [tf.Variable(tf.random.normal([d_model, d_model], stddev=0.05)) for _ in range(4)]
head = tf.Variable(tf.random.normal([d_model, 8], stddev=0.05))
val_x, val_y = tf.random.normal([1024, d_model]), tf.random.uniform([1024], 0, 8, tf.int32)
xs, ys = tf.random.normal([150, 64, d_model]), tf.random.uniform([150, 64], 0, 8, tf.int32)
step_no = tf.Variable(0, dtype=tf.int32)

def forward(h):
    for w in W:
        h = tf.nn.gelu(h @ w)
    return h @ head

def validate():
    return tf.reduce_mean(tf.cast(tf.argmax(forward(val_x), -1, tf.int32) == val_y, tf.float32))

def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=forward(x)))
    vs = [*W, head]
    for v, g in zip(vs, tape.gradient(loss, vs)):
        v.assign_sub(0.1 * g)
    step_no.assign_add(1)
    return loss

@tf.function
def train_step(x, y):
    loss = learn(x, y)
    val_acc = tf.where(step_no % 40 == 0, validate(), -1.0)
    return loss, val_acc
"""

CELL = """
best = 0.0
for x, y in zip(xs, ys):
    loss, acc = train_step(x, y)
    best = tf.maximum(best, acc)
print(best.numpy())
"""

FIXED = """
@tf.function
def train_step2(x, y):
    loss = learn(x, y)
    val_acc = tf.cond(step_no % 40 == 0, validate, lambda: -1.0)
    return loss, val_acc

best = 0.0
for x, y in zip(xs, ys):
    loss, acc = train_step2(x, y)
    best = tf.maximum(best, acc)
print(best.numpy())
"""

RULES = ("discarded-branch",)
PLACES = ("val_acc = tf.where", "validate()")
