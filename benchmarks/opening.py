"""Loading a capture and each analysis, beside XProf's and xprof-rs' tools on the same file, as a table.

    python -m benchmarks.opening [MILLIONS] [--repeats 5]

Each time is of a fresh process on a copy of a file that has no cache; the contenders take turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import xprof_rs
from benchmarks.fresh import Contender, Measured, compare
from benchmarks.recorded import LONGEST, events_in, recorded

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
_XPROF_TIMES = 36  # the file's size: what XProf takes of memory
FIVE = "the five pages"
OURS = {
    FIVE: Contender(_IMPORTS, _FIVE),
    f"{FIVE}, second opening": Contender(_IMPORTS, _FIVE, again=True),
    "load": Contender(_IMPORTS, "tp.load(path)"),
    **{name: Contender(_IMPORTS, f"tp.load(path).{name}") for name in (*_TOOLS, *_OURS_ALONE)},
}
PAGES = {FIVE: tuple(_TOOLS.values()), **{name: (tool,) for name, tool in _TOOLS.items()}}
XPROF = {
    f"{name}, XProf": Contender(_XPROF, "\n".join(f"xspace_to_tool_data([path], {tool!r}, {{}})" for tool in tools))
    for name, tools in PAGES.items()
}
XPROF_RS = {
    f"{name}, xprof-rs": Contender(xprof_rs.START, "\n".join([*map(xprof_rs.asked, tools), "end()"]))
    for name, tools in PAGES.items()
}


def table(file: Path, repeats: int) -> Iterator[str]:
    """Yield the lines of the table of one file, and what is to be said below."""
    size, free = file.stat().st_size, psutil.virtual_memory().available
    contenders, notes = dict(OURS), ["The five pages are overview, steps, ops, input pipeline and memory."]
    if _XPROF_TIMES * size < free:
        contenders |= XPROF
    else:
        needed, has = _XPROF_TIMES * size / 1e9, free / 1e9
        notes.append(f"XProf was not run: of such a file it takes about {needed:.0f} GB, and {has:.0f} GB were free.")
    if xprof_rs.version():
        contenders |= XPROF_RS
        notes.append(
            f"xprof-rs is version {xprof_rs.version()}; its time is from the first question to its last answer."
        )
    else:
        notes.append("xprof-rs could not be installed from PyPI.")
    found = compare(file, contenders, repeats)
    yield f"{events_in(file) / 1e6:.2f} million events, {size / 1e6:.0f} MB; each was measured {repeats} times."
    yield ""
    yield "| opening and … | median | least to most | peak memory | of the file | XProf takes | xprof-rs takes |"
    yield "|---|---|---|---|---|---|---|"
    for name in OURS:
        measured, page = found[name], name.partition(",")[0]
        spread = f"{measured.runs_s[0]:.2f} to {measured.runs_s[-1]:.2f} s"
        peak = f"{measured.peak_mb:,.0f} MB | {measured.peak_mb * 1e6 / size:.1f} x"
        others = " | ".join(beside(measured, found.get(f"{page}, {other}")) for other in ("XProf", "xprof-rs"))
        yield f"| {name} | {measured.work_s:.2f} s | {spread} | {peak} | {others} |"
    again = found[f"{FIVE}, second opening"].work_s
    yield ""
    yield " ".join([*notes, f"The second opening takes 1/{found[FIVE].work_s / again:.0f} of the first."])


def beside(ours: Measured, theirs: Measured | None) -> str:
    """Say how much longer others take."""
    if theirs is None:
        return ""
    return f"{theirs.work_s:.2f} s, {theirs.work_s / ours.work_s:.1f} x; {theirs.peak_mb:,.0f} MB"


def main() -> None:
    """Measure one file, and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("millions", type=float, nargs="?", default=LONGEST)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for line in table(recorded(options.millions), options.repeats):
        print(line, flush=True)


if __name__ == "__main__":
    main()
