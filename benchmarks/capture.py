"""How much longer a Keras cell takes under ``%%tfprofile`` than under TensorFlow's own profiler, and than without any.

    python benchmarks/capture.py [--rounds 20] [--steps 300]

One shell runs the same cell, a ``fit`` of one epoch, in three ways: plain, inside ``tf.profiler.experimental.Profile``,
and under ``%%tfprofile --quiet`` with its lines. Each round runs all three, in an order that changes from round to
round, and gives one ratio per comparison; printed are the medians of the ratios with their 95 % intervals (bootstrap).
Times are of the whole cell: starting, training, stopping and saving. The dashboard is measured in ``dashboard.py``.

So that the interval is narrow enough to tell 2 % from 5 %, the process is pinned to one core and TensorFlow to one
thread, steps are long (about 20 ms), and besides the wall time the processor time of the process is compared: on one
core it counts what the saving and sampling threads add too, and not what other programs of the machine take away.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if hasattr(os, "sched_setaffinity"):  # not on macOS
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import keras
import numpy as np
import tensorflow as tf
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

CELL = "history = model.fit(data, verbose=0)"
KINDS = {
    "plain": CELL,
    "TensorFlow": f"with tf.profiler.experimental.Profile(logdir):\n    {CELL}",
    "tfprof_nb": f"%%tfprofile --quiet --out {{logdir}}\n{CELL}",
}
GOAL, LIMIT = 1.02, 1.05


@dataclass
class Seconds:
    """Time of one run of the cell: on the clock, and of the processor."""

    wall: float
    processor: float


def prepared(steps: int) -> dict[str, object]:
    """Make what the cell uses: a small model and data for some steps."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(1024, "relu") for _ in range(4)]
    model = keras.Sequential([keras.Input((256,)), *layers, keras.layers.Dense(256)])
    model.compile("adam", "mse")
    x, y = np.random.default_rng(0).normal(size=(2, steps * 64, 256)).astype("float32")
    return {"tf": tf, "model": model, "data": tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(2)}


def timed(shell: InteractiveShell, cell: str) -> Seconds:
    """Run a cell once."""
    wall, processor = time.perf_counter(), time.process_time()
    shell.run_cell(cell).raise_error()
    return Seconds(time.perf_counter() - wall, time.process_time() - processor)


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, by bootstrap."""
    samples = np.random.default_rng(0).choice(ratios, (10_000, len(ratios)))
    low, high = np.percentile(np.median(samples, axis=1), [2.5, 97.5])
    return float(low), float(high)


def report(what: str, runs: Sequence[float], others: Sequence[float]) -> str:
    """Say in one line how times compare."""
    ratios = [run / other for run, other in zip(runs, others, strict=True)]
    low, high = interval(ratios)
    return (
        f"{what:<40} ratio {statistics.median(ratios):.4f} (95 % {low:.4f} to {high:.4f}), "
        f"medians {statistics.median(runs):.3f} s and {statistics.median(others):.3f} s"
    )


def measure(rounds: int, steps: int) -> dict[str, list[Seconds]]:
    """Run all kinds of cells in turn; return the times of each kind."""
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "tfprof_nb")
    times: dict[str, list[Seconds]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as logdir:
        shell.push(prepared(steps) | {"logdir": logdir})
        for number in range(-2, rounds):  # two rounds to warm up
            kinds = list(KINDS)
            for kind in kinds[number % 3 :] + kinds[: number % 3]:
                seconds = timed(shell, KINDS[kind].format(logdir=logdir))
                if number >= 0:
                    times[kind].append(seconds)
    return times


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--steps", type=int, default=300)
    args = options.parse_args()
    times = measure(args.rounds, args.steps)
    print(
        f"{args.rounds} rounds of {args.steps} steps; goal: {GOAL} over TensorFlow's profiler, below {LIMIT} for sure"
    )
    for other in ("TensorFlow", "plain"):
        for kind in ("wall", "processor"):
            ours, theirs = ([getattr(run, kind) for run in times[name]] for name in ("tfprof_nb", other))
            print(report(f"tfprof_nb / {other}, {kind} time", ours, theirs))


if __name__ == "__main__":
    main()
