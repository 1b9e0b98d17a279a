"""How much longer a Keras cell takes under tfprof_nb's capture than under TensorFlow's own profiler.

    python benchmarks/capture.py [--pairs 30] [--steps 400]

The same ``fit`` runs in pairs, one after the other in changing order, and each pair gives a ratio; printed are the
median ratio with its 95 % interval (bootstrap), for the training alone and for all of it with saving.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

import tfprof_nb as tp


@dataclass
class Seconds:
    """Time of one run: the training, and all of it with starting, stopping and saving."""

    training: float
    all: float


def cell(steps: int) -> Callable[[], object]:
    """Make the cell that is measured: one epoch of a small model, steps of a few milliseconds."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(width, "relu") for width in (512, 512, 64)]
    model = keras.Sequential([keras.Input((64,)), *layers])
    model.compile("adam", "mse")
    x, y = np.random.default_rng(0).normal(size=(2, steps * 64, 64)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).cache().prefetch(2)
    return lambda: model.fit(data, verbose=0)


def timed(capture: AbstractContextManager[object], body: Callable[[], object]) -> Seconds:
    """Run the cell once under a capture."""
    begin = time.perf_counter()
    with capture:
        training_begin = time.perf_counter()
        body()
        training_end = time.perf_counter()
    return Seconds(training_end - training_begin, time.perf_counter() - begin)


def pair(body: Callable[[], object], logdir: str, *, ours_first: bool) -> tuple[Seconds, Seconds]:
    """Run the cell under both captures; return ours, theirs."""
    kinds = [lambda: tp.profile(logdir=logdir), lambda: tf.profiler.experimental.Profile(logdir)]
    order = [0, 1] if ours_first else [1, 0]
    seconds = {kind: timed(kinds[kind](), body) for kind in order}
    return seconds[0], seconds[1]


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, by bootstrap."""
    samples = np.random.default_rng(0).choice(ratios, (10_000, len(ratios)))
    low, high = np.percentile(np.median(samples, axis=1), [2.5, 97.5])
    return float(low), float(high)


def report(what: str, ours: list[float], theirs: list[float]) -> str:
    """Say in one line how the times compare."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    low, high = interval(ratios)
    return (
        f"{what:<20} ratio {statistics.median(ratios):.4f} (95 % {low:.4f} to {high:.4f}), "
        f"medians {statistics.median(ours):.3f} s and {statistics.median(theirs):.3f} s"
    )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=30)
    options.add_argument("--steps", type=int, default=400)
    args = options.parse_args()
    body = cell(args.steps)
    body()
    with tempfile.TemporaryDirectory() as logdir:
        pair(body, logdir, ours_first=True)
        pairs = [pair(body, logdir, ours_first=bool(number % 2)) for number in range(args.pairs)]
    ours, theirs = zip(*pairs, strict=True)
    print(f"{args.pairs} pairs of {args.steps} steps: tfprof_nb.profile / tf.profiler.experimental.Profile")
    print(report("training", [run.training for run in ours], [run.training for run in theirs]))
    print(report("training and saving", [run.all for run in ours], [run.all for run in theirs]))


if __name__ == "__main__":
    main()
