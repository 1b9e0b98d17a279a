"""Captures of a given size to measure on: a Keras training, recorded once and kept in build/bench.

A million events take TensorFlow's profiler over a gigabyte to record, so that larger captures repeat one of a million.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

KEPT = Path(__file__).parents[1] / "build" / "bench"
LONGEST = 1.0
"""So many million events are recorded at a time."""

_PROBE_STEPS = 200


def recorded(millions: float) -> Path:
    """Return a capture with about so many million events."""
    kept = KEPT / f"keras-{millions:g}m.xplane.pb"
    if not kept.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        if millions > LONGEST:
            from benchmarks.repeated import repeated

            kept.write_bytes(repeated(recorded(LONGEST).read_bytes(), round(millions / LONGEST)))
            return kept
        # In a process of its own: TensorFlow's memory must not count in what is measured afterwards.
        subprocess.run([sys.executable, "-m", "benchmarks.recorded", str(millions), str(kept)], check=True)
    return kept


def events_in(file: Path) -> int:
    """Count a capture's events."""
    # Imported late: the process that starts the measured ones stays small, so that its size is not taken for theirs.
    from tfprof_nb.decode import load_hosts

    return sum(host.recorded_events for host in load_hosts([file]))


def training() -> Callable[[int], object]:
    """Make a small model and its input pipeline; the result trains so many steps, and marks them."""
    import keras
    import numpy as np
    import tensorflow as tf

    from tfprof_nb import StepMarker

    keras.utils.set_random_seed(0)
    layers = [keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((28, 28, 1)), *layers])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    images = np.random.default_rng(0).integers(0, 255, (1024, 28, 28, 1), dtype=np.uint8)
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(1024) % 10)).repeat().shuffle(256)
    data = data.map(lambda image, label: (tf.cast(image, tf.float32) / 255, label), num_parallel_calls=2)
    data = data.batch(32).prefetch(tf.data.AUTOTUNE)
    marks = [StepMarker()]
    return lambda steps: model.fit(data, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=marks)


def record(train: Callable[[int], object], steps: int, target: Path) -> int:
    """Record a training with TensorFlow's profiler, so with all that it records; return how many events that gave."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as logdir:
        with tf.profiler.experimental.Profile(logdir):
            train(steps)
        shutil.copy(next(Path(logdir).rglob("*.xplane.pb")), target)
    return events_in(target)


def main() -> None:
    """Record as many steps as the wanted number of events takes: a short recording tells events per step."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    millions, target = float(sys.argv[1]), Path(sys.argv[2])
    train = training()
    train(20)
    per_step = record(train, _PROBE_STEPS, target) / _PROBE_STEPS
    events = record(train, round(millions * 1e6 / per_step), target)
    print(f"recorded {target.name}: {events:,} events, {per_step:.0f} a step")


if __name__ == "__main__":
    main()
