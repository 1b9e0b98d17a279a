"""What profiling costs: each program without and with it, in fresh processes, in turns.

    python -m benchmarks.cost [PROGRAM ...] [--rounds 3]

``with`` is the time of the cell until its profile is saved, ``slower`` how many times that of the cell alone, and
``answer`` the time from there to the printed answer. ``all`` is ``slower`` where ops are recorded all the time. They
are medians, with the extremes of all rounds. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted(file.stem for file in Path(__file__).with_name("cost_programs").glob("[a-z]*.py"))
_HOW = ("alone", "profiled", "all")
_HEAD = ["program", "alone s", "with s", "slower", "answer s", "MB", "events", "all"]


def run(program: str, how: str) -> dict[str, float]:
    """Run a program's cell in this process, and return what it took."""
    cell = import_module(f"benchmarks.cost_programs.{program}").cell
    if how == "alone":
        began = time.perf_counter()
        cell()
        return {"seconds": time.perf_counter() - began}
    import tfprof_nb as tp

    profiled = tp.profile  # imports what %load_ext imports
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with profiled(logdir=folder, record_all=how == "all") as profile:
            cell()
        saved = time.perf_counter()
        str(profile)
        answered = time.perf_counter()
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        return {"seconds": saved - began, "answer_s": answered - saved, "bytes": size, "events": profile.event_count}


def measured(program: str, rounds: int, hows: tuple[str, ...]) -> dict[str, list[dict[str, float]]]:
    """Run a program each way in fresh processes, in turns."""
    found: dict[str, list[dict[str, float]]] = {how: [] for how in hows}
    for number in range(rounds):
        for how in hows[:: -1 if number % 2 else 1]:
            command = [sys.executable, "-m", "benchmarks.cost", program, "--in-this-process", how]
            environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
            done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
            found[how].append(json.loads(done.stdout.splitlines()[-1]))
    return found


def row(program: str, found: dict[str, list[dict[str, float]]]) -> list[str]:
    """Return the row of a program."""

    def middle(how: str, name: str) -> float:
        return statistics.median(run[name] for run in found[how])

    alone, taken = middle("alone", "seconds"), sorted(run["seconds"] for run in found["profiled"])
    whole = f"{middle('all', 'seconds') / alone:.2f}" if "all" in found else ""
    return [
        program,
        f"{alone:.2f}",
        f"{middle('profiled', 'seconds'):.2f}",
        f"{middle('profiled', 'seconds') / alone:.2f} ({taken[0] / alone:.2f} to {taken[-1] / alone:.2f})",
        f"{middle('profiled', 'answer_s'):.2f}",
        f"{middle('profiled', 'bytes') / 1e6:.1f}",
        f"{middle('profiled', 'events'):,.0f}",
        whole,
    ]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-all", action="store_true", help="do not measure the recording of all ops")
    parser.add_argument("--in-this-process", choices=_HOW, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.in_this_process:
        print(json.dumps(run(args.programs[0], args.in_this_process)))
        return
    print(" | ".join(_HEAD), flush=True)
    for program in args.programs:
        hows = _HOW[:2] if args.without_all else _HOW
        print(" | ".join(row(program, measured(program, args.rounds, hows))), flush=True)


if __name__ == "__main__":
    main()
