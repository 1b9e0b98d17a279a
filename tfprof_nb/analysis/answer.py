"""What the first screen says: the finding that explains the largest cost of the cell, else that cost by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.advice.claims import explained_by
from tfprof_nb.analysis.breakdown.breakdown import ONCE_KINDS, Breakdown
from tfprof_nb.analysis.source.changed_text import changed_text
from tfprof_nb.analysis.source.code import Code, line_at

# What a program is for: the ops of its model, where no change is known that makes them fewer.
MODEL_KINDS = ("layer", "optimizer", "op")
# Ops that are none of the model's work: they write, look at values or run Python.
_NOT_OF_MODEL = re.compile(
    r"\w*Summary(?:V2)?|(?:Eager)?PyFunc(?:Stateless)?|Print(?:V2)?|CheckNumerics(?:V2)?|WriteFile|SaveV2|RestoreV2"
)
# What happens once, however long a program trains.
_ALL_OF = {"trace": "tracing", "compile": "compiling by XLA"}
_MIN_SHARE = 0.2  # of the cell: a cost that is told although no rule explains it
_NEAR = 0.75  # of the time of the finding that is about most
_MIN_PERCENT, _MIN_GAIN_PERCENT = 15.0, 5.0  # of the cell: what a finding that is the answer is about, and could save
_NEARLY_ALL = 0.7  # of what starts and ends passes, or of what happens once: then that is named
_OF_MOST = 0.4  # of the cell: what a finding is about that leads although nothing tells its gain
_MOSTLY = 0.5  # of a part of the kinds that a finding explains: it then is the explanation
_MAIN_SHARE = 0.5  # of the cell: from here on the model's own work is most of it
_CALM = ("healthy", "once", "spread")  # kinds of answers beside which memory that grows is what to say
_CANDIDATES, _MAX_CODE = 12, 80
_AGAIN = 3  # calls that trace at one place: not once then
_ENDS = "/end"  # of iterators: how long these take is chance
STARTS = "starting and ending passes over the data"


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
    line
        Where no part is large, the line of the program with the most time: its ``place``, ``code`` and ``share``.
    whole
        What shares are shares of: a cell, or a capture of which no cell is known.
    steady_share
        The share of the cell, 0 to 1, without the steps that trace: of that, shares of most findings are.
    diffs
        What changes do, by the row of the advice.
    """

    kind: Literal["finding", "cost", "healthy", "once", "spread", "unknown"]
    finding: int | None
    node: dict[str, Any] | None
    model_share: float
    line: dict[str, Any] | None = None
    whole: Literal["cell", "capture"] = "cell"
    steady_share: float = 1.0
    diffs: Mapping[int, Diff] = field(default_factory=dict)


def answer(tree: Breakdown, advice: Advice, code: Code, steady_ms: float = math.inf) -> Answer:
    """Choose what to say first, and show each change as a diff."""
    changes = enumerate(zip(advice.table["place"], advice.table["change"], strict=True))
    diffs = {number: _diff(code, place, change) for number, (place, change) in changes if change}
    whole: Literal["cell", "capture"] = "cell" if code.text("cell") else "capture"
    chosen = _chosen(tree, advice, code)
    told = _growing(advice)
    if told is None:
        told = _of_most(advice, tree)
    if chosen.kind in _CALM and told is not None:
        chosen = replace(chosen, kind="finding", finding=told)
    steady = min(1.0, steady_ms / max(tree.summary["cell_ms"], 1e-9)) if steady_ms > 0 else 1.0
    return replace(chosen, whole=whole, steady_share=steady, diffs=diffs)


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
    added = first == last  # shows what it stands below; what decorates, what it stands above
    decorates = added and new[end - 1].lstrip().startswith("@")
    above = 1 if added and not decorates and first and old[first - 1].strip() else 0
    below = 1 if added and not above and last < len(old) else 0
    return Diff("\n".join(old[first - above : last + below]), "\n".join(new[start - above : end + below]), changed)


def _chosen(tree: Breakdown, advice: Advice, code: Code) -> Answer:
    """Choose what to say first.

    A finding leads if its change could save enough of the cell, and no part of the cell costs more than it is about.
    What comes by chance is said where nothing else takes as long.
    """
    table, cell_ms = tree.table, max(tree.summary["cell_ms"], 1e-9)
    model_share = float(table.loc[_of_model(table), "self_ms"].sum()) / cell_ms
    lead, costs = _leading(advice), _costs(tree)
    severe = advice.table[advice.table["severity"] != "info"]
    explained = _explained(costs, severe)
    by_chance = costs["id"].str.endswith(_ENDS)
    of_once = costs["kind"].isin(ONCE_KINDS) & (costs["count"] < _AGAIN)
    of_model = _of_model(costs)
    other = ~of_model & ~of_once & ~by_chance
    free = costs[other & ~explained & (costs["share"] >= _MIN_SHARE)]
    own, once = costs[of_model], costs[of_once]
    if lead is not None:
        row = advice.table.iloc[lead]
        about = 1.0 if math.isnan(row["cell_percent"]) else float(row["cell_percent"]) / 100
        larger = free[free["share"] > np.where(explained_by(rules()[row["rule"]], free), about / _MOSTLY, about)]
        if larger.empty:
            return Answer("finding", lead, _row(table[table["id"] == row["node"]], code), model_share)
    chance = advice.table["rule"].map(lambda rule: rules()[rule].order == "by_chance").to_numpy(bool)
    if lead is None and chance.any() and len(costs) and by_chance.iloc[0] and costs["share"].iloc[0] >= _MIN_SHARE:
        return Answer("finding", _by_chance(advice, tree, int(chance.argmax())), _row(costs, code), model_share)
    if len(free):
        return Answer("cost", lead, _row(free, code), model_share)
    if model_share >= _MAIN_SHARE:
        of_own = _about(advice, str(own["id"].iloc[0])) if len(own) else None
        return Answer("healthy" if of_own is None else "finding", of_own, _row(own, code), model_share)
    if once["share"].sum() >= _MIN_SHARE:
        return Answer("once", lead, _with_others(_row(once, code) or {}, table, cell_ms), model_share)
    line = {"place": tree.summary.get("line", ""), "share": tree.summary.get("line_share", 0.0)}
    told = _row(pd.DataFrame([line]), code) if line["place"] else None
    return Answer("spread" if len(costs) else "unknown", lead, _row(costs, code), model_share, told)


def _explained(costs: pd.DataFrame, findings: pd.DataFrame) -> pd.Series[bool]:
    """Return which costs a finding explains: one on a small part of a cost leaves the rest of it to be told."""
    about = findings["cell_percent"].fillna(100.0) / 100
    told = [
        any(
            _touches(node, {str(other)}) and part >= _MOSTLY * share
            for other, part in zip(findings["node"], about, strict=True)
        )
        for node, share in zip(costs["id"], costs["share"], strict=True)
    ]
    return pd.Series(told, costs.index, dtype=bool)


def _of_model(nodes: pd.DataFrame) -> pd.Series[bool]:
    """Return which nodes are the model's own work."""
    return nodes["kind"].isin(MODEL_KINDS) & ~nodes["name"].str.fullmatch(_NOT_OF_MODEL)


def _with_others(once: dict[str, Any], table: pd.DataFrame, cell_ms: float) -> dict[str, Any]:
    """Return what happens once, together with the others of its kind if these take long too."""
    alike = table[(table["kind"] == once["kind"]) & (table["self_ms"] > 0) & (table["count"] < _AGAIN)]
    total_ms = float(alike["self_ms"].sum())
    if once["total_ms"] >= _NEARLY_ALL * total_ms:
        return once
    whole = {"name": _ALL_OF[once["kind"]], "total_ms": total_ms, "share": total_ms / cell_ms}
    return once | whole | {"count": int(alike["count"].sum())}


def _growing(advice: Advice) -> int | None:
    """Return the finding that names what memory grows by, if it is severe."""
    table = advice.table
    of_memory = table["rule"].map(lambda rule: rules()[rule].group == "memory").astype(bool)
    named = (of_memory & (table["severity"] == "high") & (table["op_name"] != "")).to_numpy()
    return int(named.argmax()) if named.any() else None


def _of_most(advice: Advice, tree: Breakdown) -> int | None:
    """Return the finding whose change is known, and that is about most of the cell, if its gain could not be told.

    It then depends on how long the program trains, as that of compiling does.
    """
    table = advice.table
    once = float(tree.table.loc[tree.table["kind"].isin(ONCE_KINDS), "share"].sum())
    open_gain = table["estimated_gain_percent"].isna() & (table["change"] != "")
    found = (open_gain & (table["cell_percent"] >= 100 * max(once, _OF_MOST))).to_numpy()
    return int(found.argmax()) if found.any() else None


def _by_chance(advice: Advice, tree: Breakdown, waits: int) -> int:
    """Return the finding on waits that come by chance, or one that is about nearly as much and true of each run."""
    most, about = _of_most(advice, tree), advice.table["cell_percent"]
    return waits if most is None or about[most] < _NEAR * about[waits] else most


def _about(advice: Advice, node: str) -> int | None:
    """Return the first severe finding that explains a node, and could save enough of the cell."""
    table = advice.table
    explains = table["node"].map(lambda other: _touches(node, {str(other)})).astype(bool)
    found = (explains & (table["severity"] != "info") & (_saved_percent(table) >= _MIN_GAIN_PERCENT)).to_numpy()
    return int(found.argmax()) if found.any() else None


def _saved_percent(table: pd.DataFrame) -> pd.Series[float]:
    """Return the most of the cell, in percent, that each finding's change could save."""
    saved: pd.Series[float] = table["gain_high_percent"] * table["cell_percent"] / table["estimated_gain_percent"]
    return saved


def _costs(tree: Breakdown) -> pd.DataFrame:
    """Return the largest parts of the cell, and their ``once_ms``, which their time does not include.

    What starts and ends passes over the data is one part of its phase.
    """
    table, largest = tree.table, tree.largest(_CANDIDATES)
    of_kind = table[table["kind"] == "start"]
    starts = of_kind[~of_kind["parent"].isin(of_kind["id"])]
    together = [
        {**of_phase.iloc[0].to_dict(), "name": STARTS, "total_ms": total, "share": float(of_phase["share"].sum())}
        for _, of_phase in starts.groupby(starts["id"].str.split("/").str[1], sort=False)
        if (total := float(of_phase["total_ms"].sum())) > 0 and float(of_phase["total_ms"].max()) < _NEARLY_ALL * total
    ]
    costs = pd.concat([largest, pd.DataFrame(together, columns=largest.columns)]) if together else largest
    ends = costs[costs["id"].str.endswith(_ENDS)]  # those at one line are one part: some fall behind the last step
    sums = ends.groupby("place")[["total_ms", "share"]].transform("sum")
    costs = pd.concat([costs.drop(ends.index), ends.assign(**sums).drop_duplicates("place")])
    inside = [_once_in(row, table) for row in costs[costs["kind"] == "phase"].to_dict("records")]
    costs = pd.concat([costs, *(once[once["count"] >= _AGAIN] for once in inside)])  # a further epoch hides none
    costs = pd.DataFrame([_without_once(row, table) for row in costs.to_dict("records")], columns=[*costs, "once_ms"])
    return costs.sort_values("share", ascending=False, kind="stable").drop_duplicates("id")


def _without_once(row: dict[Any, Any], table: pd.DataFrame) -> dict[Any, Any]:
    """Return a part of the cell without what happens once in it, such as the tracing of a validation's function."""
    once_ms = float(_once_in(row, table)["self_ms"].sum()) if row["kind"] == "phase" else 0.0
    left = 1 - once_ms / row["total_ms"] if row["total_ms"] > 0 else 1.0
    return row | {"total_ms": row["total_ms"] * left, "share": row["share"] * left, "once_ms": once_ms}


def _once_in(phase: Mapping[Any, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Return what happens in a phase less often than that runs, such as once for each model that is compiled."""
    inside = table[table["id"].str.startswith(f"{phase['id']}/") & table["kind"].isin(ONCE_KINDS)]
    seldom: pd.DataFrame = inside[inside["count"] < max(_AGAIN, phase["count"])]
    return seldom


def _leading(advice: Advice) -> int | None:
    """Return the first finding that could save enough of the cell's time to be the answer, and is about most of it."""
    table = advice.table
    about = table["cell_percent"].fillna(100.0)
    saved = _saved_percent(table)
    costs_time = table["rule"].map(lambda rule: rules()[rule].group != "memory").astype(bool)
    large = ~(table["cell_percent"] < _MIN_PERCENT) & ~(saved < _MIN_GAIN_PERCENT)
    may = (costs_time & large & (table["severity"] != "info")).to_numpy()
    near = may & (about >= _NEAR * about[may].max()).to_numpy() if may.any() else may
    return int(near.argmax()) if near.any() else None


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
