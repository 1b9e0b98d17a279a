"""What is said to a function that is traced in each call, for the ways in which people write one."""

import functools

import pytest
import tensorflow as tf

from tfprof_nb.analysis.advice.rules.tracing._remedies import remedy, shown_name
from tfprof_nb.analysis.functions.retracing import APPLIED_AGAIN
from tfprof_nb.analysis.source.code import Code

PARTIAL = """\
def train(x, lr):
    return lr * x
for i in range(3):
    step = tf.function(functools.partial(train, lr=0.1 / (i + 1)))
    step(x)"""
DECORATED = """\
for epoch in range(3):
    @tf.function
    def train(x):
        return 2 * x
    for x in data:
        train(x)"""
LAMBDA_APPLIED = "for i in range(3):\n    step = tf.function(lambda x: i * x)\n    step(x)"
LAMBDA_PASSED = "@tf.function\ndef train(x, f):\n    return f(x)\nfor i in range(3):\n    train(x, lambda v: v ** 2)"
RETURNED = "def make():\n    @tf.function\n    def train(x):\n        return 2 * x\n    return train"
PER_FOLD = """\
def make(net, lr):
    @tf.function
    def train(x):
        net.trainable_variables[0].assign_sub(lr * net(x))
    return train
for fold in range(3):
    net = build()
    step = make(net, 0.1)"""
DEFINED_INSIDE = """\
def train_epoch(net, data):
    @tf.function
    def train(x):
        return net(x)
    for x in data:
        train(x)
for epoch in range(3):
    train_epoch(net, data)"""
NEW_VALUE = "argument `lr` was a new Python value each time (0.1, 0.05, 0.03, ...)"
OTHER_OBJECT = "argument `f` was a different object each time, by identity"


@pytest.mark.parametrize(
    ("text", "name", "cause", "place", "words"),
    [
        (PARTIAL, "function", NEW_VALUE, "cell line 4", "`fast_train = tf.function(train)`"),
        (DECORATED, "train", APPLIED_AGAIN, "cell line 3", "before line 1, `for epoch in range(3):`"),
        (LAMBDA_APPLIED, "<lambda>", APPLIED_AGAIN, "cell line 2", "each new lambda is a new function"),
        (LAMBDA_PASSED, "train", OTHER_OBJECT, "cell line 5", "takes as `f` once"),
        (DEFINED_INSIDE, "train", APPLIED_AGAIN, "cell line 3", "out of train_epoch, and give it what it takes"),
        (RETURNED, "train", APPLIED_AGAIN, "cell line 3", "Each call of make makes a new tf.function"),
        (PER_FOLD, "train", APPLIED_AGAIN, "cell line 8", "Make net there too, and reset it"),
    ],
)
def test_the_place_and_what_to_do(text, name, cause, place, words):
    told = remedy(Code({"cell": text}), name, cause, "advised")
    assert told.place == place
    assert words in told.fix
    assert told.change == ""  # no single line would do


def test_a_partial_is_called_as_its_function_and_the_code_for_it_traces_once():
    assert shown_name(Code({"cell": PARTIAL}), "function") == "train"
    assert shown_name(Code({"cell": LAMBDA_APPLIED}), "<lambda>") == "The lambda at cell line 2"
    fix = remedy(Code({"cell": PARTIAL}), "function", NEW_VALUE, "").fix
    _, before, _, instead, *_ = fix.split("`")
    lines = PARTIAL.splitlines()
    lines[3] = f"    step = {instead}"
    scope = {"tf": tf, "functools": functools, "x": tf.ones(2)}
    exec("\n".join([*lines[:2], before, *lines[2:]]), scope)
    assert scope["fast_train"].experimental_get_tracing_count() == 1


SCHEDULED = """\
@tf.function
def train(x, step):
    rate = 0.1 * min((step + 1) ** -0.5, (step + 1) * 1e-3)
    return rate * x
for step in range(3):
    print(int(step), train(x, step))"""


def test_what_needs_a_python_number_is_replaced_with_the_tensor_passed():
    cause = "argument `step` was a new Python value each time (0, 1, 2)"
    told = remedy(Code({"cell": SCHEDULED}), "train", cause, "advised")
    assert "`tf.constant(step, tf.float32)`" in told.fix
    assert "In train, write tf.minimum in place of min (cell line 3)" in told.fix
    assert told.change == ""
    followed = SCHEDULED.replace("train(x, step))", "train(x, tf.constant(step, tf.float32)))").replace(
        " min(", " tf.minimum("
    )
    scope = {"tf": tf, "x": tf.ones(2)}
    exec(followed, scope)
    assert scope["train"].experimental_get_tracing_count() == 1


def test_an_integer_is_passed_as_a_float_where_the_function_calculates_with_it():
    cause = "argument `step` was a new Python value each time (0, 1, 2)"
    plain = SCHEDULED.replace("min((step + 1) ** -0.5, (step + 1) * 1e-3)", "step")
    change = remedy(Code({"cell": plain}), "train", cause, "advised").change
    assert change == "print(int(step), train(x, tf.constant(step, tf.float32)))"
    index = plain.replace("rate * x", "rate * x[step]")
    assert "tf.constant(step))" in remedy(Code({"cell": index}), "train", cause, "advised").change
