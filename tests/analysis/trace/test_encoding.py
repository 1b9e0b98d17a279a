"""The trace between the two languages: what the viewer's own tests read is what is written here."""

import base64
import json
import zlib

from builders import XSpace, forest
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.trace.trace import trace


def program():
    """A thread with nested calls, one with a time beyond 32 bits, and a stream of short kernels."""
    space = XSpace()
    python, other = space.plane("/host:CPU").line("python"), space.plane("/host:CPU").line("other")
    python.event("fit", start_ps=5, duration_us=100)
    python.event("MatMul", start_us=1, duration_us=2)
    python.event("Ünï", start_us=10, duration_us=4)
    other.event("long", start_ms=10_000, duration_ms=300, duration_ps=1)
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for number in range(20):
        stream.event("copy" if number == 7 else "gemm", start_us=2 * number, duration_us=1.5 if number == 7 else 1)
    return space


def laid_out(space):
    events = forest(space)
    grouping = group_events(events)
    return trace([events], [grouping], steps([events], [grouping]))


def written(header, payload):
    return {"header": json.loads(json.dumps(header)), "payload": base64.b64encode(payload).decode()}


def unpacked(stored):
    """What a file holds, whichever way its zlib compressed."""
    return {name: (part["header"], zlib.decompress(base64.b64decode(part["payload"]))) for name, part in stored.items()}


def test_the_viewers_tests_read_what_is_written_here(root):
    result = laid_out(program())
    expected = {
        "whole": written(result.header(), result.payload()),
        "merged": written(*result.level(100)),
        "tile": written(*result.tile(10_000_000, 20_000_000, 10)),
    }
    file = root / "js/src/trace/data/encoded.cases.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert unpacked(stored) == unpacked(expected), f"it should be {json.dumps(expected, ensure_ascii=False)}"
