"""Run one program in this process and write what came out: ``advice_programs WHAT NAME FILE``.

- ``gain``: the peak memory and the times of the cell and of the fixed cell, which run in turn, once to warm up;
- ``advice``: what ``%%tfprofile`` says of the cell, after a warm-up;
- ``pasted``: the times of the program that FILE holds, which has a change pasted;
- ``results``: the numbers that the program in FILE leaves in its names, from the same random numbers each time;
- ``compare``: the times of the cell and of the fixed cell, and what ``compare`` says of profiles taken in between.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import psutil
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import tfprof_nb
from benchmarks.advice_programs import ROUNDS, Program, load
from benchmarks.advice_results import left_by

_SAMPLE_S = 0.02
_SEED = "import keras as _keras; _keras.utils.set_random_seed(0)"
COMPARED_ROUNDS = 3


class PeakMemory:
    """Within the block, follows how much memory the process has; ``mb`` is the most."""

    def __enter__(self) -> Self:
        self.mb, self._ended = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        process = psutil.Process()
        while not self._ended.wait(_SAMPLE_S):
            self.mb = max(self.mb, process.memory_info().rss / 1e6)


def run(shell: InteractiveShell, cell: str) -> None:
    """Run a cell, numbered as in a notebook."""
    shell.run_cell(cell, store_history=True).raise_error()


def seconds(shell: InteractiveShell, cell: str) -> float:
    """Run a cell; return its time."""
    begin = time.perf_counter()
    run(shell, cell)
    return time.perf_counter() - begin


def peak_mb(shell: InteractiveShell, cell: str) -> float:
    """Run a cell; return the most memory that the process had."""
    with PeakMemory() as peak:
        run(shell, cell)
    return peak.mb


def gain(shell: InteractiveShell, program: Program) -> dict[str, Any]:
    """Measure the fixed cell and the cell in turn. Memory first: TensorFlow keeps what it once had."""
    cells = {"fixed": program.fixed, "cell": program.cell}
    peaks = {name: peak_mb(shell, cell) for name, cell in cells.items()}
    rounds = [{name: seconds(shell, cell) for name, cell in cells.items()} for _ in range(ROUNDS)]
    return {"peak_mb": peaks, "seconds": {name: [one[name] for one in rounds] for name in cells}}


def advice(shell: InteractiveShell, program: Program) -> dict[str, Any]:
    """Profile the cell; return the rows of the advice and the text that a person sees."""
    run(shell, program.cell)
    shell.run_line_magic("load_ext", "tfprof_nb")
    run(shell, f"%%tfprofile profile_of_cell --quiet\n{program.cell}")
    profile = shell.user_ns["profile_of_cell"]
    return {"findings": json.loads(profile.advice.table.to_json(orient="records")), "text": str(profile)}


def pasted(shell: InteractiveShell, program: Program) -> dict[str, Any]:
    """Measure the cell, after a warm-up."""
    run(shell, program.cell)
    return {"seconds": [seconds(shell, program.cell) for _ in range(ROUNDS)]}


def results(shell: InteractiveShell, program: Program) -> dict[str, Any]:
    """Run the cell once; return the numbers that it leaves."""
    run(shell, _SEED)
    run(shell, program.cell)
    return left_by(shell.user_ns)


def compare(shell: InteractiveShell, program: Program) -> dict[str, Any]:
    """Run both cells in turn, with and without a profiler; return their times, and what is said of each pair."""
    cells = {"cell": program.cell, "fixed": program.fixed}
    for cell in cells.values():
        run(shell, cell)
    shell.run_line_magic("load_ext", "tfprof_nb")
    times: dict[str, list[float]] = {name: [] for name in cells}
    pairs = []
    for number in range(COMPARED_ROUNDS):
        order = list(cells.items())
        for name, cell in reversed(order) if number % 2 else order:
            times[name].append(seconds(shell, cell))
            run(shell, f"%%tfprofile profile_of_{name} --quiet\n{cell}")
        pairs.append([shell.user_ns[f"profile_of_{name}"] for name in cells])
    before, after = (list(side) for side in zip(*pairs, strict=True))
    told = tfprof_nb.compare(before, after).summary
    identical = [tfprof_nb.compare(*pair).summary["verdict"] for pair in pairwise(before)]
    return {
        "seconds": times,
        "speedup": told["speedup"],
        "of": told["speedup_of"],
        "verdict": told["verdict"],
        "changes": told["changes"],
        "step_speedup": told["step_speedup"],
        "capture_speedup": told["capture_before_ms"] / told["capture_after_ms"],
        "singles": [tfprof_nb.compare(*pair).summary["speedup"] for pair in pairs],
        "identical": identical,
        "load_percent": [told[f"other_load_{side}_percent"] for side in ("before", "after")],
    }


def main() -> None:
    """Do with a program what the command line says."""
    what, name, target = sys.argv[1:]
    program = load(name)
    if what in ("pasted", "results"):
        program = Program(**json.loads(Path(target).read_text(encoding="utf-8")))
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell(_SEED).raise_error()  # no cell of the program's
    run(shell, program.setup)
    doing = {"gain": gain, "advice": advice, "pasted": pasted, "results": results, "compare": compare}
    told = doing[what](shell, program)
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
