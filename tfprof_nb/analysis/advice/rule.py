"""What a rule of advice is: its name, its words, its bounds, and what it says more about than other rules."""

import math
from dataclasses import dataclass
from typing import Literal

# What a gain is a share of: the steps, all from the first step to the last, or the whole cell.
GainOf = Literal["steps", "training", "cell"]
Group = Literal["input", "python", "graph", "tracing", "devices", "memory", "sessions"]
# To build the graph of a step, and one that is vectorised, as measured of small models.
TRACING_MS, VECTORISING_MS = 1000.0, 2000.0
# A gain of which it is not known how much of the share it is.
UNKNOWN = (math.nan, math.nan)
# Among findings as severe: before others, as those tell parts of its cost; behind those that say where and what to
# change; last, as its time comes by chance, which is no reason to change a program.
Order = Literal["first", "usual", "vague", "by_chance"]
# What the code that a rule gives does to results: they stay equal, or equal but for rounding; examples come in another
# order; batches, or the rows in them, are others; the training takes another course. "none": it never gives code.
ChangesResults = Literal["equal", "close", "order", "batches", "rows", "dynamics", "none"]


@dataclass(frozen=True)
class Rule:
    """A fault that a profile can show.

    Attributes
    ----------
    id
        The name that stays: in the table of advice, in the documentation, and to silence the rule.
    title
        The fault in a few words.
    what, why
        What the rule looks for, and why that costs time or memory.
    action
        What to do in a few words; empty where that depends on the case.
    group
        The part of a program that it is about.
    page
        The result that shows its evidence.
    moderate, high
        From which shares on, in percent, a case is of medium and of high severity.
    of
        What a gain is a share of.
    saved
        The least and the most of a case's share that the fix saves. Without a most, it may save all of it, and what
        recording added to it; without both, the gain is not known.
    supersedes
        Rules that say less about the same time: their cases go where this one has a case.
    after
        Rules whose cases this one reads.
    within
        Rules whose cases may take in the time of this one's: a case is told only if it takes clearly more than these.
    part_of
        The rule that this one says more about: what supersedes or silences that rule does so for this one.
    explains
        The kinds of nodes of `p.breakdown` whose time its cases are about; empty for those of its group.
    all_of, phase
        Whether a case is about all of these nodes, and the phase that they are in, such as ``validation``.
    order
        Where its cases stand among others as severe.
    frameworks
        Whose programs it is about.
    once_ms
        What the fix costs once, as the time to build a graph.
    results
        What its code does to results.
    """

    id: str
    title: str
    what: str
    why: str
    group: Group
    action: str = ""
    page: str = "steps"
    moderate: float = 0.0
    high: float = 100.0
    of: GainOf = "steps"
    saved: tuple[float, float | None] | None = None
    supersedes: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    part_of: str = ""
    explains: tuple[str, ...] = ()
    all_of: bool = False
    phase: str = ""
    order: Order = "usual"
    frameworks: tuple[str, ...] = ("tensorflow",)
    once_ms: float = 0.0
    results: ChangesResults = "none"
