"""A program that trains until it is killed, with a profiler server: run as ``training_worker.py KIND PORT [PORT]``.

It prints "training" once it does. ``keras``: a model's fit, with our server and TensorFlow's own. ``distributed``: a
worker of a MultiWorkerMirroredStrategy (TF_CONFIG says which) with a loop of its own.
"""

import itertools
import os
import sys
import threading
import time

import tensorflow as tf

import tfprof_nb as tp

BATCH, FEATURES = 8, 16


def train_with_fit(port, tensorflows_port):
    import keras

    tp.start_server(port)
    tf.profiler.experimental.server.start(tensorflows_port)
    model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    batch = (tf.ones((BATCH, FEATURES)), tf.ones((BATCH, 1)))
    data = tf.data.Dataset.from_tensors(batch).repeat()
    model.fit(data.take(2), verbose=0)
    say_that_it_trains()
    pause = keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: time.sleep(0.005))
    model.fit(data, steps_per_epoch=1_000_000, verbose=0, callbacks=[pause])


def train_distributed(port):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tp.start_server(port)
    with strategy.scope():
        weights = tf.Variable(tf.zeros((FEATURES, 1)))

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - 1.0) ** 2)
        gradient = tape.gradient(loss, weights)
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, gradient)
        weights.assign_sub(0.01 * total)
        return loss

    @tf.function
    def train_step(x):
        return strategy.run(replica_step, args=(x,))

    x = tf.ones((BATCH, FEATURES))
    for number in itertools.count():
        with tp.step(number):
            train_step(x)
            time.sleep(0.01)
        if number == 3:
            say_that_it_trains()


def say_that_it_trains():
    sys.stdout.write("training\n")
    sys.stdout.flush()


def end_with_the_test():
    """Nobody reads on: the test is over, or was killed."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_the_test, daemon=True).start()
    kind, *ports = sys.argv[1:]
    {"keras": train_with_fit, "distributed": train_distributed}[kind](*map(int, ports))
