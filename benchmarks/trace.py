"""A capture's way to the trace viewer and what the reader waits for there, beside XProf's conversion of the same file.

    python -m benchmarks.trace [--millions 0.1 1 5] [--repeats 3] [--no-browser]

On the kernel's side all are cold, in processes of their own: reading the file, then what goes to the browser. Ours
sends all events, or of more than two million a coarse level and tiles on demand; XProf answers one request for the
whole span. So does xprof-rs, a server in Rust. Steps and memory, which our trace marks, are part of our time. In
Chromium, at 1200 x 600 pixels: from the widget's display to the first picture, and the frames of a scripted tour of
zooming, panning, scrolling, searching.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks import xprof_rs
from benchmarks.fresh import Contender, compare
from benchmarks.recorded import recorded

_OURS = "import pandas, json, tfprof_nb as tp, tfprof_nb.profiles"
_LAID_OUT = _OURS + "; t = tp.load(path).trace; t.header()"
_XPROF = "from xprof.convert.raw_to_tool_data import xspace_to_tool_data"
_TOURS = 3
_WHOLE = "{'resolution': 8000}"
CONTENDERS = {
    "tfprof_nb, decode": Contender(_OURS, "told = len(tp.load(path).data.forests[0].host)"),
    "tfprof_nb, to the browser": Contender(
        _OURS, "t = tp.load(path).trace; told = len(json.dumps(t.header())) + len(t.payload())"
    ),
    "tfprof_nb, coarse level": Contender(_LAID_OUT, "told = len(t.level(32768)[1])"),
    "tfprof_nb, tile of 1 %": Contender(
        _LAID_OUT, "told = len(t.tile(t.span_ps // 2, t.span_ps * 51 // 100, 8192)[1])"
    ),
    f"XProf {version('xprof')}, whole span": Contender(
        _XPROF, f"told = len(xspace_to_tool_data([path], 'trace_viewer@', {{'trace_viewer_options': {_WHOLE}}})[0])"
    ),
    f"XProf {version('xprof')}, all events": Contender(
        _XPROF, "told = len(xspace_to_tool_data([path], 'trace_viewer', {})[0])"
    ),
}
if xprof_rs.version():
    CONTENDERS[f"xprof-rs {xprof_rs.version()}, whole span"] = Contender(
        xprof_rs.START, f"told = {xprof_rs.asked('trace_viewer%40', '&resolution=8000')}; end()"
    )


def in_browser(file: Path) -> str:
    """Measure the viewer on one file; the result as text."""
    import tfprof_nb as tp
    from benchmarks.trace_page import tour
    from tfprof_nb.render.browser_widgets import TraceWidget

    widget = TraceWidget(tp.load(file).trace)
    tours = [tour(widget) for _ in range(_TOURS)]
    first = min(found.first_paint_ms for found in tours)
    median, p95 = np.min([np.percentile(found.frames_ms, [50, 95]) for found in tours], axis=0)
    frames = f"{len(tours[0].frames_ms)} frames: median {median:.1f}, p95 {p95:.1f} ms"
    return f"first picture after {first:.0f} ms; {frames} (least disturbed of {_TOURS} tours)"


def main() -> None:
    """Measure all contenders on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    print("goals at 1 million events: first picture 800 ms, p95 of frames 8 ms, 5 MB to the browser")
    for millions in options.millions:
        file = recorded(millions)
        print(f"\n{millions:g} million events, {file.stat().st_size / 1e6:.1f} MB", flush=True)
        for name, measured in compare(file, CONTENDERS, options.repeats).items():
            told = f"{measured.told:,.0f} events" if "decode" in name else f"{measured.told / 1e6:.2f} MB"
            print(f"{name:<28}{measured.work_s:8.3f} s   {told:>18}   peak {measured.peak_mb:5.0f} MB")
        if not options.no_browser:
            print(f"{'in Chromium':<28}{in_browser(file)}", flush=True)


if __name__ == "__main__":
    main()
