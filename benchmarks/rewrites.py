"""Whether the gain that ``compare`` tells of a rewritten program is the gain by the clock.

``python -m benchmarks.rewrites`` prints a row per rewrite, and takes a minute. Each program runs once to get warm and
is then captured, with a clock around it. The clock leaves out the removal of iterators, as ``compare`` does.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tfprof_nb as tp

EXAMPLES, BATCH = 256, 8
SLOW_S = 0.02


class Rewrite(NamedTuple):
    """A program before and after a change, each already warm."""

    change: str
    before: Callable[[], Any]
    after: Callable[[], Any]


def rewrites() -> Iterator[Rewrite]:
    """Yield the pairs of programs."""
    import keras
    import tensorflow as tf

    random = np.random.default_rng(0)
    data = [random.normal(size=(EXAMPLES, width)).astype("float32") for width in (16, 1)]

    def fit(batch: int = BATCH, **options: Any) -> Callable[..., Any]:
        model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(16), keras.layers.Dense(1)])
        model.compile("sgd", "mse", **options)
        return partial(model.fit, *data, batch_size=batch, verbose=0)

    each_batch = keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: time.sleep(SLOW_S))
    each_epoch = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_, **__: time.sleep(50 * SLOW_S))
    yield Rewrite("larger batch", *(partial(fit(size), callbacks=[each_batch]) for size in (4, 64)))
    yield Rewrite(
        "several steps per execution",
        partial(fit(), callbacks=[each_batch]),
        partial(fit(steps_per_execution=10), callbacks=[each_batch]),
    )
    yield Rewrite("no slow callback at the end of epochs", *(partial(fit(), callbacks=c) for c in ([each_epoch], [])))

    weight = tf.Variable(tf.ones((16, 16)))

    def wait(seconds: float) -> None:
        tf.numpy_function(lambda: time.sleep(seconds), [], [])

    @tf.function
    def forward(x: Any) -> Any:
        wait(2 * SLOW_S)
        return tf.reduce_mean(x @ weight)

    @tf.function
    def update(loss: Any) -> None:
        wait(2 * SLOW_S)
        weight.assign_sub(0.001 * loss * tf.ones_like(weight))

    @tf.function
    def both(x: Any) -> None:
        wait(SLOW_S)
        weight.assign_sub(0.001 * tf.reduce_mean(x @ weight) * tf.ones_like(weight))

    batches = tf.data.Dataset.from_tensor_slices(tf.ones((32 * BATCH, 16))).batch(BATCH)
    yield Rewrite(
        "two functions made one", lambda: [update(forward(x)) for x in batches], lambda: [both(x) for x in batches]
    )

    @tf.function
    def scaled(x: Any, scale: Any) -> Any:
        for _ in range(20):
            x = tf.tanh(x * scale)
        return x

    x, calls = tf.ones((BATCH, 4)), iter(range(10**6))
    yield Rewrite(
        "no retracing",
        lambda: [scaled(x, 0.1 * next(calls)) for _ in range(10)],
        lambda: [scaled(x, tf.constant(0.1 * next(calls))) for _ in range(10)],
    )


def captured(program: Callable[[], Any], folder: str) -> tuple[tp.Profile, float]:
    """Warm a program up and capture it; return the profile and the seconds by the clock."""
    program()
    with tp.profile(logdir=folder) as profile:
        begun = time.perf_counter()
        program()
        seconds = time.perf_counter() - begun
    events = profile.events
    removing = events.loc[events["name"] == "TFE_DeleteTensorHandle", "duration_ps"].sum() / 1e12
    return profile, seconds - removing


def main() -> None:
    """Measure, and print a table."""
    print("| rewrite | told | speedup told | by the clock | told / clock | changes | other programs |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for change, before, after in rewrites():
            (old, old_s), (new, new_s) = captured(before, folder), captured(after, folder)
            found = tp.compare(old, new).summary
            clock = old_s / new_s
            busy = max(found[f"other_load_{side}_percent"] or 0.0 for side in ("before", "after"))
            print(
                f"| {change} | {found['verdict']} | {found['speedup']:.2f} | {clock:.2f} "
                f"| {found['speedup'] / clock:.2f} | {'; '.join(found['changes']) or 'none'} | {busy:.0f}% |",
                flush=True,
            )


if __name__ == "__main__":
    main()
