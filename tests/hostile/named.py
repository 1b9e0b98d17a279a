"""Profiles in which everything has one name, chosen to do harm."""

import gzip
import json

import tfprof_nb as tp
from builders import XSpace
from fuzz.seeds import sidecar
from tfprof_nb.formats.files import sidecar_of

MARKUP = '"><img src=x onerror=alert(1)></script><script>alert(1)</script><!--'
CONTROLS = "\x1b]0;title\x07\x1b[31m\u202eevil\u2066\x9b2J"


def profile_named(folder, name):
    """A profile in which everything that can have a name has this one, in its sidecar too."""
    made = XSpace()
    line = made.plane("/host:CPU").line(f"thread {name}")
    for step in range(4):
        line.event(f"train {name}", start_us=100 * step, duration_us=90, step_num=step, _r=1, step_name=name)
        line.event(f"{name}:{name}", start_us=100 * step + 1, duration_us=30)
        line.event("PartitionedCall", start_us=100 * step + 40, duration_us=30, function=name, tracing_count=step)
        line.event("MemoryAllocation", start_us=100 * step + 41, allocator_name=name, tf_op=name, allocation_bytes=9)
    stream = made.plane(f"/device:GPU:0 {name}").line(f"Stream #1 {name}")
    stream.event(name, start_us=20, duration_us=9, tf_op=f"{name}:{name}", kernel_details=name)
    path = made.write(folder / "host.xplane.pb")
    content = json.loads(sidecar())
    content["cell"]["text"] = content["cells"]["<cell>"] = name
    content["capture"]["notes"] = [name]
    content["graphs"]["strings"] = [f"{text} {name}" for text in content["graphs"]["strings"]]
    sidecar_of(path).write_bytes(gzip.compress(json.dumps(content).encode()))
    return tp.load(path, name=name)
