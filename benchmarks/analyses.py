"""Overview, steps, ops, input pipeline and memory of a capture: ours beside XProf's same tools, cold.

    python -m benchmarks.analyses [--millions 0.1 1] [--repeats 3]

Each measurement is a fresh process on a copy of the file without caches. The captures are real ones: a Keras training
of that many events. Ratios are of one run; machines and moments differ, so that only ratios mean something.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

from benchmarks.fresh import Contender, Measured, compare
from benchmarks.recorded import recorded

OURS = Contender(
    "import pandas, tfprof_nb as tp, tfprof_nb.profiles",
    "p = tp.load(path); p.overview, p.steps, p.ops, p.input_pipeline, p.memory",
)
XPROF = Contender(
    "from xprof.convert.raw_to_tool_data import xspace_to_tool_data",
    """for tool in ("overview_page", "framework_op_stats", "input_pipeline_analyzer", "memory_profile"):
    xspace_to_tool_data([path], tool, {})""",
)


def row(name: str, measured: Measured) -> str:
    """Return one line of the table."""
    return f"{name:<14}{measured.work_s:9.2f} s{measured.all_s:9.2f} s{measured.peak_mb:9.0f} MB"


def ratios(ours: Measured, theirs: Measured) -> str:
    """Return how many times more the other takes, as a line of the table."""
    times = (theirs.work_s / ours.work_s, theirs.all_s / ours.all_s, theirs.peak_mb / ours.peak_mb)
    return f"{'ratio':<14}" + "".join(f"{ratio:9.1f} x" for ratio in times)


def main() -> None:
    """Measure both on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    xprof = f"XProf {version('xprof')}"
    print("goals: 5 x at 0.1 million events, 10 x at 1 million, peak memory below XProf's")
    for millions in options.millions:
        file = recorded(millions)
        found = compare(file, {"tfprof_nb": OURS, xprof: XPROF}, options.repeats)
        print(f"\n{millions:g} million events, {file.stat().st_size / 1e6:.1f} MB")
        print(f"{'':<14}{'analysis':>11}{'and import':>11}{'peak':>11}")
        print("\n".join([*(row(name, measured) for name, measured in found.items()), ratios(*found.values())]))


if __name__ == "__main__":
    main()
