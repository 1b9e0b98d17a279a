"""Compare what `tp.benchmark_input` says of changes with pipelines that are really rewritten.

``python -m benchmarks.input_truth`` prints a table, and takes two to three minutes on a machine that does nothing else;
names of faults as arguments measure only these. Each pipeline has one planted fault; its rewritten form is written out
here, and timed with a plain loop before and after.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = float(os.environ.get("SECONDS", "20"))
ROUNDS, ROUND_S = 3, 1.5


class Planted(NamedTuple):
    """A pipeline with a fault: the stage that is to be named, the what-if, and the pipeline rewritten by hand."""

    fault: str
    stage: str
    what_if: str
    made: Callable[[], Any]
    rewritten: Callable[[], Any]
    a_pass: bool = False


def planted(folder: Path) -> Iterator[Planted]:
    """Yield the six pipelines."""
    import numpy as np
    import tensorflow as tf

    data, autotune = tf.data.Dataset, tf.data.AUTOTUNE

    def slow(i: Any) -> Any:
        picture = tf.fill((120, 120), tf.cast(i, tf.float32))
        return tf.reduce_mean(tf.image.resize(picture[..., None], (300, 300), "bicubic"))

    def square(i: Any) -> Any:
        return tf.cast(i, tf.float32) ** 2

    def read(i: Any) -> Any:
        def waits(value: Any) -> Any:
            time.sleep(0.004)
            return value

        return tf.ensure_shape(tf.numpy_function(waits, [i], tf.int64), ())

    def numbers() -> Iterator[Any]:
        for k in range(400):
            time.sleep(0.002)
            yield np.int64(k)

    def generated() -> Any:
        return data.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))

    for k in range(500):
        with tf.io.TFRecordWriter(str(folder / f"{k:03}")) as writer:
            writer.write(b"one record")
    files = data.list_files(str(folder / "*"), shuffle=False).repeat()
    parallel = {"num_parallel_calls": autotune}
    yield Planted(
        "slow map",
        "map(slow)",
        "parallel maps",
        lambda: data.range(100_000).map(slow).batch(8),
        lambda: data.range(100_000).map(slow, **parallel).batch(8),
    )
    yield Planted(
        "many files",
        "interleave(",
        "parallel interleaves",
        lambda: files.interleave(tf.data.TFRecordDataset, cycle_length=1).batch(50),
        lambda: files.interleave(tf.data.TFRecordDataset, cycle_length=1, **parallel).batch(50),
    )
    yield Planted(
        "Python map",
        "map(read)",
        "parallel maps",
        lambda: data.range(100_000).map(read).batch(4),
        lambda: data.range(100_000).map(read, **parallel).batch(4),
    )
    yield Planted(
        "no prefetch, map by element",
        "map(square)",
        "batch before map",
        lambda: data.range(100_000).repeat().map(square).batch(512),
        lambda: data.range(100_000).repeat().batch(512).map(square),
    )
    yield Planted(
        "generator",
        "from_generator(",
        "cached",
        lambda: generated().batch(4),
        lambda: _read_once(generated().batch(4).cache()).repeat(),
    )
    yield Planted(
        "huge shuffle",
        "shuffle(",
        "shuffle before map",
        lambda: data.range(200).map(read).shuffle(10_000).batch(4),
        lambda: data.range(200).shuffle(10_000).map(read).batch(4),
        a_pass=True,
    )


def _read_once(dataset: Any) -> Any:
    for _ in dataset:
        pass
    return dataset


def really_ms(dataset: Any, *, a_pass: bool) -> float:
    """Return the milliseconds per batch, or of a pass, in a plain loop."""
    begin = time.perf_counter()
    if a_pass:
        for _ in dataset:
            pass
        return 1e3 * (time.perf_counter() - begin)
    batches = iter(dataset)
    next(batches)
    while time.perf_counter() - begin < ROUND_S / 5:
        next(batches)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < ROUND_S:
        next(batches)
        count += 1
    return 1e3 * (time.perf_counter() - start) / count


def main() -> None:
    """Measure, and print a table."""
    import tfprof_nb as tp

    warnings.simplefilter("ignore")
    print("| planted | stage that adds most | what-if | measured what-if | really rewritten | ratio |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for one in planted(Path(folder)):
            if sys.argv[1:] and one.fault not in sys.argv[1:]:
                continue
            dataset = one.rewritten()
            rounds = [really_ms(dataset, a_pass=one.a_pass) for _ in range(ROUNDS)]
            measured = tp.benchmark_input(one.made(), seconds=SECONDS)
            rounds += [really_ms(dataset, a_pass=one.a_pass) for _ in range(ROUNDS)]
            row = measured.table.set_index("name").loc[one.what_if]
            said = float(row["pass_ms" if one.a_pass else "batch_ms"])
            really = statistics.median(rounds)  # before and after, as the machine may become busier meanwhile
            named = measured.summary["bottleneck"]
            right = "" if named.startswith(one.stage) else f" (planted: `{one.stage}`)"
            print(
                f"| {one.fault} | `{named}`{right} | {one.what_if}{', a pass' * one.a_pass} | {said:.3g} ms "
                f"| {really:.3g} ms | {said / really:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
