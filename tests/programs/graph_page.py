"""One op in a function, ops without one, and nothing."""

import tensorflow as tf

import tfprof_nb as tp
from programs import program


@program(warm_up=False)
def one_product():
    product = tf.function(lambda x: tf.linalg.matmul(x, x, name="product"))
    return lambda: product(tf.ones((8, 8)))


@program(warm_up=False)
def eager_op():
    return lambda: tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))


@program(warm_up=False)
def eager_steps():
    def loop():
        for step in range(2):
            with tp.step(step):
                tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))

    return loop


@program(warm_up=False)
def nothing():
    return lambda: None
