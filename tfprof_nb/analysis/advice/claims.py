"""Which part of the cell's time each finding explains, and how much of the cell that is.

Severity follows from that, and order: what makes steps slow matters little where steps are little of the cell.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import at_most, severity_of
from tfprof_nb.analysis.advice.rule import IN_TENSORFLOW, Finding, GainOf, Rule, Severity
from tfprof_nb.analysis.breakdown.code_of_samples import TENSORFLOW

# The kinds of nodes of `p.breakdown` that rules of a group explain.
_KINDS: dict[str, tuple[str, ...]] = {
    "input": ("wait", "start"),
    "python": ("python", IN_TENSORFLOW, "callback", "keras", "load", "save", "op", "copy", "phase"),
    "graph": ("layer", "optimizer", "op"),
    "tracing": ("trace", "compile"),
    "devices": ("layer", "optimizer", "op", "copy"),
    "memory": (),
    "sessions": ("session",),
}
# Groups whose findings are about no more time than such nodes take.
_BOUNDED = ("input", "graph", "sessions")
# What happens at a line once, whatever the line does in each step.
_ONCE = ("trace", "compile")
_RANKS: dict[Severity, int] = {"high": 0, "medium": 1, "info": 2}
# Of the cell, in percent: the least that a finding of a severity is about.
_HIGH_PERCENT, _MEDIUM_PERCENT = 15.0, 5.0


def claimed(findings: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """Give each finding the node that it explains, and its share of the cell.

    A finding that is about little of the cell is not severe. The first step, which traces, is no part of the cell that
    shares refer to, unless the finding is about tracing: longer training hides it.
    """
    tree = evidence.breakdown().table
    share_of = _shares(evidence)
    return [_with_claim(finding, tree, share_of) for finding in findings]


def _shares(evidence: Evidence) -> Callable[[GainOf, bool], float]:
    """Return which share of the cell a part of the program takes; both with or without the steps that warm up."""
    summary = evidence.overview.summary
    whole_ms, warm_up_ms = float(summary["capture_ms"]), float(np.nan_to_num(summary["warm_up_steps_ms"]))
    parts_ms = {"steps": float(summary["measured_steps_ms"]), "training": training_ms(evidence), "cell": whole_ms}

    def share(part: GainOf, with_warm_up: bool) -> float:
        cell_ms = whole_ms if with_warm_up else whole_ms - warm_up_ms
        part_ms = cell_ms if part == "cell" else parts_ms[part] + with_warm_up * warm_up_ms
        return min(1.0, part_ms / cell_ms) if cell_ms > 0 and part_ms > 0 else 1.0

    return share


def _with_claim(finding: Finding, tree: pd.DataFrame, share_of: Callable[[GainOf, bool], float]) -> Finding:
    rule = rules()[finding.rule]
    kinds = _explained_kinds(rule)
    part = share_of(finding.gain_of, "trace" in kinds)
    about = finding.percent if math.isnan(finding.estimated_gain_percent) else finding.estimated_gain_percent
    percent = math.nan if rule.group == "memory" else about * part
    node, most_percent = _claim(finding, tree, rule)
    if math.isnan(percent) and math.isnan(most_percent):
        return replace(finding, node=node)
    cell_percent = most_percent if rule.all_of else float(np.nanmin((percent, most_percent, 100.0)))
    of_cell = severity_of(cell_percent, _MEDIUM_PERCENT, _HIGH_PERCENT)
    most_saved = at_most(min(100.0, cell_percent / max(part, 1e-9)))
    return replace(
        finding,
        node=node,
        cell_percent=cell_percent,
        estimated_gain_percent=min(finding.estimated_gain_percent, 100 * cell_percent / max(100 * part, 1e-9))
        if finding.estimated_gain_percent > 0
        else finding.estimated_gain_percent,
        severity=of_cell if rule.all_of else max(finding.severity, of_cell, key=_RANKS.__getitem__),
        gain_low_percent=min(finding.gain_low_percent, most_saved),
        gain_high_percent=min(finding.gain_high_percent, most_saved),
    )


def explained_by(rule: Rule, nodes: pd.DataFrame) -> "pd.Series[bool]":
    """Return which nodes of `p.breakdown` are of the kinds whose time a rule's cases are about."""
    kind = nodes["kind"].mask(nodes["name"].str.startswith(f"{TENSORFLOW}."), IN_TENSORFLOW)
    return kind.isin(_explained_kinds(rule))


def leaves_out_tracing(rule: Rule) -> bool:
    """Whether the shares of the cell that a rule's findings tell are of the time without the steps that trace."""
    return (rule.of != "cell" or rule.without_tracing) and "trace" not in _explained_kinds(rule)


def _explained_kinds(rule: Rule) -> tuple[str, ...]:
    return rule.explains or _KINDS[rule.group]


def _claim(finding: Finding, tree: pd.DataFrame, rule: Rule) -> tuple[str, float]:
    """Return the node that a finding explains, and the most that it can be about, in percent of the cell.

    The node is the largest at the finding's place, or the largest of the kinds that the rule explains. A rule that
    names its own kinds only claims nodes of these. A finding takes no more than all nodes of its kinds; where only the
    kinds of the rule's group are known, and it has no estimate of its own, no more than the nodes at its place.
    """
    below = tree[(tree["parent"] != "") & tree["id"].str.contains(f"/{rule.phase}", regex=False)]
    explained = explained_by(rule, below)
    of_kind = _outermost(below[explained])
    bounded = bool(rule.explains) or rule.group in _BOUNDED
    others = below["kind"].isin(_ONCE) & ~explained & bounded
    placed = _outermost(below[(below["place"] == finding.place) & ~others & bool(finding.place)])
    if of_kind.empty and (placed.empty or rule.group == "memory"):
        return "", math.nan
    of_kind_share, placed_share = float(of_kind["share"].sum()), float(placed["share"].sum())
    nodes = of_kind if placed.empty or (bounded and of_kind_share > placed_share) else placed
    if rule.explains and not of_kind.empty:
        there = of_kind[of_kind["place"] == finding.place]
        nodes = of_kind if there.empty else there
    node = str(nodes["id"].iloc[int(nodes["total_ms"].to_numpy().argmax())])
    if bounded:
        return node, 100 * (of_kind_share if rule.explains else max(of_kind_share, placed_share))
    known = not math.isnan(finding.estimated_gain_percent)
    return node, math.nan if known or placed.empty else 100 * placed_share


def _outermost(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the nodes that are in no other one of these."""
    ids = set(nodes["id"])
    inside = [any(above in ids for above in _ancestors(identity)) for identity in nodes["id"]]
    return nodes[~np.array(inside, dtype=bool)]


def _ancestors(identity: str) -> Iterator[str]:
    """Return the ids of the nodes above one."""
    return (identity[:place] for place, letter in enumerate(identity) if letter == "/")
