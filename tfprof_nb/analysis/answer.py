"""What the first screen says: the finding that explains the largest cost of the cell, else that cost by its name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.analysis.source.changed_text import changed_text
from tfprof_nb.analysis.source.code import Code, line_at

# What a program is for: the ops of its model, where no change is known that makes them fewer.
MODEL_KINDS = ("layer", "optimizer", "op")
# What happens once, however long a program trains.
ONCE_KINDS = ("trace", "compile")
_MIN_SHARE = 0.2  # of the cell: a cost that is told although no rule explains it
_MIN_PERCENT, _MIN_GAIN_PERCENT = 15.0, 10.0  # of the cell: what a finding that is the answer is about, and could save
_MAIN_SHARE = 0.5  # of the cell: from here on the model's own work is most of it
_CANDIDATES, _MAX_CODE = 12, 80
STARTS = "starting passes over the data"


class Diff(NamedTuple):
    """The lines that a change replaces, those that it puts there, and the whole changed text of the file or cell."""

    old: str = ""
    new: str = ""
    text: str = ""


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
        The row of the breakdown that the answer is about, with the ``code`` at its place.
    model_share
        The share of the cell, 0 to 1, of the model's own work.
    whole
        What shares are shares of: a cell, or a capture of which no cell is known.
    diffs
        What changes do, by the row of the advice.
    """

    kind: Literal["finding", "cost", "healthy", "once", "spread", "unknown"]
    finding: int | None
    node: dict[str, Any] | None
    model_share: float
    whole: Literal["cell", "capture"] = "cell"
    diffs: Mapping[int, Diff] = field(default_factory=dict)


def answer(tree: Breakdown, advice: Advice, code: Code) -> Answer:
    """Choose what to say first, and show each change as a diff."""
    changes = enumerate(zip(advice.table["place"], advice.table["change"], strict=True))
    diffs = {number: _diff(code, place, change) for number, (place, change) in changes if change}
    whole: Literal["cell", "capture"] = "cell" if code.text("cell") else "capture"
    return replace(_chosen(tree, advice, code), whole=whole, diffs=diffs)


def _diff(code: Code, place: str, change: str) -> Diff:
    """Return what a change does; only its own code where the text is not known."""
    file, line = line_at(place)
    text = code.text(file)
    changed = changed_text(text, line, change).text
    if not changed:
        return Diff("", change)
    old, new = text.splitlines(), changed.splitlines()
    blocks = [block for block in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if block[0] != "equal"]
    (_, first, _, start, _), (_, _, last, _, end) = blocks[0], blocks[-1]
    above = 1 if first and first == last else 0  # what is only added shows what it stands below
    return Diff("\n".join(old[first - above : last]), "\n".join(new[start - above : end]), changed)


def _chosen(tree: Breakdown, advice: Advice, code: Code) -> Answer:
    """Choose what to say first.

    A finding leads if its change could save enough of the cell, and no part of the cell costs more than it is about.
    """
    table, cell_ms = tree.table, max(tree.summary["cell_ms"], 1e-9)
    model_share = float(table.loc[table["kind"].isin(MODEL_KINDS), "self_ms"].sum()) / cell_ms
    lead, costs = _leading(advice), _costs(tree)
    claimed = set(advice.table["node"])
    explained = costs["id"].map(lambda node: _touches(node, claimed)).astype(bool)
    free = costs[~costs["kind"].isin((*MODEL_KINDS, *ONCE_KINDS)) & ~explained & (costs["share"] >= _MIN_SHARE)]
    own, once = (costs[costs["kind"].isin(kinds)] for kinds in (MODEL_KINDS, ONCE_KINDS))
    about = float(advice.table["cell_percent"].iloc[lead]) / 100 if lead is not None else 0.0
    if lead is not None and not (len(free) and free["share"].iloc[0] > about):
        return Answer("finding", lead, _row(table[table["id"] == advice.table["node"].iloc[lead]], code), model_share)
    if len(free):
        return Answer("cost", lead, _row(free, code), model_share)
    if model_share >= _MAIN_SHARE:
        return Answer("healthy", lead, _row(own, code), model_share)
    if once["share"].sum() >= _MIN_SHARE:
        return Answer("once", lead, _row(once, code), model_share)
    return Answer("spread" if len(costs) else "unknown", lead, _row(costs, code), model_share)


def _costs(tree: Breakdown) -> pd.DataFrame:
    """Return the largest parts of the cell; what starts and ends passes over the data is one part of its phase."""
    table, largest = tree.table, tree.largest(_CANDIDATES)
    of_kind = table[table["kind"] == "start"]
    starts = of_kind[~of_kind["parent"].isin(of_kind["id"])]
    together = [
        {**of_phase.iloc[0].to_dict(), "name": STARTS, "total_ms": total, "share": float(of_phase["share"].sum())}
        for _, of_phase in starts.groupby(starts["id"].str.split("/").str[1], sort=False)
        if (total := float(of_phase["total_ms"].sum())) > 0 and len(of_phase) > 1
    ]
    costs = pd.concat([largest, pd.DataFrame(together, columns=largest.columns)]) if together else largest
    return costs.sort_values("share", ascending=False, kind="stable").drop_duplicates("id")


def _leading(advice: Advice) -> int | None:
    """Return the first finding that could save enough of the cell's time to be the answer."""
    table = advice.table
    for number, row in enumerate(table.to_dict("records")):
        saved = row["gain_high_percent"] * row["cell_percent"] / (row["estimated_gain_percent"] or math.nan)
        costs_time = rules()[row["rule"]].group != "memory"
        large = not (row["cell_percent"] < _MIN_PERCENT or saved < _MIN_GAIN_PERCENT)
        if costs_time and row["severity"] != "info" and large:
            return number
    return None


def _touches(node: str, claimed: set[str]) -> bool:
    """Whether a node is a claimed one, part of one, or has one as its part."""
    return any(
        node == other or node.startswith(f"{other}/") or other.startswith(f"{node}/") for other in claimed if other
    )


def _row(rows: pd.DataFrame, code: Code) -> dict[str, Any] | None:
    """Return the first row, with the code at its place; None if there is no row."""
    if rows.empty:
        return None
    row = {str(name): value for name, value in rows.iloc[0].to_dict().items()}
    place = code.of_this_run(str(row["place"]))
    return row | {"place": place, "code": _units.shorten(code.at(place), _MAX_CODE)}
