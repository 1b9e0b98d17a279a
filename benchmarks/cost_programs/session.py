"""A session of TensorFlow 1."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x, y = tf.placeholder(tf.float32, (None, 64)), tf.placeholder(tf.float32, (None, 1))
hidden = tf.nn.relu(tf.matmul(x, tf.Variable(tf.random.normal((64, 256)))))
loss = tf.reduce_mean((tf.matmul(hidden, tf.Variable(tf.random.normal((256, 1)))) - y) ** 2)
train = tf.train.AdamOptimizer().minimize(loss)
rows, targets = np.random.rand(64, 64), np.random.rand(64, 1)


def cell():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3000):
            session.run([train, loss], {x: rows, y: targets})
