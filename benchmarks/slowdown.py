"""Whether ``compare`` finds a small slowdown, and none where there is none.

    python -m benchmarks.slowdown [--planted 10] [--identical 20]

Planted: pairs of programs of which one computes a tenth more, each captured five times, in turn, for a second or two;
``experiment`` runs the same pairs without a profiler. Identical: pairs of processes that run one program and capture it
once each. Prints a row per pair, and two counts. It takes six minutes on two quiet cores; the last column
says what other programs took of the processors, and from about 20% on the counts are not worth much.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tfprof_nb as tp

ROOT = Path(__file__).parents[1]
REPEATS, STEPS, MATMULS, MORE = 5, 150, 20, 22
_SIZE = 256
_HEAD = ["pair", "by", "told", "speedup", "95% interval", "other programs"]


def program(matmuls: int) -> Callable[[], None]:
    """Return a loop of steps that multiply so many matrices."""
    import tensorflow as tf

    @tf.function
    def multiply(x: Any) -> Any:
        for _ in range(matmuls):
            x = tf.tanh(x @ x)
        return x

    x = tf.random.stateless_normal((_SIZE, _SIZE), (1, 2))

    def steps() -> None:
        for number in range(STEPS):
            with tp.step(number):
                multiply(x).numpy()

    steps()  # which traces it
    return steps


def capture(name: str, run: Callable[[], None], folder: str) -> tp.Profile:
    """Profile a program once."""
    with tp.profile(name, logdir=folder) as profile:
        run()
    return profile


def planted(pair: int) -> Iterator[list[str]]:
    """Compare a program with one that computes a tenth more, by captures and by the clock."""
    programs = {"before": program(MATMULS), "after": program(MORE)}
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[tp.Profile]] = {name: [] for name in programs}
        for number in range(REPEATS):
            order = list(programs)[:: -1 if number % 2 else 1]
            for name in order:
                runs[name].append(capture(name, programs[name], folder))
        yield row(f"planted {pair + 1}", "captures", tp.compare(runs["before"], runs["after"]).summary)
    yield row(f"planted {pair + 1}", "experiment", tp.experiment(programs, rounds=REPEATS).summary)


def identical(pair: int) -> Iterator[list[str]]:
    """Compare captures of one program by two processes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("before", "after")]
        for path in paths:
            command = [sys.executable, "-m", "benchmarks.slowdown", "--capture", str(path)]
            subprocess.run(command, cwd=ROOT, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}, check=True)
        yield row(f"identical {pair + 1}", "one capture each", tp.compare(*paths).summary)


def row(pair: str, by: str, found: dict[str, Any]) -> list[str]:
    """Return the row of a comparison."""
    interval = " to ".join(f"{found[f'speedup_{end}']:.3f}" for end in ("low", "high"))
    loads = (found[f"other_load_{side}_percent"] for side in ("before", "after"))
    return [
        pair,
        by,
        found["verdict"],
        f"{found['speedup']:.3f}x",
        "-" if "nan" in interval else interval,
        ", ".join(f"{percent:.0f}%" for percent in loads if percent is not None),
    ]


def main() -> None:
    """Run all pairs, print their rows as they come, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", type=int, default=10, help="pairs with a slowdown (default 10)")
    parser.add_argument("--identical", type=int, default=20, help="pairs without one (default 20)")
    parser.add_argument("--capture", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.capture:
        capture("run", program(MATMULS), options.capture)
        return
    for cells in (_HEAD, ["---"] * len(_HEAD)):
        print(f"| {' | '.join(cells)} |", flush=True)
    rows: list[list[str]] = []
    pairs = [partial(planted, k) for k in range(options.planted)]
    pairs += [partial(identical, k) for k in range(options.identical)]
    for pair in pairs:
        for cells in pair():
            rows.append(cells)
            print(f"| {' | '.join(cells)} |", flush=True)
    for by in ("captures", "experiment"):
        found = sum(cells[1:3] == [by, "slower"] for cells in rows)
        more = f"{MORE / MATMULS - 1:.0%} more work, {REPEATS} of each in turn, by {by}"
        print(f"\n{more}: found in {found} of {options.planted}.")
    differing = sum(cells[1] == "one capture each" and cells[2] in ("faster", "slower") for cells in rows)
    print(f"One program in two processes, one capture each: called different in {differing} of {options.identical}.")


if __name__ == "__main__":
    main()
