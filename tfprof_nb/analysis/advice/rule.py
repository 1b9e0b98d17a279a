"""What a rule of advice is (`Rule`), what its check yields (`Case`), and what comes of that (`Finding`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# What a gain is a share of: the steps, all from the first step to the last, or the whole cell.
GainOf = Literal["steps", "training", "cell"]
Severity = Literal["high", "medium", "info"]
# To build the graph of a step, and one that is vectorised, as measured of small models.
TRACING_MS, VECTORISING_MS = 1000.0, 2000.0
_USUAL = 0.65  # of the range of a gain, from its low end: half of the measured gains lie above
# A gain of which it is not known how much of the share it is.
UNKNOWN = (math.nan, math.nan)
# In `explains`: Python that runs inside TensorFlow, as between eager ops.
IN_TENSORFLOW = "python in TensorFlow"
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
        The part of a program that it is about: the folder of its module, which the catalogue adds.
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
        The kinds of nodes of `p.breakdown` whose time its cases are about, and `IN_TENSORFLOW` for what Python does in
        TensorFlow; empty for those of its group.
    all_of, phase
        Whether a case is about all of these nodes, and the phase that they are in, such as ``validation``.
    order
        Where its cases stand among others as severe.
    without_tracing
        Whether its shares of the cell leave out the steps that trace, as those of the steps and the training do.
    frameworks
        Whose programs it is about.
    of_tensorflows_steps
        Whether it holds only where TensorFlow runs the model, as rules on ops, tracing, devices and sessions do; others
        hold for Keras on JAX and PyTorch too.
    once_ms
        What the fix costs once, as the time to build a graph.
    measured
        Whether its changes leave out work whose time was measured, as that of a callback: they gain no more.
    results
        What its code does to results.
    """

    id: str
    title: str
    what: str
    why: str
    group: str = ""
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
    without_tracing: bool = False
    frameworks: tuple[str, ...] = ("tensorflow",)
    of_tensorflows_steps: bool = False
    once_ms: float = 0.0
    measured: bool = False
    results: ChangesResults = "none"


@dataclass(frozen=True)
class Case:
    """What a rule sees in one program.

    Attributes
    ----------
    percent
        The share of the time that it takes: it decides on the severity, and whether the case is told at all.
    finding, evidence, fix
        What is wrong, the numbers behind it, and what to change.
    place, change
        The line to change, and the code for it; empty if unknown.
    without_change
        What to change in other words, for programs in which the code cannot be shown; empty where ``fix`` holds there.
    severity
        Where the share does not decide on it.
    saved
        The least and the most of the share that the fix saves, where these are not the rule's.
    gain
        The gain in percent, and its least and its most, where it is no part of the share.
    once_ms
        What the fix costs once, where that is not what the rule says.
    of
        What the gain is a share of, where that is not what the rule says.
    rule
        The rule that is a part of this one, where it says why.
    subject
        The function or object that it is about.
    instead_of
        Cases that say less about the same time, beside those of the rules that its rule supersedes: the rule, and the
        place or subject.
    proved_by
        The result that shows the evidence, where that is not the rule's.
    op_name, start_ms, duration_ms
        The event that shows it, and the time around that.
    """

    percent: float
    finding: str
    evidence: str
    fix: str
    place: str = ""
    change: str = ""
    without_change: str = ""
    severity: Severity | None = None
    saved: tuple[float, float | None] | None = None
    gain: tuple[float, float, float] | None = None
    once_ms: float | None = None
    of: GainOf | None = None
    rule: str = ""
    subject: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()
    proved_by: str = ""
    op_name: str = ""
    start_ms: float = math.nan
    duration_ms: float = math.nan


@dataclass(frozen=True)
class Finding:
    """One thing to change.

    ``percent`` is the share of the time that it is about, where that is known; ``gain_of`` says of which time.
    ``rule`` is the id of the rule that it is a case of, ``node`` the part of `p.breakdown` that it explains, and
    ``cell_percent`` the share of the cell that it is about.
    ``without_change`` is the fix in other words, for programs in which the code cannot be shown.
    ``subject`` is the function or object that it is about. ``instead_of`` are cases that say less about the same time,
    beside those of the rules that its rule supersedes: the rule, and the place or subject.
    """

    severity: Severity
    finding: str
    evidence: str
    fix: str
    percent: float = float("nan")
    estimated_gain_percent: float = float("nan")
    proved_by: str = "steps"
    op_name: str = ""
    start_ms: float = float("nan")
    duration_ms: float = float("nan")
    place: str = ""
    gain_low_percent: float = float("nan")
    gain_high_percent: float = float("nan")
    change: str = ""
    without_change: str = ""
    gain_of: GainOf = "steps"
    rule: str = ""
    node: str = ""
    cell_percent: float = float("nan")
    subject: str = ""
    instead_of: tuple[tuple[str, str], ...] = ()

    @property
    def cell_gain_percent(self) -> float:
        """How much of the cell its change usually saves, given its range; 0 if that is unknown."""
        usual = usual_gain(self.gain_low_percent, self.gain_high_percent)
        percent = self.estimated_gain_percent
        gain = percent if math.isnan(usual) else usual
        saved = gain * self.cell_percent / percent if percent > 0 else math.nan
        return 0.0 if math.isnan(saved) else saved


# The findings of rules that a rule reads, by rule; and what its check yields.
Earlier = Mapping[str, Sequence[Finding]]
Cases = Iterator[Case]


def usual_gain(low: float, high: float) -> float:
    """Return which gain of a range is told as one number: measured ones lie as often above it as below.

    Examples
    --------
    >>> usual_gain(20.0, 60.0)
    46.0
    """
    return low + _USUAL * (high - low)
