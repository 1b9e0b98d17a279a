"""Tensors and numbers that a loop keeps in a list."""

import tensorflow as tf

import tfprof_nb as tp
from programs import program

WEIGHTS = tf.Variable(tf.ones((512, 512)))


@tf.function
def activations(x):
    return tf.nn.relu(x @ WEIGHTS)


def run(keep):
    kept = []
    for i in range(20):
        with tp.step(i):
            out = activations(tf.ones((1024, 512)))
            kept.append(out if keep else float(tf.reduce_mean(out)))


@program
def tensors_in_list():
    run(keep=True)


@program
def numbers_in_list():
    run(keep=False)
