"""Faults in cells of a notebook, whose functions stand in another cell: the first finding names each, with its fix."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tensorflow

RUN = """
import json, sys
import keras, numpy as np, tensorflow as tf
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
shell.run_line_magic("load_ext", "tfprof_nb")
shell.push({"tf": tf, "np": np, "keras": keras})
definitions, cell = json.load(sys.stdin)
for text in (definitions, cell, "%%tfprofile found --quiet\\n" + cell):
    shell.run_cell(text, store_history=True).raise_error()
print("ADVICE", shell.user_ns["found"].advice.table.to_json(orient="records"))
"""


@pytest.fixture
def first(tmp_path):
    """Run a cell of definitions, then a cell twice, the second time under %%tfprofile; return the first finding.

    They run in a process of their own, as a notebook does.
    """

    def run(definitions, cell):
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            input=json.dumps([definitions, cell]),
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        told = [line for line in done.stdout.splitlines() if line.startswith("ADVICE ")]
        assert told, done.stdout + done.stderr
        findings = json.loads(told[0].removeprefix("ADVICE "))
        return findings[0] if findings else {"finding": ""}

    return run


READING = """def enlarge(x):
    for _ in range(12):
        x = tf.linalg.matmul(x, x) / 200.0
    return x
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
images = tf.ones((96, 160, 160))"""
READ = """train = (tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
         .cache()
         .shuffle(96)
         .map(lambda x, y: (enlarge(x), y), num_parallel_calls=tf.data.AUTOTUNE)
         .batch(8))
model.fit(train, epochs=3, verbose=0)"""


def test_a_cache_before_the_map_is_moved_behind_it_with_the_shuffle(first):
    found = first(READING, READ)
    assert "runs anew in each of 3 epochs, since the cache stands before it" in found["finding"]
    assert found["place"] == "cell line 2"
    assert [line.strip() for line in found["change"].splitlines()[1:4]] == [
        ".map(lambda x, y: (enlarge(x), y), num_parallel_calls=tf.data.AUTOTUNE)",
        ".cache()",
        ".shuffle(96)",
    ]


TAKEN = """full = tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
full = full.map(lambda x, y: (enlarge(x), y))
part = full.take(64)
model.fit(part.batch(8), epochs=3, verbose=0)"""
IN_ONE_ORDER = """full = tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
full = full.shuffle(96, reshuffle_each_iteration=False)
full = full.map(lambda x, y: (enlarge(x), y))
model.fit(full.batch(8), epochs=3, verbose=0)"""


def test_a_part_of_the_data_is_kept_behind_the_take_where_the_cache_becomes_complete(first):
    found = first(READING, TAKEN)
    assert found["place"] == "cell line 4"
    assert found["change"] == "part = full.take(64).cache()"


def test_elements_that_keep_their_order_are_not_shuffled_behind_the_cache(first):
    assert first(READING, IN_ONE_ORDER)["change"] == "full = full.map(lambda x, y: (enlarge(x), y)).cache()"


ARCHIVE = """np.savez_compressed("part.npz", x=np.random.default_rng(0).normal(size=(64, 2000)).astype("float32"))
class Rows:
    def __call__(self):
        for k in range(48):
            yield self.row(k)
    def row(self, k):
        data = np.load("part.npz")
        return data["x"][k]
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")"""
ROWS = """ds = tf.data.Dataset.from_generator(Rows(), output_signature=tf.TensorSpec((2000,)))
model.fit(ds.map(lambda x: (x, 0.0)).batch(4), epochs=2, verbose=0)"""


def test_an_archive_that_is_read_for_each_row_is_named_where_it_is_read(first):
    found = first(ARCHIVE, ROWS)
    assert found["finding"] == "Steps wait for their data: Rows.row reads an .npz file anew for each element"
    assert found["place"] == "In[1] line 8"
    assert found["fix"].startswith("`data['x']` reads and decompresses the whole array each time.")


UPDATING = """net = keras.Sequential([keras.layers.Dense(64, activation="relu") for _ in range(6)])
net.build((None, 32))
adam = keras.optimizers.Adam()
adam.build(net.trainable_variables)
@tf.function
def gradients(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    return tape.gradient(loss, net.trainable_variables)
x = tf.ones((32, 32))"""
UPDATES = """for _ in range(40):
    found_gradients = gradients(x)
    adam.apply_gradients(zip(found_gradients, net.trainable_variables))"""


def test_an_eager_optimizer_is_named_by_its_line_and_the_number_of_its_ops(first):
    found = first(UPDATING, UPDATES)
    assert found["finding"] == "Ops run one by one: cell line 4"
    assert "ops per step run outside any tf.function" in found["evidence"]


ONE_BY_ONE = """net = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])
net.compile("sgd", "mse")
vectors = keras.layers.TextVectorization(max_tokens=100, output_mode="count")
vectors.adapt(["a b c", "b c d"])
def encode(batch):
    rows = []
    for text in batch:
        rows.append(vectors([text])[0].numpy())
    return np.stack(rows)"""
ENCODED = """for _ in range(10):
    batch = encode(["a b", "c d", "b c", "a d"] * 8)
    net.train_on_batch(batch, np.zeros(32))"""


def test_a_layer_that_is_called_for_each_example_between_the_steps_is_named(first):
    found = first(ONE_BY_ONE, ENCODED)
    assert found["finding"] == "Ops run one by one: In[1] line 8"
    assert "call it once for all that `for text in batch:` (In[1] line 7) goes through" in found["fix"]


VALIDATING = """net = keras.Sequential([keras.layers.Dense(32, activation="relu") for _ in range(4)])
net.build((None, 32))
accuracy = keras.metrics.SparseCategoricalAccuracy()
batches = [(tf.ones((16, 32)), tf.zeros(16))] * 60
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y[:, None]))
    for variable, gradient in zip(net.weights, tape.gradient(loss, net.weights)):
        variable.assign_sub(0.01 * gradient)
    return loss
@tf.function
def validation_step(x, y):
    accuracy.update_state(y, net(x))
def validate():
    for x, y in batches:
        predicted = net(x)
        accuracy.update_state(y, predicted)
    print("validated")"""
VALIDATED = """for epoch in range(4):
    for x, y in batches:
        train_step(x, y)
    {}
    print(float(accuracy.result()))"""
IN_THE_CELL = "for x, y in batches:\n        predicted = net(x)\n        accuracy.update_state(y, predicted)"


@pytest.mark.parametrize(("code", "loop"), [(IN_THE_CELL, "cell line 5"), ("validate()", "In[1] line 16")])
def test_a_validation_whose_ops_run_one_by_one_is_named_by_its_loop(first, code, loop):
    found = first(VALIDATING, VALIDATED.format(code))
    assert found["finding"] == f"Ops run one by one: the loop at {loop}"
    assert found["evidence"].startswith("`predicted = net(x)` (")
    assert "`accuracy.update_state" in found["evidence"]
    assert "into a function with @tf.function, and call that in the loop" in found["fix"]


def test_a_validation_that_is_traced_is_not_told_to_be(first):
    found = first(VALIDATING, VALIDATED.format("for x, y in batches: validation_step(x, y)"))
    assert not found["finding"].startswith("Ops run one by one")


GROWING = "embed = tf.function(lambda x: tf.tanh(x))\nbatch = tf.ones((512, 256))"
GROWN = """rows = tf.zeros((0, 256))
for _ in range(150):
    part = embed(batch)
    rows = tf.concat([rows, part], axis=0)"""


def test_a_tensor_that_grows_is_told_to_be_joined_once(first):
    found = first(GROWING, GROWN)
    assert found["finding"] == "What was collected so far is copied in each step (cell line 5)"
    assert "`rows_parts.append(part)`" in found["fix"]
    assert "`rows = tf.concat(rows_parts, axis=0)`" in found["fix"]


RATES = """net = keras.Sequential([keras.layers.Dense(8, activation="relu") for _ in range(8)])
x, y = np.ones((256, 8)), np.ones((256, 8))"""
COMPILED = """for rate in (0.1, 0.05, 0.02, 0.01):
    net.compile(keras.optimizers.SGD(rate), "mse")
    net.fit(x, y, verbose=0)"""


def test_compile_in_a_loop_is_named(first):
    found = first(RATES, COMPILED)
    assert found["finding"] == "compile in a loop makes Keras trace the model anew (cell line 3)"
    assert "traced 4 times" in found["evidence"]
    assert "learning_rate.assign" in found["fix"]


SCALING = """numbers = np.random.default_rng(0).normal(size=(40_000, 20))
def scaled(values):
    return ((values - values.mean(axis=0)) / values.std(axis=0)).astype("float32")
def batch_of(k):
    return scaled(numbers)[64 * k : 64 * k + 64]
net = keras.Sequential([keras.layers.Dense(1)])
net.compile("sgd", "mse")"""
SCALED = "for k in range(40):\n    net.train_on_batch(batch_of(k), np.zeros(64))"


def test_what_is_computed_of_the_same_values_in_each_step_is_told_to_be_computed_once(first):
    found = first(SCALING, SCALED)
    assert found["finding"].startswith("scaled (In[1] line 3) takes ")
    assert found["fix"].startswith("`scaled(numbers)` gets the same values each time.")


HALF = """keras.mixed_precision.set_global_policy("mixed_float16")
net = keras.Sequential([keras.layers.Input((24, 24, 16)), keras.layers.Conv2D(32, 3), keras.layers.Flatten(),
                        keras.layers.Dense(1, dtype="float32")])
keras.mixed_precision.set_global_policy("float32")
net.compile("sgd", "mse")"""


def test_float16_on_a_cpu_is_named_with_the_line_that_asks_for_it(first):
    found = first(HALF, "net.fit(np.ones((128, 24, 24, 16)), np.zeros(128), batch_size=16, epochs=2, verbose=0)")
    assert found["finding"] == "float16 on a CPU (In[1] line 1)"
    assert found["change"] == 'keras.mixed_precision.set_global_policy("float32")'


LOGGED = """net = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
losses, fit_step = [], keras.Sequential
optimizer = keras.optimizers.SGD()
net.build((None, 8))
optimizer.build(net.trainable_variables)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
x = tf.ones((16, 8))"""


def test_scalars_in_a_list_are_no_memory_that_grows(first):
    """TensorFlow's profiler takes memory for each event: the process grows while it records."""
    found = first(LOGGED, "for _ in range(400):\n    loss = step(x)\n    losses.append(loss)")
    assert not found["finding"].startswith("Memory grows")


GRAPH_WITH_GRADIENT = """weights = tf.Variable(0.1 * tf.eye(220))
optimizer = keras.optimizers.Adam()
@tf.function
def powers(x):
    for _ in range(30):
        x = tf.tanh(x @ weights)
    return x
def train():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(powers(weights) ** 2) + 0.1 * tf.reduce_mean(tf.sin(weights) ** 3.0)
    gradient = tape.gradient(loss, [weights])
    optimizer.apply_gradients(zip(gradient, [weights]))"""


def test_the_gradient_of_a_graph_does_not_run_op_by_op(first):
    found = first(GRAPH_WITH_GRADIENT, "for _ in range(40):\n    train()")
    assert not found["finding"].startswith("Ops run one by one") or found["estimated_gain_percent"] < 50
