"""A TF1 session with small feeds and long runs."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
images = np.random.rand(1600, 784).astype(np.float32)
one_hot = np.eye(10, dtype=np.float32)[np.random.randint(0, 10, 1600)]

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
W1 = tf.Variable(tf.truncated_normal([784, 1600], stddev=0.03))
W2 = tf.Variable(tf.truncated_normal([1600, 1600], stddev=0.03))
W3 = tf.Variable(tf.truncated_normal([1600, 10], stddev=0.03))
logits = tf.nn.relu(tf.nn.relu(X @ W1) @ W2) @ W3
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=Y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.05).minimize(cost)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""

CELL = """
for epoch in range(4):
    for start in range(0, 1600, 320):
        batch = {X: images[start:start + 320], Y: one_hot[start:start + 320]}
        sess.run(train, feed_dict=batch)
"""
