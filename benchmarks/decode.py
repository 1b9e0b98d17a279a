"""Decode speed and memory: ours beside protobuf's objects and XProf's converter, each in a fresh process.

    python -m benchmarks.decode [CAPTURE.xplane.pb] [--millions 0.1 1]

Makes large files by repeating a capture (or a built step when none is given). Ratios are to our columns in one run;
machines and moments differ, so that only ratios mean something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.fresh import Contender, compare
from benchmarks.repeated import repeated

TESTS = str(Path(__file__).parents[1] / "tests")
sys.path.append(TESTS)

from builders import XSpace  # noqa: E402
from xplane_messages import XSpace as Messages  # noqa: E402

OURS = "import pandas; from tfprof_nb.decode import load_hosts; from pathlib import Path; path = Path(path)"
PROTOBUF = f"import sys; sys.path.append({TESTS!r}); from xplane_messages import XSpace"
XPROF = "from xprof.convert.raw_to_tool_data import xspace_to_tool_data"
CONTENDERS = {
    "ours, columns": Contender(OURS, "load_hosts([path])"),
    "ours, columns and two stats": Contender(
        OURS, "host, = load_hosts([path]); host.ints('group_id'); host.ints('correlation_id')"
    ),
    "protobuf (upb), parse only": Contender(PROTOBUF, "XSpace.FromString(open(path, 'rb').read())"),
    "protobuf (upb), parse and event loop": Contender(
        PROTOBUF,
        """planes = XSpace.FromString(open(path, 'rb').read()).planes
events = (event for plane in planes for line in plane.lines for event in line.events)
rows = [(event.metadata_id, event.offset_ps, event.duration_ps) for event in events]""",
    ),
    "XProf, trace_viewer": Contender(XPROF, "xspace_to_tool_data([path], 'trace_viewer', {})"),
    "XProf, overview_page": Contender(XPROF, "xspace_to_tool_data([path], 'overview_page', {})"),
}


def one_step() -> bytes:
    """A built profile of a thousand events."""
    space = XSpace()
    thread = space.plane("/host:CPU").line("python")
    for number in range(1000):
        thread.event(f"op{number % 50}", start_us=2 * number, duration_us=1, group_id=1, correlation_id=number)
    return space.to_bytes()


def events_of(data: bytes) -> int:
    """Count a profile's events."""
    return sum(len(line.events) for plane in Messages.FromString(data).planes for line in plane.lines)


def main() -> None:
    """Measure all contenders on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture", type=Path, nargs="?")
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    source = options.capture.read_bytes() if options.capture else one_step()
    for millions in options.millions:
        data = repeated(source, round(millions * 1e6 / events_of(source)))
        print(f"\n{millions:g} million events, {len(data) / 1e6:.1f} MB")
        with tempfile.NamedTemporaryFile(suffix=".xplane.pb") as file:
            Path(file.name).write_bytes(data)
            found = compare(Path(file.name), CONTENDERS, options.repeats)
        base = next(iter(found.values())).work_s
        for name, measured in found.items():
            print(
                f"{name:38}{measured.work_s:8.3f} s  {measured.work_s / base:6.1f} x  peak {measured.peak_mb:6.0f} MB"
            )


if __name__ == "__main__":
    main()
