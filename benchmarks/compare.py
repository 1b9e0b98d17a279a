"""Whether the speedup that ``compare`` tells is that of the clock.

    python -m benchmarks.compare [NAME ...]

Runs programs of ``advice_programs`` in processes of their own: the cell and the fixed cell in turn, three times without
a profiler and three times profiled. Prints a row per program: the ratio of the median times without a profiler, the
speedup that is told of the profiles, and by how much the two differ; and how often two profiles of one cell are said to
differ. Run it on a quiet machine: the last column says what other programs took. The clock includes the making and
tracing of models in cells that do so, and the removal of iterators; the speedup leaves them out, and the ratio of whole
captures, which stands beside it, does not.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

from benchmarks import advice_programs
from benchmarks.advice import told

NAMES = (
    *("batch_of_four", "heavy_callback", "huge_layer", "run_eagerly", "eager_loop", "shuffle_buffer"),
    *("serial_map", "numpy_function", "checkpoints", "numpy_metric", "retrace_shape", "constant_matmul", "rl_predict"),
)
NEAR = 0.25  # of the ratio by the clock
_HEAD = [
    *("program", "by the clock", "told", "off by", "the time", "whole captures", "median step", "what was changed"),
    "other programs",
]


def row(name: str, found: dict[str, Any]) -> list[str]:
    """Return a program's row."""
    clock, said = _clock(found), found["speedup"]
    return [
        name,
        f"{clock:.2f}x",
        f"{said:.2f}x {found['verdict']}",
        f"{100 * (said / clock - 1):+.0f}%",
        found["of"],
        f"{found['capture_speedup']:.2f}x",
        f"{found['step_speedup']:.2f}x",
        "; ".join(found["changes"]),
        ", ".join(f"{percent:.0f}%" for percent in found["load_percent"] if percent is not None),
    ]


def _clock(found: dict[str, Any]) -> float:
    cell, fixed = (statistics.median(found["seconds"][name]) for name in ("cell", "fixed"))
    return cell / fixed


def main() -> None:
    """Run the programs that the command line names, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to run (default: rewrites of eight kinds)")
    found = {}
    for name in parser.parse_args().names or NAMES:
        found[name] = told("compare", advice_programs.load(name))
        print(" | ".join(row(name, found[name])), file=sys.stderr, flush=True)
    for cells in (_HEAD, ["---"] * len(_HEAD), *(row(name, one) for name, one in found.items())):
        print(f"| {' | '.join(cells)} |")
    near = [
        sum(abs(one[kind] / _clock(one) - 1) <= NEAR for one in found.values())
        for kind in ("speedup", "capture_speedup")
    ]
    same = [verdict for one in found.values() for verdict in one["identical"]]
    differing = sum(verdict in ("faster", "slower") for verdict in same)
    print(f"\nWithin {NEAR:.0%} of the clock: {near[0]} of {len(found)}; whole captures: {near[1]} of {len(found)}.")
    print(f"One cell twice called different: {differing} of {len(same)}.")


if __name__ == "__main__":
    main()
