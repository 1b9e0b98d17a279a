"""The tree: nodes with paths as ids, and the table in which children add up to their parents."""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tfprof_nb._units import PS_PER_MS

ROOT = "cell"
COLUMNS = {
    **dict.fromkeys(("id", "parent", "name", "kind", "place"), object),
    "count": np.int64,
    **dict.fromkeys(("total_ms", "self_ms", "share"), np.float64),
}
_NEVER_SMALL = ("phase", "step", "unexplained")
_SMALL_SHARE = 0.001
_NO_PATH = re.compile(r"[/\s]+")


@dataclass
class _Node:
    parent: str
    name: str
    kind: str
    place: str
    count: int = 0
    self_ps: float = 0.0


@dataclass
class Tree:
    """Nodes by their ids; each but the root is a child of the node whose id its own begins with."""

    nodes: dict[str, _Node] = field(default_factory=lambda: {ROOT: _Node("", ROOT, "phase", "", 1)})

    def child(self, parent: str, part: str, name: str, kind: str, place: str = "") -> str:
        """Return the id of a node below another, which is made if it is new; ``part`` is what its id adds."""
        identity = f"{parent}/{_NO_PATH.sub('_', part)}"
        if identity not in self.nodes:
            self.nodes[identity] = _Node(parent, name, kind, place)
        return identity

    def add(self, identity: str, time_ps: float, count: int = 0) -> None:
        """Add time that passed in a node itself, and how often it ran."""
        node = self.nodes[identity]
        node.self_ps += time_ps
        node.count += count

    def below(self, identity: str) -> dict[str, _Node]:
        """Return a node and all below it, by id."""
        return {one: node for one, node in self.nodes.items() if f"{one}/".startswith(f"{identity}/")}

    def merge(self, source: str, target: str) -> None:
        """Add the time of a node, and of all below it, to another node and those of the same names below that."""
        for identity, node in self.below(source).items():
            del self.nodes[identity]
            known = self.nodes.setdefault(target + identity[len(source) :], node)
            if known is not node:
                known.self_ps += node.self_ps
                known.count += node.count
                known.place = known.place or node.place
            elif identity != source:
                node.parent = target + node.parent[len(source) :]

    def table(self) -> pd.DataFrame:
        """Return the nodes that have time as a table, each parent before its children, the largest child first.

        Several parts of one node that take less than a thousandth of the cell each are put together.
        """
        totals = self._totals()
        self._gather(totals)
        totals = self._totals()
        children: dict[str, list[str]] = {}
        for identity, node in self.nodes.items():
            if totals[identity] or identity == ROOT:
                children.setdefault(node.parent, []).append(identity)
        order: list[str] = []
        waiting = [ROOT]
        while waiting:
            order.append(waiting.pop())
            waiting += sorted(children.get(order[-1], []), key=lambda one: totals[one])
        whole = max(totals[ROOT], 1.0)
        rows = [
            (
                *(identity, node.parent, node.name, node.kind, node.place, node.count),
                *(totals[identity] / PS_PER_MS, node.self_ps / PS_PER_MS, totals[identity] / whole),
            )
            for identity, node in ((one, self.nodes[one]) for one in order)
        ]
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)

    def _totals(self) -> dict[str, float]:
        """Return the time of each node with all below it."""
        totals = dict.fromkeys(self.nodes, 0.0)
        for identity, node in self.nodes.items():
            above: str = identity
            while above:
                totals[above] += node.self_ps
                above = self.nodes[above].parent
        return totals

    def _gather(self, totals: dict[str, float]) -> None:
        """Put small parts of one node together, if they are several and have no parts themselves."""
        parents = {node.parent for node in self.nodes.values()}
        small: dict[str, list[str]] = {}
        for identity, node in self.nodes.items():
            is_leaf = identity not in parents and node.kind not in _NEVER_SMALL
            if is_leaf and 0 < totals[identity] < _SMALL_SHARE * totals[ROOT]:
                small.setdefault(node.parent, []).append(identity)
        for parent, parts in small.items():
            if len(parts) > 1:
                together = self.child(parent, "smaller", "smaller parts", "other")
                for part in parts:
                    self.add(together, self.nodes.pop(part).self_ps)
