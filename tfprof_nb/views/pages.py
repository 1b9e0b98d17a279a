"""The dashboard's pages: their names, by the result that each shows."""

from __future__ import annotations

import math
from typing import Any

from tfprof_nb._units import PS_PER_MS
from tfprof_nb.render.panels import Link

PAGES = {
    "overview": "Answer",
    "advice": "Advice",
    "breakdown": "Breakdown",
    "steps": "Steps",
    "source": "Lines",
    "python": "Python",
    "input_pipeline": "Input",
    "tf_data": "tf.data",
    "ops": "Ops",
    "kernels": "Kernels",
    "memory": "Memory",
    "functions": "Functions",
    "layers": "Layers",
    "flame": "Flame graph",
    "graph": "Graph",
    "pods": "Pods",
    "trace": "Trace",
}


def links_of(finding: dict[Any, Any]) -> list[Link]:
    """Lead from a finding to the page that proves it, and to the event in the trace that shows it best."""
    op, proof, page = finding["op_name"] or None, finding["proved_by"], PAGES[finding["proved_by"]]
    if math.isnan(finding["start_ms"]):
        return [Link("Show in the trace" if proof == "trace" else f"Show in {page}", page, op)]
    start = int(finding["start_ms"] * PS_PER_MS)
    wait = (start, start + int(finding["duration_ms"] * PS_PER_MS))
    proofs = [] if proof == "trace" else [Link(f"Show in {page}", page)]
    return [*proofs, Link("Show in the trace", PAGES["trace"], op, wait)]
