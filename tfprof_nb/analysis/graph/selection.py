"""From a tree of nodes and options to the rows that are shown: counting, starting, showing, hiding, trimming, ordering.

The rules are tfprof's (tensorflow/core/profiler/internal, version 2.21), its exceptions included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64, Objects
from tfprof_nb.analysis.graph.model import COLUMN
from tfprof_nb.analysis.graph.options import EVERYTHING, GraphOptions

ROOT = "_TFProfRoot"
_METRIC_OF = {"params": "parameters", "occurrence": "definitions"}
_LEAST_TOTALS = ("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros", "cpu_micros")


@dataclass(frozen=True, eq=False)
class Tree:
    """Rows in preorder: the root is row 0, and every row comes after its parent.

    Attributes
    ----------
    names
        What each row is called.
    parent
        The row of the parent; -1 of the root.
    own
        The metrics of each row itself (`model.METRICS`).
    counts
        Whether the types of a row's nodes are among those that are to count.
    total
        The metrics of each row with all that count below it; set by `_counted`.
    rows
        The number that each row had before some were taken.
    """

    names: Objects
    parent: Int64
    own: Floats
    counts: Bools
    total: Floats
    rows: Int64

    @classmethod
    def of(cls, names: Sequence[str], parent: Sequence[int], own: Floats, counts: Bools) -> Tree:
        """Return a tree of all rows; the totals are not summed yet."""
        rows = np.arange(len(names))
        return cls(np.array(names, object), np.array(parent, np.int64), own, counts, own, rows)

    def take(self, rows: Int64, parent: Int64) -> Tree:
        """Return some rows, with the parents that are given by their old numbers."""
        place = np.full(len(self.names) + 1, -1)
        place[rows] = np.arange(len(rows))
        return Tree(
            self.names[rows], place[parent], self.own[rows], self.counts[rows], self.total[rows], self.rows[rows]
        )


@dataclass(frozen=True)
class Rules:
    """In what the views differ.

    Attributes
    ----------
    lifts
        Nodes that do not count go, and what is below them moves up (graph view); else they stay as long as something
        below counts, and themselves are summed with it.
    grouped
        Rows stand for many nodes (op and code views): least parameters and float ops are those in total, runs are not
        looked at, and what is trimmed is not shown itself.
    """

    lifts: bool = False
    grouped: bool = False


def shown(tree: Tree, options: GraphOptions, rules: Rules) -> tuple[Tree, Int64]:
    """Return the rows to show in their order, and how deep each of them lies."""
    tree = _started(_counted(tree, rules), options.start_name_regexes)
    rows = np.flatnonzero(_shows(tree, options, rules))
    parent = _nearest(tree.parent, rows)
    tree = tree.take(rows, parent[rows])
    if options.account_displayed_op_only and not rules.grouped:
        tree = replace(tree, total=_summed(tree.parent, tree.own))
    return _ordered(tree, options.order_by)


def matches(names: Sequence[str], regexes: Sequence[str]) -> Bools:
    """Return which names are matched as a whole by one of the regular expressions."""
    if not regexes:
        return np.zeros(len(names), np.bool_)
    if tuple(regexes) == EVERYTHING:
        return np.ones(len(names), np.bool_)
    match = re.compile("|".join(f"(?:{regex})" for regex in regexes)).fullmatch
    return np.array([match(name) is not None for name in names], np.bool_)


def _summed(parent: Int64, own: Floats) -> Floats:
    """Add to each row all rows below it: from the deepest level up."""
    total = own.copy()
    depth = depths(parent)
    order = np.argsort(depth, kind="stable")
    levels = np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)
    for level in reversed(levels[1:]):
        np.add.at(total, parent[level], total[level])
    return total


def depths(parent: Int64) -> Int64:
    """Return how deep each row lies, the root at 0."""
    depth = np.zeros(len(parent), np.int64)
    for row, above in enumerate(parent.tolist()):
        depth[row] = depth[above] + 1 if above >= 0 else 0
    return depth


def _nearest(parent: Int64, rows: Int64) -> Int64:
    """Return for each row its nearest ancestor among ``rows``, -1 if there is none."""
    chosen = np.zeros(len(parent), np.bool_)
    chosen[rows] = True
    nearest = parent.tolist()
    for row, above in enumerate(parent.tolist()):
        nearest[row] = above if above < 0 or chosen[above] else nearest[above]
    return np.array(nearest, np.int64)


def _counted(tree: Tree, rules: Rules) -> Tree:
    """Leave out what does not count, and sum."""
    counts = tree.counts.copy()
    counts[0] = True
    if not rules.lifts:
        for row in range(len(counts) - 1, 0, -1):
            if counts[row]:
                counts[tree.parent[row]] = True
    rows = np.flatnonzero(counts)
    kept = tree.take(rows, _nearest(tree.parent, rows)[rows])
    return replace(kept, total=_summed(kept.parent, kept.own))


def _started(tree: Tree, regexes: tuple[str, ...]) -> Tree:
    """Put what the regular expressions match right under the root, and leave out the rest."""
    if regexes == EVERYTHING:
        return tree
    start = matches(tree.names.tolist(), regexes)
    start[0] = False
    inside = np.zeros(len(start), np.bool_)
    parent = tree.parent.copy()
    for row, above in enumerate(tree.parent.tolist()):
        if above >= 0 and start[row] and not inside[above]:
            parent[row] = 0
        inside[row] = above >= 0 and (start[row] or inside[above])
    inside[0] = True
    rows = np.flatnonzero(inside)
    return tree.take(rows, parent[rows])


def _shows(tree: Tree, options: GraphOptions, rules: Rules) -> Bools:
    names = tree.names.tolist()
    depth = depths(tree.parent) + 1
    shows = wanted(names, tree.own, tree.total, options, rules) & (depth <= options.max_depth)
    ends = matches(names, options.trim_name_regexes) | (depth > options.max_depth)
    reached = np.ones(len(names), np.bool_)
    for row, above in enumerate(tree.parent.tolist()):
        reached[row] = above < 0 or (reached[above] and not ends[row if rules.grouped else above])
    shows &= reached
    shows[0] = True
    return shows


def wanted(names: Sequence[str], own: Floats, total: Floats, options: GraphOptions, rules: Rules) -> Bools:
    """Return which rows have enough of everything, and a name that is to be shown."""
    wanted = matches(names, options.show_name_regexes) & ~matches(names, options.hide_name_regexes)
    for name in _LEAST_TOTALS:
        wanted &= total[:, COLUMN[name]] >= getattr(options, f"min_{name}")
    of = total if rules.grouped else own
    wanted &= of[:, COLUMN["parameters"]] >= options.min_params
    wanted &= of[:, COLUMN["float_ops"]] >= options.min_float_ops
    if not rules.grouped:
        wanted &= own[:, COLUMN["occurrences"]] >= options.min_occurrence
    return wanted


def order(names: Objects, metrics: Floats, order_by: str) -> Int64:
    """Return rows by an attribute, the largest first; by name, the first letters first."""
    if order_by == "name":
        return np.argsort(names.astype(str), kind="stable")
    return np.argsort(-metrics[:, COLUMN[_METRIC_OF.get(order_by, order_by)]], kind="stable")


def _ordered(tree: Tree, order_by: str) -> tuple[Tree, Int64]:
    """Order siblings, and return the rows in preorder with their depths."""
    by = "name" if order_by == "occurrence" else order_by
    children: list[list[int]] = [[] for _ in tree.names]
    for row in order(tree.names, tree.total, by).tolist():
        if tree.parent[row] >= 0:
            children[tree.parent[row]].append(row)
    preorder, stack = [], [0]
    while stack:
        row = stack.pop()
        preorder.append(row)
        stack.extend(reversed(children[row]))
    rows = np.array(preorder, np.int64)
    ordered = tree.take(rows, tree.parent[rows])
    return ordered, depths(ordered.parent)
