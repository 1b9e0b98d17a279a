"""Tensors in a list, on a processor for which TensorFlow records no allocations: without oneDNN."""

import tensorflow as tf

import tfprof_nb as tp
from programs import program

ENVIRONMENT = {"TF_ENABLE_ONEDNN_OPTS": "0"}
weights = tf.Variable(tf.ones((1024, 1024)))
first = []  # stays, so that its memory does not serve again


@tf.function
def activations(x):
    return tf.nn.relu(x @ weights)


def run(kept):
    for i in range(60):
        with tp.step(i):
            kept.append(activations(tf.ones((1024, 1024))))


@program(warm_up=False)
def tensors_in_list():
    run(first)
    return lambda: run([])
