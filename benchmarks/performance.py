"""Speed as a table: measure everything, and write `docs/performance.md`.

    python -m benchmarks.performance [--quick] [--millions 0.1 1 5 20] [--repeats 5]

Each time is of a fresh process on a copy of a file that has no cache, ours beside XProf's on the same file in turn. The
other benchmarks run as they are; what they print stands in the page.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fresh import Contender, Measured, compare
from benchmarks.recorded import events_in, recorded

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
_IMPORTS = "import pandas, tfprof_nb as tp, tfprof_nb.profiles"
_XPROF = "from xprof.convert.raw_to_tool_data import xspace_to_tool_data"
_FIVE = "p = tp.load(path); p.overview, p.steps, p.ops, p.input_pipeline, p.memory"
_TOOLS = {
    "overview": "overview_page",
    "ops": "framework_op_stats",
    "input_pipeline": "input_pipeline_analyzer",
    "memory": "memory_profile",
}
_OURS_ALONE = ("steps", "tf_data", "source", "functions", "graph", "trace", "advice")
FIVE = "the five pages"
CONTENDERS = {
    FIVE: Contender(_IMPORTS, _FIVE),
    f"{FIVE}, second opening": Contender(_IMPORTS, _FIVE, again=True),
    f"{FIVE}, XProf": Contender(
        _XPROF, "\n".join(f"xspace_to_tool_data([path], {tool!r}, {{}})" for tool in _TOOLS.values())
    ),
    "load": Contender(_IMPORTS, "tp.load(path)"),
    **{name: Contender(_IMPORTS, f"tp.load(path).{name}") for name in (*_TOOLS, *_OURS_ALONE)},
    **{
        f"{name}, XProf": Contender(_XPROF, f"xspace_to_tool_data([path], {tool!r}, {{}})")
        for name, tool in _TOOLS.items()
    },
}
WHY = """
## Goals, and where the time goes

Goals: the five pages 20 times as quick as XProf at 1 and 5 million events, and 100 times at the second opening, with
a peak memory below 5 times the file. Where the tables miss them:

- Of the 6.4 s of processor time that the answer for an LSTM's `fit` takes (4.2 million events, 135 MB), 2.2 s find
  and read the events, 1.0 s their stats, 0.9 s nest and group them, 0.5 s divide steps, 0.8 s sum ops, 1.0 s are the
  rest. All are numpy over whole columns, so that about 1.5 µs per event is left to save. A quarter of the time is the
  system's, which hands out memory at its first use; keeping freed memory (`MALLOC_TRIM_THRESHOLD_`) did not change
  that. A compiled reader would decode 6 times as quick; the package stays pure Python instead.
- Memory, of the same file, in multiples of it: its bytes, which stay for the stats of single events, 1; columns of
  events 1.2; stats 0.7; nesting, groups and labels 1.1; what steps and ops need for a moment 1.5. Loading alone peaks
  at 3.5.
- The second opening reads the files and hashes them, to be sure that they are the same: that is most of its time.
"""
# What the other benchmarks run with: in full, and in the quick form.
OTHERS = {
    "trace": ("To the trace viewer", ["--millions", "0.1", "1", "5"], ["--millions", "0.1", "--repeats", "1"]),
    "seat": ("From the cell's end to the answer, in JupyterLab", [], ["--cases", "cnn"]),
    "capture": ("What capturing adds", [], ["--rounds", "3", "--steps", "60"]),
    "hosts": ("Many hosts", [], None),
    "shown": ("Memory of a kernel that shows captures", [], ["--times", "6"]),
}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small files, few repeats: some minutes")
    parser.add_argument("--millions", type=float, nargs="+")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    millions = options.millions or ([0.1, 1.0] if options.quick else [0.1, 1.0, 5.0, 20.0])
    repeats = options.repeats or (2 if options.quick else 5)
    lines: list[str] = []
    for line in page(millions, repeats, quick=options.quick):
        print(line, flush=True)
        lines.append(line)
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def page(millions: Sequence[float], repeats: int, *, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    form = " --quick" if quick else ""
    yield "# Performance"
    yield ""
    yield f"Written by `python -m benchmarks{form}` on {datetime.now(UTC):%Y-%m-%d}. {machine()}"
    yield ""
    yield "Contenders take turns. Machines and moments differ, so that only ratios of one run mean something."
    if quick:
        yield f"This was the quick form: {repeats} runs of each, no files of 5 and 20 million events, no 512 hosts."
    if (busy := os.getloadavg()[0]) > 1:
        yield f"**The machine was busy with other work** (load average {busy:.0f}): seconds here are far too long."
    for size in millions:
        yield from of_file(recorded(size), repeats)
    yield from WHY.splitlines()
    for name, (title, full, short) in OTHERS.items():
        if find_spec(f"benchmarks.{name}") and not (quick and short is None):
            yield from of_other(name, title, (short or []) if quick else full)


def machine() -> str:
    """Say what this ran on, without its name."""
    names = [packages_distributions()[name][0] for name in ("numpy", "pandas", "tensorflow", "xprof")]
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    kind = f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB"
    return f"{kind}, Python {platform.python_version()}, {packages}."


def of_file(file: Path, repeats: int) -> Iterator[str]:
    """Yield the table of one file."""
    found = compare(file, CONTENDERS, repeats)
    whole = found[FIVE].work_s
    size = file.stat().st_size
    yield ""
    yield f"## {events_in(file) / 1e6:.2f} million events, {size / 1e6:.0f} MB"
    yield ""
    yield "| opening and … | median | least to most | peak memory | of the file | XProf takes |"
    yield "|---|---|---|---|---|---|"
    for name, measured in found.items():
        if name.endswith(", XProf"):
            continue
        theirs = found.get(f"{name.partition(',')[0]}, XProf")
        spread = f"{measured.runs_s[0]:.2f} to {measured.runs_s[-1]:.2f} s"
        peak = f"{measured.peak_mb:,.0f} MB | {measured.peak_mb * 1e6 / size:.1f} x"
        yield f"| {name} | {measured.work_s:.2f} s | {spread} | {peak} | {beside(measured, theirs)} |"
    again = found[f"{FIVE}, second opening"].work_s
    yield ""
    yield "The five pages are overview, steps, ops, input pipeline and memory. Python and its libraries take 75 MB."
    yield f"The second opening takes 1/{whole / again:.0f} of the first."


def beside(ours: Measured, theirs: Measured | None) -> str:
    """Say how much longer XProf takes."""
    if theirs is None:
        return ""
    return f"{theirs.work_s:.2f} s, {theirs.work_s / ours.work_s:.0f} x; {theirs.peak_mb:,.0f} MB"


def of_other(name: str, title: str, options: Sequence[str]) -> Iterator[str]:
    """Yield what another benchmark prints."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"TFPROF_NB_CACHE": "off"}
    )
    yield ""
    yield f"## {title}"
    yield ""
    yield f"`python -m benchmarks.{' '.join([name, *options])}`"
    yield ""
    if done.returncode:
        yield f"Failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1][:200]}"
        return
    yield "```text"
    yield from done.stdout.strip("\n").splitlines()
    yield "```"


if __name__ == "__main__":
    main()
