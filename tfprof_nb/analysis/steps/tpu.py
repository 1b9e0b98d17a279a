"""Steps of TPU programs: from the lines that XLA writes for each core, not from the host's marks.

As in XProf, a step of several cores lasts as long as its longest core, waits for infeed as long as the core that waits
longest, and computes as long as the core that computes least; the rest is idle time. Unlike there, collectives
and the waits for asynchronous copies are no compute, and idle time is never taken for infeed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import on_instruction_line
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.tpu_spans import steps_of_instructions, whole_steps

_COLLECTIVES = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast"),
    *("ragged-all-to-all", "megascale"),
)
# Categories of instructions as XLA names them; all others compute.
_KINDS = {
    "infeed": ("infeed",),
    "outfeed": ("outfeed",),
    "collectives": _COLLECTIVES,
    "to_device": ("copy-start", "copy-done", "async-copy"),
}


def tpu_breakdown(forest: Forest, spans: pd.DataFrame) -> pd.DataFrame:
    """Divide the time of each step: ``start_ms step_ms``, `PARTS`, ``warm_up``, in the order of `whole_steps`."""
    cores = _by_core(forest, spans)
    busy = cores["compute"] + cores["collectives"] + cores["to_device"]
    least = busy.groupby(cores["step"]).idxmin()
    by_step = cores.groupby("step")
    longest, infeed, outfeed = by_step["length"].max(), by_step["infeed"].max(), by_step["outfeed"].mean()
    whole = whole_steps(spans)
    order = whole["group"].to_numpy()
    table = pd.DataFrame(0.0, index=range(len(whole)), columns=["start_ms", "step_ms", *PARTS])
    table["start_ms"] = whole["start_ps"] / PS_PER_MS
    table["step_ms"] = longest[order].to_numpy() / PS_PER_MS
    table["input_ms"] = infeed[order].to_numpy() / PS_PER_MS
    table["output_ms"] = outfeed[order].to_numpy() / PS_PER_MS
    for part in ("compute", "collectives", "to_device"):
        table[f"device_{part}_ms"] = cores.loc[least[order], part].to_numpy() / PS_PER_MS
    used = table[[part for part in PARTS if part != "other_ms"]].sum(axis=1)
    table["other_ms"] = (table["step_ms"] - used).clip(lower=0)
    return table.assign(warm_up=False)


def _by_core(forest: Forest, spans: pd.DataFrame) -> pd.DataFrame:
    """Return each core's steps with the time (ps) in ``infeed outfeed collectives to_device compute``."""
    events, row = steps_of_instructions(forest, spans)
    on_line = on_instruction_line(forest)[events]
    events, row = events[on_line], row[on_line]
    self_ps = forest.nesting.self_ps[events]
    category, texts = pd.factorize(_categories(forest, events))
    kind = np.array([_kind(str(text)) for text in texts], dtype=object)[category]
    times = pd.DataFrame({"row": row, "kind": kind, "self_ps": self_ps}).pivot_table(
        index="row", columns="kind", values="self_ps", aggfunc="sum", fill_value=0
    )
    times = times.reindex(index=spans.index, columns=[*_KINDS, "compute"], fill_value=0)
    return spans[["step"]].assign(length=spans["end_ps"] - spans["start_ps"]).join(times)


def _categories(forest: Forest, events: Int64) -> pd.Series[str]:
    """Return XLA's category of each instruction, or its name where the file has none."""
    host = forest.host
    categories = pd.Series(forest.texts_at("hlo_category", events), dtype=object)
    names = pd.Series(host.display_names[host.metadata[events]], dtype=object).astype(str).str.removeprefix("%")
    return categories.where(categories != "", names)


def _kind(category: str) -> str:
    return next((kind for kind, starts in _KINDS.items() if category.startswith(starts)), "compute")
