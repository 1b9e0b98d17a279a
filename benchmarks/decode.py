"""Decode speed and memory: ours beside protobuf's objects and XProf's converter, each in a fresh process.

    python benchmarks/decode.py [CAPTURE.xplane.pb] [--millions 0.1 1]

Makes large files by repeating a capture (or a built step when none is given). Ratios are to our columns in one run;
machines and moments differ, so that only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT), str(ROOT / "tests")]

from builders import XSpace, field  # noqa: E402
from xplane_messages import XLine as Line  # noqa: E402
from xplane_messages import XSpace as Messages  # noqa: E402

MEASURE = """
import json, resource, sys, time
from pathlib import Path
path = Path(sys.argv[1])
{imports}
start = time.perf_counter()
{work}
seconds = time.perf_counter() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
OURS = "import pandas; from tfprof_nb.decode import load_hosts"
CONTENDERS = {
    "ours, columns": (OURS, "load_hosts([path])"),
    "ours, columns and two stats": (
        OURS,
        "host, = load_hosts([path]); host.ints('group_id'); host.ints('correlation_id')",
    ),
    "protobuf (upb), parse only": ("from xplane_messages import XSpace", "XSpace.FromString(path.read_bytes())"),
    "protobuf (upb), parse and event loop": (
        "from xplane_messages import XSpace",
        """planes = XSpace.FromString(path.read_bytes()).planes
events = (event for plane in planes for line in plane.lines for event in line.events)
rows = [(event.metadata_id, event.offset_ps, event.duration_ps) for event in events]""",
    ),
    "XProf, trace_viewer": (
        "from xprof.convert import raw_to_tool_data",
        "raw_to_tool_data.xspace_to_tool_data([str(path)], 'trace_viewer', {})",
    ),
    "XProf, overview_page": (
        "from xprof.convert import raw_to_tool_data",
        "raw_to_tool_data.xspace_to_tool_data([str(path)], 'overview_page', {})",
    ),
}


def one_step() -> bytes:
    """A built profile of a thousand events."""
    space = XSpace()
    thread = space.plane("/host:CPU").line("python")
    for number in range(1000):
        thread.event(f"op{number % 50}", start_us=2 * number, duration_us=1, group_id=1, correlation_id=number)
    return space.to_bytes()


def repeated(data: bytes, events: int) -> bytes:
    """Repeat each line's events, one copy after the other, until there are about so many."""
    space = Messages.FromString(data)
    times = round(events / sum(len(line.events) for plane in space.planes for line in plane.lines))
    planes = []
    for plane in space.planes:
        lines = b"".join(field(3, repeated_line(line, times)) for line in plane.lines)
        del plane.lines[:]
        planes.append(field(1, plane.SerializeToString() + lines))
    return b"".join(planes)


def repeated_line(line: Line, times: int) -> bytes:
    """Return a line's message with its events many times."""
    span = max((event.offset_ps + event.duration_ps for event in line.events), default=0)
    events = []
    for _ in range(times):
        events += [field(4, event.SerializeToString()) for event in line.events]
        for event in line.events:
            event.offset_ps += span
    del line.events[:]
    return line.SerializeToString() + b"".join(events)


def measure(path: Path, imports: str, work: str) -> tuple[float, float]:
    """Return seconds and peak megabytes of a fresh process."""
    code = f"import sys; sys.path += {sys.path[-2:]!r}\n" + MEASURE.format(imports=imports, work=work)
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    seconds, peak_mb = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak_mb


def main() -> None:
    """Measure all contenders on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture", type=Path, nargs="?")
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    source = options.capture.read_bytes() if options.capture else one_step()
    for millions in options.millions:
        # XProf writes its cache beside the file: each contender finds an empty folder.
        data = repeated(source, round(millions * 1e6))
        print(f"\n{millions:g} million events, {len(data) / 1e6:.1f} MB")
        base = 0.0
        for name, (imports, work) in CONTENDERS.items():
            best = min(in_own_folder(data, imports, work) for _ in range(options.repeats))
            base = base or best[0]
            print(f"{name:40} {best[0]:8.3f} s  {best[0] / base:6.1f} x  peak {best[1]:6.0f} MB")


def in_own_folder(data: bytes, imports: str, work: str) -> tuple[float, float]:
    """Measure on a copy of the file in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.xplane.pb"
        path.write_bytes(data)
        return measure(path, imports, work)


if __name__ == "__main__":
    main()
