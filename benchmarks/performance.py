"""Speed as a table: measure part by part, and write `docs/performance.md` of all parts.

    python -m benchmarks.performance [PART ...] [--quick] [--list]

A part is a benchmark in a process of its own. What it prints is kept in build/bench, so that parts can be measured one
by one, while the machine is quiet: those that are named are measured anew, without names those that are not kept yet.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import NamedTuple

from benchmarks.recorded import KEPT

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
WHY = """
## Goals, and where the time goes

Goals: the five pages 20 times as quick as XProf at 1 and 5 million events, and 100 times at the second opening, with
a peak memory below 5 times the file. Where the tables miss them:

- Of the 2.1 s of processor time that the answer for an LSTM's `fit` takes (2.5 million events, 92 MB; 2.8 s before
  equal stats were read once, nesting and steps went through the cache in blocks, and the advice asked for lines of
  code only where memory grows), 0.7 s find and read the events, 0.5 s read their stats, nest and group them, 0.1 s
  divide steps, 0.3 s sum ops, 0.5 s are pages and rules, of which 0.2 s do not depend on the size. A quarter of the
  time is the system's, which hands out memory at its first use: large pages read the file in half of the time, but
  keeping the memory that TensorFlow frees (no `malloc_trim` after saving) changes nothing, and memory that was touched
  beforehand saves a tenth. Two threads for results that do not need one another take 0.88 of the time, as much of it
  holds Python's lock. An unaligned word takes 4 ns to gather, a byte 0.6. A compiled reader would decode 6 times as
  quick; the package stays pure Python instead.
- In a notebook a reader waits longer for TensorFlow, which collects and saves the events. Captures leave out the marks
  of thread pools: the same `fit` is then saved in 3.8 to 4.9 s, not 6.1 to 7.8 s.
- Memory, in multiples of a file of 5 million events: its bytes, which stay for the stats of single events, 1; Python
  and its libraries 0.5, which is why files below 2 million events take more than five times their size; the rest are
  columns of events, their stats, nesting, groups, labels and links. The peak was 5.7 before what is kept per event got
  the smallest type that holds it, and marks of the thread pool, nearly half of the events, were left out. That saved a
  tenth of the time, too.
- The second opening hashes the files, to be sure that they are the same: 0.05 of its 0.09 s for 92 MB. SHA-256 runs on
  the processor's own instructions, at 1.7 GB/s quicker than BLAKE2, and than pandas' hash of words.
"""


class Part(NamedTuple):
    """A part of the page: its title, and the benchmark with its options, in full and in the quick form, if it has one.

    A table stands in the page as it is printed, all else as text.
    """

    title: str
    full: str
    quick: str | None
    is_table: bool = False


PARTS = {
    "open-0.1m": Part("Opening 0.1 million events", "opening 0.1", "opening 0.1 --repeats 2", is_table=True),
    "open-1m": Part("Opening 1 million events", "opening 1 --repeats 3", "opening 1 --repeats 1", is_table=True),
    "open-5m": Part("Opening 5 million events", "opening 5 --repeats 1", None, is_table=True),
    "open-20m": Part("Opening 20 million events", "opening 20 --repeats 1", None, is_table=True),
    "trace-0.1m": Part(
        "0.1 million events to the trace viewer", "trace --millions 0.1", "trace --millions 0.1 --repeats 1"
    ),
    "trace-1m": Part("1 million events to the trace viewer", "trace --millions 1", None),
    "trace-5m": Part("5 million events to the trace viewer", "trace --millions 5 --repeats 1", None),
    "seat": Part("From the cell's end to the answer, in JupyterLab", "seat", "seat --cases cnn"),
    "capture": Part("What capturing adds", "capture", "capture --rounds 3 --steps 60"),
    "hosts": Part("Many hosts", "hosts", None),
    "shown": Part("Memory of a kernel that shows captures", "shown", "shown --times 6"),
}


class Kept(NamedTuple):
    """What a part printed: when, on what machine, how busy that was before, how long it took, and the lines."""

    day: str
    machine: str
    load: float
    minutes: float
    lines: list[str]


def main() -> None:
    """Measure parts, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"what to measure anew, of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small files, few repeats: some minutes")
    parser.add_argument("--list", action="store_true", help="measure nothing, write nothing; say what is kept")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    commands = {name: part.quick if options.quick else part.full for name, part in PARTS.items()}
    wanted = {name: command for name, command in commands.items() if command}
    load = os.getloadavg()[0]  # before all parts: later it is their own
    if not options.list:
        for name in options.parts or [name for name, command in wanted.items() if not kept(command)]:
            print(f"== {name}: python -m benchmarks.{commands[name]}", flush=True)
            measure(commands[name] or PARTS[name].full, load)
        options.out.write_text("\n".join(page(wanted, quick=options.quick)) + "\n", encoding="utf-8")
    for name, command in wanted.items():
        print(f"{name:<12}{told(kept(command))}")


def place(command: str) -> Path:
    """Return the file in which the output of a benchmark is kept."""
    return KEPT / "parts" / f"{command.replace(' ', '_')}.json"


def kept(command: str) -> Kept | None:
    """Return what a benchmark printed on this machine, if it ran."""
    if not place(command).exists():
        return None
    found = Kept(**json.loads(place(command).read_text(encoding="utf-8")))
    return found if found.machine == machine() else None


def told(found: Kept | None) -> str:
    """Say in a line when a part was measured."""
    return f"{found.day}, in {found.minutes:.0f} min, load {found.load:.1f} before" if found else "not measured"


def measure(command: str, load: float) -> None:
    """Run a benchmark, show what it prints, and keep it with the load before all parts, if it ends well."""
    began, lines = time.monotonic(), []
    environment = os.environ | {"TFPROF_NB_CACHE": "off", "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        [sys.executable, "-m", *f"benchmarks.{command}".split()], stdout=subprocess.PIPE, text=True, env=environment
    )
    for line in running.stdout or ():
        print(line, end="", flush=True)
        lines.append(line.rstrip("\n"))
    if running.wait():
        print(f"It failed: exit status {running.returncode}.", file=sys.stderr, flush=True)
        return
    place(command).parent.mkdir(parents=True, exist_ok=True)
    minutes = (time.monotonic() - began) / 60
    found = Kept(f"{datetime.now(UTC):%Y-%m-%d}", machine(), load, minutes, lines)
    place(command).write_text(json.dumps(found._asdict()), encoding="utf-8")


def page(wanted: dict[str, str], *, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Performance"
    yield ""
    yield f"Written by `python -m benchmarks{' --quick' if quick else ''}`. {machine()}"
    yield ""
    yield "Contenders take turns. Machines and moments differ, so that only ratios of one run mean something."
    yield "Captures of more than a million events repeat one of a million. Python and its libraries take 75 MB."
    if quick:
        yield "This was the quick form: few repeats, no files of 5 and 20 million events, no 512 hosts."
    found = {name: kept(command) for name, command in wanted.items()}
    busy = [f"{PARTS[name].title} ({part.load:.0f})" for name, part in found.items() if part and part.load > 1]
    if busy:
        yield f"**The machine was busy with other work** (load average): seconds are too long in {', '.join(busy)}."
    if left := [PARTS[name].title for name, part in found.items() if not part]:
        yield f"Not measured: {', '.join(left)}."
    for name, part in found.items():
        if part:
            yield from section(PARTS[name], wanted[name], part)
        if name == "open-20m":
            yield from WHY.splitlines()


def section(part: Part, command: str, found: Kept) -> Iterator[str]:
    """Yield the lines of a part."""
    yield from ["", f"## {part.title}", "", f"`python -m benchmarks.{command}`, on {found.day}", ""]
    fence = [] if part.is_table else ["```"]
    yield from [*(line + "text" for line in fence), *"\n".join(found.lines).strip("\n").splitlines(), *fence]


def machine() -> str:
    """Say what this runs on, without its name."""
    names = [packages_distributions()[name][0] for name in ("numpy", "pandas", "tensorflow", "xprof")]
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    kind = f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB"
    return f"{kind}, Python {platform.python_version()}, {packages}."


if __name__ == "__main__":
    main()
