"""A TF1 session gets the whole embedding table fed in each run."""

KIND = "TF1: a large constant in feed_dict"

SETUP = """
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
table = np.random.randn(60000, 64)
doc_ids = np.random.randint(0, 60000, (3200, 20))
doc_labels = np.random.randint(0, 2, (3200, 1)).astype(np.float32)

ids = tf.placeholder(tf.int32, [None, 20], name="ids")
labels = tf.placeholder(tf.float32, [None, 1], name="labels")
vectors = tf.placeholder(tf.float32, [60000, 64], name="vectors")
fixed_vectors = tf.get_variable("fixed_vectors", initializer=tf.zeros((60000, 64)), trainable=False)
load_vectors = fixed_vectors.assign(vectors)

def loss_of(embeddings):
    mean = tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        w1 = tf.get_variable("w1", (64, 128))
        w2 = tf.get_variable("w2", (128, 1))
    logits = tf.matmul(tf.nn.relu(tf.matmul(mean, w1)), w2)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))

loss = loss_of(vectors)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
loss_fixed = loss_of(fixed_vectors)
train_fixed = tf.train.GradientDescentOptimizer(0.1).minimize(loss_fixed)
"""

CELL = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(doc_ids), 32):
        feed = {ids: doc_ids[i:i + 32], labels: doc_labels[i:i + 32], vectors: table}
        _, value = sess.run([train_op, loss], feed_dict=feed)
    print("loss", value)
"""

FIXED = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(load_vectors.op, feed_dict={vectors: table})
    for i in range(0, len(doc_ids), 32):
        feed = {ids: doc_ids[i:i + 32], labels: doc_labels[i:i + 32]}
        _, value = sess.run([train_fixed, loss_fixed], feed_dict=feed)
    print("loss", value)
"""

RULES = ("large-feeds",)
PLACES = ("feed_dict", "vectors: table", "vectors")
