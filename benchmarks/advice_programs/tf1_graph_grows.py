"""TensorFlow 1: the loop makes the op for the accuracy again in each of its passes."""

KIND = "TF1: ops added to the graph in the loop"

SETUP = """
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x_data = np.random.rand(2000, 20).astype(np.float32)
y_data = (x_data.sum(1, keepdims=True) > 10).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 20])
y_ = tf.placeholder(tf.float32, [None, 1])
W1 = tf.Variable(tf.random.normal([20, 64], stddev=0.1))
W2 = tf.Variable(tf.random.normal([64, 1], stddev=0.1))
logits = tf.matmul(tf.nn.relu(tf.matmul(x, W1)), W2)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y_, logits=logits))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
right = tf.equal(logits > 0, y_ > 0.5)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""

CELL = """
for i in range(60):
    idx = np.random.randint(0, 2000, 64)
    feed = {x: x_data[idx], y_: y_data[idx]}
    sess.run(train_op, feed_dict=feed)
    acc = sess.run(tf.reduce_mean(tf.cast(right, tf.float32)), feed_dict=feed)
print(acc)
"""

FIXED = """
accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
for i in range(60):
    idx = np.random.randint(0, 2000, 64)
    feed = {x: x_data[idx], y_: y_data[idx]}
    sess.run(train_op, feed_dict=feed)
    acc = sess.run(accuracy, feed_dict=feed)
print(acc)
"""

RULES = ("growing-graph",)
PLACES = ("acc = sess.run",)
