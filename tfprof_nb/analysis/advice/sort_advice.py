"""What to change about long rows that are sorted for their first few numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.sorts import only_first
from tfprof_nb.analysis.step_ops.shapes import last_dimension
from tfprof_nb.decode.sections.graphs import Graphs

_LONG, _FEW = 1000, 0.1  # numbers of a row; of these
_PICKS = ("StridedSlice", "Slice")

RULE = Rule(
    "sorted-for-few",
    "Long rows are sorted for their first few values",
    "Looks for rows of 1,000 values and more that are sorted as a whole (`tf.sort`, `tf.argsort`), where all that use "
    "the result take at most a tenth of each row.",
    "To sort a row costs much more than to find its largest values: `tf.math.top_k` leaves the others unsorted.",
    group="graph",
    page="ops",
    moderate=15.0,
    high=30.0,
    saved=(0.5, None),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


class _Sort(NamedTuple):
    """The node that sorts rows, their length, and how many of the sorted numbers are kept; 1 for single ones."""

    node: int
    length: int
    kept: int


def sort_findings(evidence: Evidence) -> list[Finding]:
    """Report rows that are sorted as a whole, though only their first numbers are used, if that takes much time."""
    ops = evidence.step_ops()
    found = _sorts(ops.graphs) if ops.steps else []
    if not found:
        return []
    own = np.zeros(len(ops.graphs.nodes), dtype=bool)
    own[[sort.node for sort in found]] = True
    percent = 100 * ops.share(ops.ran(own)).covered
    if percent < RULE.moderate:
        return []
    place = ops.place(ops.frame_of(found[0].node))
    at = place and f" ({place})"
    change = only_first(evidence.code, *line_at(place))
    several = found[0].kept > 1
    first = f"first {_units.count(found[0].kept)}" if several else "number at a single place"
    instead = f"`{_units.shorten(change, 120)}`" if change else "tf.math.top_k(x, k)"
    return [
        saving(
            RULE,
            percent,
            finding=f"Rows of {_units.count(found[0].length)} numbers are sorted for their {first}{at}",
            evidence=f"Sorting runs in {_units.percent(percent)} of each step. Of each sorted row, only the {first} "
            f"{'are' if several else 'is'} used.",
            fix=f"Find the first ones of each row without sorting the others: {instead}.",
            place=place,
            change=change,
        )
    ]


def _sorts(graphs: Graphs) -> list[_Sort]:
    """Return the nodes that sort long rows of which all that use them take the first few."""
    nodes = graphs.nodes
    op, inputs, made, taken = (nodes[name].tolist() for name in ("op", "inputs", "outputs", "takes"))
    found = []
    for node in (one for one, kind in enumerate(op) if kind == "TopKV2"):
        length = last_dimension(str(taken[node]))
        if length < _LONG or last_dimension(str(made[node])) != length:
            continue
        users = _users(node, op, inputs)
        kept = [_kept(str(taken[user]), str(made[user])) for user in users if op[user] in _PICKS]
        if users and len(kept) == len(users) and 0 < max(kept) <= _FEW * length:
            found.append(_Sort(node, length, max(kept)))
    return sorted(found, key=lambda sort: -sort.kept)


def _kept(taken: str, made: str) -> int:
    """Return how many numbers of a row a part has: 1 of a part with fewer dimensions; 0 if that is unknown."""
    fewer = made.split(";", maxsplit=1)[0].count(",") < taken.split(";", maxsplit=1)[0].count(",")
    return 1 if fewer else last_dimension(made)


def _users(node: int, op: list[str], inputs: list[list[int]]) -> list[int]:
    """Return the nodes that use what a node makes, behind those that only change its sign or hand it on."""
    direct = [user for user, sources in enumerate(inputs) if node in sources]
    passing = [user for user in direct if op[user] in ("Neg", "Identity", "Cast")]
    return [user for user in direct if user not in passing] + [
        one for user in passing for one in _users(user, op, inputs)
    ]
