"""What the first screen says: the finding that explains the largest cost of the cell, else that cost by its name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.breakdown.breakdown import Breakdown

# What a program is for: the ops of its model, where no change is known that makes them fewer.
MODEL_KINDS = ("layer", "optimizer", "op")
# What happens once, however long a program trains.
ONCE_KINDS = ("trace", "compile")
_MIN_SHARE = 0.2  # of the cell: a cost that is told although no rule explains it
_MIN_GAIN_PERCENT = 10.0  # of the cell: the least that makes a finding the answer
_MAIN_SHARE = 0.5  # of the cell: from here on the model's own work is most of it
_CANDIDATES = 12


@dataclass(frozen=True)
class Answer:
    """The answer of a profile.

    Attributes
    ----------
    kind
        ``finding``: a rule explains the largest cost; ``cost``: none does; ``healthy``: most of the time is the
        model's own work; ``once``: most is what happens once, such as tracing; ``spread``: no part is large;
        ``unknown``: nothing is known of the cell's time.
    finding
        Which row of the advice leads; None if none does.
    node
        The row of the breakdown that the answer is about.
    model_share
        The share of the cell, 0 to 1, of the model's own work.
    """

    kind: Literal["finding", "cost", "healthy", "once", "spread", "unknown"]
    finding: int | None
    node: dict[str, Any] | None
    model_share: float


def answer(tree: Breakdown, advice: Advice) -> Answer:
    """Choose what to say first.

    A finding leads if its change could save enough of the cell, and no part of the cell costs more than it is about.
    """
    table = tree.table
    model_share = float(table.loc[table["kind"].isin(MODEL_KINDS), "self_ms"].sum()) / max(
        tree.summary["cell_ms"], 1e-9
    )
    lead = _leading(advice)
    costs = tree.largest(_CANDIDATES)
    claimed = set(advice.table["node"])
    free = costs[
        ~costs["kind"].isin((*MODEL_KINDS, *ONCE_KINDS)) & ~costs["id"].map(lambda node: _touches(node, claimed))
    ]
    cost = free.iloc[0].to_dict() if len(free) and free["share"].iloc[0] >= _MIN_SHARE else None
    if lead is not None and (cost is None or not cost["share"] > advice.table["cell_percent"].iloc[lead] / 100):
        return Answer("finding", lead, _row(table, str(advice.table["node"].iloc[lead])), model_share)
    if cost is not None:
        return Answer("cost", lead, cost, model_share)
    if model_share >= _MAIN_SHARE:
        own = costs[costs["kind"].isin(MODEL_KINDS)]
        return Answer("healthy", lead, own.iloc[0].to_dict() if len(own) else None, model_share)
    once = costs[costs["kind"].isin(ONCE_KINDS)]
    if len(once) and once["share"].sum() >= _MIN_SHARE:
        return Answer("once", lead, once.iloc[0].to_dict(), model_share)
    if costs.empty:
        return Answer("unknown", lead, None, model_share)
    return Answer("spread", lead, costs.iloc[0].to_dict(), model_share)


def _leading(advice: Advice) -> int | None:
    """Return the first finding that could save enough of the cell to be the answer."""
    table = advice.table
    for number, row in enumerate(table.to_dict("records")):
        saved = row["gain_high_percent"] * row["cell_percent"] / (row["estimated_gain_percent"] or math.nan)
        if row["severity"] != "info" and not saved < _MIN_GAIN_PERCENT:
            return number
    return None


def _touches(node: str, claimed: set[str]) -> bool:
    """Whether a node is a claimed one, part of one, or has one as its part."""
    return any(
        node == other or node.startswith(f"{other}/") or other.startswith(f"{node}/") for other in claimed if other
    )


def _row(table: pd.DataFrame, node: str) -> dict[str, Any] | None:
    rows = table[table["id"] == node]
    return rows.iloc[0].to_dict() if len(rows) else None
