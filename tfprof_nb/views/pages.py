"""The dashboard's pages: their names, by the result that each shows, and the tabs that they are pages of."""

import math
from typing import Any

from tfprof_nb._units import PS_PER_MS
from tfprof_nb.render.panels import Link

_TABS = {
    "Answer": {"overview": "Answer", "advice": "Advice"},
    "Steps": {"steps": "Steps", "pods": "Pods"},
    "Code": {"source": "Lines", "python": "Python", "functions": "Functions"},
    "Model": {"layers": "Layers", "ops": "Ops", "kernels": "Kernels", "graph": "Graph"},
    "Input": {"input_pipeline": "Waiting", "tf_data": "tf.data"},
    "Memory": {"memory": "Memory"},
    "Timeline": {"trace": "Trace", "flame": "Flame graph", "breakdown": "Breakdown"},
}
PAGES = {name: page for pages in _TABS.values() for name, page in pages.items()}
TAB_OF = {name: tab for tab, pages in _TABS.items() for name in pages}


def links_of(finding: dict[Any, Any]) -> list[Link]:
    """Lead from a finding to the page that proves it, and to the event in the trace that shows it best."""
    op, proof, page = finding["op_name"] or None, finding["proved_by"], PAGES[finding["proved_by"]]
    if math.isnan(finding["start_ms"]):
        return [Link("Open the trace" if proof == "trace" else f"Show in {page}", page, op)]
    start = int(finding["start_ms"] * PS_PER_MS)
    wait = (start, start + int(finding["duration_ms"] * PS_PER_MS))
    proofs = [] if proof == "trace" else [Link(f"Show in {page}", page)]
    return [*proofs, Link("Show in the trace", PAGES["trace"], op, wait)]
