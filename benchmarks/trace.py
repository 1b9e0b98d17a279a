"""A capture's way to the trace viewer: ours beside XProf's conversion of the same file, cold.

    python -m benchmarks.trace [--millions 0.1 1] [--repeats 3]

Ours sends everything once, as compressed columns; XProf answers one request for the whole span. What is told is what
goes to the browser. Steps, which the trace marks, are part of our time.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

from benchmarks.fresh import Contender, compare
from benchmarks.recorded import recorded

_OURS = "import pandas, json, tfprof_nb as tp, tfprof_nb.profiles"
_XPROF = "from xprof.convert.raw_to_tool_data import xspace_to_tool_data"
_WHOLE = "{'resolution': 8000}"
CONTENDERS = {
    "tfprof_nb, all events": Contender(
        _OURS, "t = tp.load(path).trace; told = len(json.dumps(t.header())) + len(t.payload())"
    ),
    "tfprof_nb, query of all": Contender(
        _OURS + "; t = tp.load(path).trace; t.header()", "told = len(t.query(0, t.span_ps, 5000))"
    ),
    "tfprof_nb, query of 1 %": Contender(
        _OURS + "; t = tp.load(path).trace; t.header()",
        "told = len(t.query(t.span_ps // 2, t.span_ps * 51 // 100, 5000))",
    ),
    f"XProf {version('xprof')}, whole span": Contender(
        _XPROF, f"told = len(xspace_to_tool_data([path], 'trace_viewer@', {{'trace_viewer_options': {_WHOLE}}})[0])"
    ),
    f"XProf {version('xprof')}, all events": Contender(
        _XPROF, "told = len(xspace_to_tool_data([path], 'trace_viewer', {})[0])"
    ),
}


def main() -> None:
    """Measure all contenders on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for millions in options.millions:
        file = recorded(millions)
        print(f"\n{millions:g} million events, {file.stat().st_size / 1e6:.1f} MB")
        for name, measured in compare(file, CONTENDERS, options.repeats).items():
            unit = f"{measured.told:,.0f} rows" if "query" in name else f"{measured.told / 1e6:.2f} MB"
            print(f"{name:<28}{measured.work_s:8.3f} s   {unit:>12}   peak {measured.peak_mb:5.0f} MB")


if __name__ == "__main__":
    main()
