"""Checks of each op's result, left on: they change all that TensorFlow runs later in the process."""

import tensorflow as tf

from programs import program


@program
def left_on():
    tf.debugging.enable_check_numerics()
    rows = tf.random.normal((256, 256), seed=1)
    checked = tf.function(lambda x: [x := x * 2.0 - tf.sin(x) for _ in range(20)][-1])
    return lambda: [checked(rows) for _ in range(20)]
