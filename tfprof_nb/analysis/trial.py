"""What a change gains, and whether it keeps the results, from runs of a cell as it is and changed that took turns.

In: times of runs, and what the cells made in them. A ratio is of runs of the same round. Results of the changed cell
are compared with those of the cell as it is under the same seeds; how far they may be apart follows from two runs of
the cell as it is.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.between_runs import MIN_VALUES, paired_interval
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.same_examples import are_random, difference_of_examples

COLUMNS = ["round", "variant", "steps", "seconds", "ms_per_step"]
AS_IT_IS, CHANGED = "as it is", "changed"
_WEIGHTS, _STEP, _EPOCH = "weights of ", "step ", "epoch "
# Rounding: sums in another order differ by 1e-7, and training makes that grow, in steps that a trial has to 1e-4.
_ROUNDING, _FLIPPED_SHARE, _MOVED = 1e-3, 1e-3, 1e-2
_MIN_VARYING = 3  # rounds that tell how far apart runs are that vary
_SPREADS = 3.0  # so many standard deviations between runs count as a difference
# Which differences rules speak of; "" is one whose kind is not known, as of losses.
_COVERED = {
    "order": ("", "redrawn", "order"),
    "batches": ("", "redrawn", "order"),
    "rows": ("", "redrawn", "order", "rows"),
    "dynamics": ("", "redrawn", "order", "rows", "values"),
}
# Validation, and methods of callbacks that run around epochs: steps do not tell what a change there gains.
_BETWEEN_EPOCHS = re.compile(r"cell/validation|.*/callback:[^/]*\.on_(?![^/]*batch)")
_WHOLE_RUNS = 4.5  # two of each cell, a bit slower than profiled
Results = Literal["equal", "close", "different", "unknown"]
Values = Mapping[str, list[Any]]


class Outcome(NamedTuple):
    """What a run made: lists of arrays and plain values by what it is, and what it trained on (`same_examples`)."""

    round: int
    variant: str
    values: Values
    examples: Sequence[Sequence[Floats]] = ()


@dataclass(frozen=True)
class Ran:
    """The runs of a trial.

    Attributes
    ----------
    runs
        ``round variant steps seconds ms_per_step first_ms per_epoch epochs is_whole``; round 0 warms up.
    outcomes
        What they made.
    start
        The weights of models before.
    whole
        Whether the cells ran to their ends; else they did as many steps each.
    failed
        Why the changed cell failed.
    """

    runs: pd.DataFrame
    outcomes: Sequence[Outcome] = ()
    start: Values = field(default_factory=dict)
    whole: bool = True
    failed: str = ""


@dataclass(eq=False)
class Trial(Result):
    """A change that was tried.

    ``table`` has a row per run: ``round variant steps seconds ms_per_step``. Round 0 warms up and does not count.
    ``steps`` were counted in a run, and ``ms_per_step`` is the time of those that are warm, with what is between them;
    NaN where the cell marks none. ``summary`` has ``speedup``, how many times faster the changed cell is, with its 95%
    interval ``speedup_low`` and ``speedup_high``, ``first_cost_ms``, what the first run of the changed cell takes
    longer, once, ``results`` ("equal", "close", "different", or "unknown" where nothing can be compared), ``rule``, and
    ``refuted``: whether results differ in a way that the rule does not claim.
    """


def acts_between_epochs(node: str) -> bool:
    """Whether only whole cells tell what a change of a part of `p.breakdown` gains."""
    return bool(_BETWEEN_EPOCHS.match(node))


def whole_cells_s(cell_s: float) -> int:
    """Return how long a trial of whole cells takes, given how long one takes."""
    return math.ceil(_WHOLE_RUNS * cell_s)


def trial(ran: Ran, rule: str, claim: str = "equal") -> Trial:
    """Sum up a trial.

    Parameters
    ----------
    rule
        The id of the rule that made the change.
    claim
        What the rule says of results (`Rule.results`).
    """
    kind, words = ("fails", f"the changed cell fails with {ran.failed}") if ran.failed else _other_examples(ran)
    results: Results = "different"
    if not kind:
        results, words = compared_results(ran)
    else:
        words = f"different: {words}"
    before, after = _costs(ran)
    ratios = before / after
    low, high = paired_interval(before, after) if len(ratios) > 1 else (math.nan, math.nan)
    refuted = results == "different" and kind not in _COVERED.get(claim, ())
    summary: dict[str, Any] = {
        "speedup": float(np.median(ratios)) if len(ratios) else math.nan,
        "speedup_low": low,
        "speedup_high": high,
        "first_cost_ms": _first_cost_ms(ran),
        "results": results,
        "rule": rule,
        "refuted": refuted,
        "rounds": len(ratios),
        "before_ms": float(np.median(before)) if len(before) else math.nan,
        "after_ms": float(np.median(after)) if len(after) else math.nan,
        "of": "the cell" if ran.whole or _is_extrapolated(ran) else "a step",
    }
    notes = [f"Results: {words}."]
    if refuted and not ran.failed:
        notes.append("The change is refuted: its rule does not say that results become others.")
    if not ran.failed:
        notes += [_how(ran, len(ratios)), *_between_epochs(ran)]
    return Trial(ran.runs[COLUMNS].reset_index(drop=True), summary, notes)


def _other_examples(ran: Ran) -> tuple[str, str]:
    of = {one.variant: one.examples for one in ran.outcomes if one.round == 0}
    return difference_of_examples(of.get(AS_IT_IS, ()), of.get(CHANGED, ()))


def _costs(ran: Ran) -> tuple[Floats, Floats]:
    """Return the time of each round's runs: of the cells, or of as much work where they were ended."""
    runs = ran.runs[ran.runs["round"] > 0]
    first = ran.runs[ran.runs["round"] == 0].set_index("variant")
    cost = runs["seconds"] * 1000
    if _is_extrapolated(ran):
        cost = runs["first_ms"] + runs["ms_per_step"] * runs["variant"].map(first["steps"])
    elif not ran.whole:
        known = first["per_epoch"].notna().all()
        cost = runs["ms_per_step"] * (
            runs["variant"].map(first["per_epoch"] / first["per_epoch"].min()) if known else 1
        )
    wide = runs.assign(cost=cost).pivot_table(index="round", columns="variant", values="cost")
    if not {AS_IT_IS, CHANGED} <= set(wide):
        return np.empty(0), np.empty(0)
    wide = wide.dropna()
    wide = wide[(wide > 0).all(axis=1)]
    return wide[AS_IT_IS].to_numpy(float), wide[CHANGED].to_numpy(float)


def _is_extrapolated(ran: Ran) -> bool:
    """Whether the cells ended by themselves once, and then did some of their steps in each round."""
    first = ran.runs[ran.runs["round"] == 0]
    return not ran.whole and len(first) == 2 and bool(first["is_whole"].all())


def _first_cost_ms(ran: Ran) -> float:
    """Return by how much longer the changed cell's first run began: where steps are known, until they are warm."""
    first, later = ran.runs[ran.runs["round"] == 0].set_index("variant"), ran.runs[ran.runs["round"] > 0]
    if set(first.index) != {AS_IT_IS, CHANGED} or later.empty:
        return math.nan
    column = first["first_ms"]
    if column.isna().any():
        column = 1000 * (first["seconds"] - later.groupby("variant")["seconds"].median())
    return max(0.0, float(column[CHANGED] - column[AS_IT_IS]))


def _how(ran: Ran, rounds: int) -> str:
    """Say what the ratio is of, and how sure it is."""
    steps = ran.runs.loc[ran.runs["round"] > 0, "steps"]
    what = "whole cells" if ran.whole else f"{_units.count(int(steps.min()) if len(steps) else 0)} steps of each cell"
    text = f"Compared are {what}, in {rounds} rounds" if rounds != 1 else f"Compared are {what}, in one round"
    if rounds < 2:
        return f"{text}: nothing tells how much rounds differ. More time (seconds=) tells it."
    return f"{text}." if rounds >= MIN_VALUES else f"{text}: more time (seconds=) narrows the interval."


def _between_epochs(ran: Ran) -> list[str]:
    """Say what of a cell with epochs the steps that were compared lack."""
    runs = ran.runs[ran.runs["round"] > 0]
    if ran.whole:
        return []
    lacking = []
    if (runs["per_epoch"] >= runs["steps"]).any():
        lacking.append("what the cell does between epochs, such as validation,")
    if ((runs["steps"] < 2 * runs["per_epoch"]) & (runs["epochs"] > 1)).any():
        lacking.append("what a change gains from the second epoch on, as a cache does,")
    if not lacking:
        return []
    size = _units.count(runs["per_epoch"].max())
    return [
        f"An epoch has {size} steps: {' and '.join(lacking)} is not in the figures. More time (seconds=) brings it in."
    ]


def compared_results(ran: Ran) -> tuple[Results, str]:
    """Compare what the changed cell made with what the cell as it is made; return the answer, and words for it."""
    of = {(one.round, one.variant): one.values for one in ran.outcomes}
    first = [of.get((0, variant), {}) for variant in (AS_IT_IS, CHANGED)]
    for difference in (_other_steps(ran, *first), _lost(*first)):
        if difference:
            return "different", f"different: {difference}"
    one, other, again = of.get((1, AS_IT_IS)), of.get((1, CHANGED)), of.get((2, AS_IT_IS), {})
    if one is None or other is None:
        return "unknown", "not compared: no round ended"
    examples = {run.variant: run.examples for run in ran.outcomes if run.round == 0}
    random = are_random(examples.get(AS_IT_IS, ()), examples.get(CHANGED, ()))
    apart: dict[str, float] = {}
    varies = 0
    for label in one:
        if label not in other or not (_is_of_training(label) or again):
            continue
        scale = _scale(label, one, ran.start)
        noise = difference_of(one[label], again[label], scale) if label in again else 0.0
        if noise > 0 and not _is_of_training(label):
            continue  # such as the time that something took
        if noise > _ROUNDING / 10 or (random and _is_of_training(label)):
            varies += 1
            if not label.startswith(_WEIGHTS) and _is_apart(label, ran.outcomes):
                apart[label] = math.inf
        else:
            apart[label] = difference_of(one[label], other[label], scale)
    results, words = _judged(ran, apart, varies, one, other)
    if results == "different" and not again:
        told = words.removeprefix("different: ")
        return (
            "unknown",
            f"not the same ({told}), and only a second run of the cell as it is tells whether that repeats",
        )
    return results, words


def _judged(ran: Ran, apart: Mapping[str, float], varies: int, one: Values, other: Values) -> tuple[Results, str]:
    steps, rounds = _steps_compared(ran), len({outcome.round for outcome in ran.outcomes if outcome.round})
    too_far = [label for label, far in apart.items() if far > (_MOVED if label.startswith(_WEIGHTS) else _ROUNDING)]
    if too_far:
        return "different", f"different: {_told(_most_telling(too_far), one, other)}"
    if varies and rounds < _MIN_VARYING:
        return "unknown", f"not compared: they vary from run to run, and {rounds} rounds don't tell how far"
    if varies:
        return "close", "as far apart as runs of the cell as it is, which differ by themselves"
    if not apart:
        return "unknown", "the cell leaves nothing that can be compared"
    most = max(apart.values())
    return ("close", f"equal up to {most:.0e}{steps}") if most > 0 else ("equal", f"equal{steps}")


def difference_of(one: list[Any], other: list[Any], scale: float = 0.0) -> float:
    """Return how far two lists of values are apart, relative to their size; infinite where they are of another kind.

    Examples
    --------
    >>> difference_of([np.array([2.0, 4.0])], [np.array([2.0, 4.4])]), difference_of([1, "a"], [1, "b"])
    (0.1, inf)
    """
    if len(one) != len(other):
        return math.inf
    if scale:
        return _norm([np.asarray(a, float) - np.asarray(b, float) for a, b in zip(one, other, strict=True)]) / scale
    return max((_apart(a, b) for a, b in zip(one, other, strict=True)), default=0.0)


def _apart(one: Any, other: Any) -> float:
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return math.inf
    if not a.size:
        return 0.0
    if a.dtype.kind not in "fc":
        unequal = float(np.count_nonzero(a != b)) / a.size
        return unequal if unequal <= _FLIPPED_SHARE else math.inf
    missing = np.isnan(a)
    if (missing != np.isnan(b)).any():
        return math.inf
    a, b = a[~missing], b[~missing]
    with np.errstate(all="ignore"):
        far = (
            np.abs(a.astype(np.complex128) - b.astype(np.complex128))
            if a.dtype.kind == "c"
            else np.abs(a.astype(np.float64) - b.astype(np.float64))
        )
    far = far[a != b]
    if not far.size:
        return 0.0
    size = float(np.nanmax(np.abs(np.where(np.isfinite(a), a, 0))))
    return round(float(far.max()) / max(size, 1e-30), 12) if np.isfinite(far).all() else math.inf


def _scale(label: str, one: Values, start: Values) -> float:
    """Return what weights are compared with: how far training moved them, or else their size; 0 for other values."""
    values = one[label]
    if not label.startswith(_WEIGHTS) or not values:
        return 0.0
    before = start.get(label)
    if before is not None and [np.shape(a) for a in before] == [np.shape(a) for a in values]:
        moved = _norm([np.asarray(a, float) - np.asarray(b, float) for a, b in zip(values, before, strict=True)])
        if moved > 0:
            return moved
    return _norm([np.asarray(a, float) for a in values]) / 10


def _norm(arrays: Sequence[Floats]) -> float:
    return math.sqrt(sum(float(np.square(each).sum()) for each in arrays))


def _is_of_training(label: str) -> bool:
    return label.startswith((_STEP, _EPOCH, _WEIGHTS))


def _is_apart(label: str, outcomes: Sequence[Outcome]) -> bool:
    """Whether what varies from run to run lies elsewhere in the runs of the changed cell."""
    sides = []
    for variant in (AS_IT_IS, CHANGED):
        values = [
            one.values[label][0] for one in outcomes if one.round and one.variant == variant and label in one.values
        ]
        sides.append(np.array([float(each) for each in values if np.ndim(each) == 0]))
    if min(map(len, sides)) < _MIN_VARYING:
        return False
    spread = math.hypot(*(float(side.std(ddof=1)) for side in sides))
    return abs(float(sides[0].mean() - sides[1].mean())) > _SPREADS * spread


def _other_steps(ran: Ran, one: Values, other: Values) -> str:
    """Say how the numbers of steps or epochs differ; empty if they do not."""
    runs = ran.runs[ran.runs["round"] == 0].set_index("variant")
    per_epoch = runs["per_epoch"].dropna()
    if len(set(per_epoch)) > 1:
        return f"{per_epoch[AS_IT_IS]:.0f} and {per_epoch[CHANGED]:.0f} steps per epoch"
    for ended, longer in ((AS_IT_IS, CHANGED), (CHANGED, AS_IT_IS)):
        if (
            runs["is_whole"][ended]
            and not runs["is_whole"][longer]
            and runs["steps"][longer] > runs["steps"][ended] > 0
        ):
            return f"the cell {ended} ends after {runs['steps'][ended]} steps, the cell {longer} does more"
    if not runs["is_whole"].all():
        return ""
    epochs = [
        max((int(label.split(" ")[1].rstrip(":")) for label in side if label.startswith(_EPOCH)), default=0)
        for side in (one, other)
    ]
    if epochs[0] != epochs[1]:
        return f"{epochs[0]} and {epochs[1]} epochs"
    steps = [int(runs["steps"].get(variant, 0)) for variant in (AS_IT_IS, CHANGED)]
    trains = all(any(label.startswith(_STEP) for label in side) for side in (one, other))
    return f"{steps[0]} and {steps[1]} steps" if trains and steps[0] != steps[1] else ""


def _lost(one: Values, other: Values) -> str:
    """Say what Keras told of an epoch of one side alone; empty if there is nothing."""
    epochs = {label.partition(":")[0] for label in one if label.startswith(_EPOCH)}
    both = epochs & {label.partition(":")[0] for label in other}
    lost = [label for label in one if label.partition(":")[0] in both and label not in other]
    return f"the history lacks `{lost[0].partition(': ')[2]}`" if lost else ""


def _steps_compared(ran: Ran) -> str:
    steps = ran.runs.loc[ran.runs["round"] == 1, "steps"]
    return f" for {_units.count(int(steps.min()))} steps" if len(steps) and steps.min() > 0 else ""


def _most_telling(labels: Sequence[str]) -> str:
    """Return the label to tell: the last loss, else the weights, else the first value."""
    told = [label for label in labels if label.startswith((_EPOCH, _STEP))]
    losses = [label for label in told if label.endswith(": loss")]
    weights = [label for label in labels if label.startswith(_WEIGHTS)]
    return (losses or told or weights or list(labels))[-1 if losses or told else 0]


def _told(label: str, one: Values, other: Values) -> str:
    a, b = one[label], other[label]
    if label.startswith((_EPOCH, _STEP)):
        where, _, name = label.partition(": ")
        kind, _, number = where.partition(" ")
        return f"{name} {_shown(a[0], b[0])} after {number} {kind}{'s' if number != '1' else ''}"
    if label.startswith(_WEIGHTS):
        return f"the {label}"
    if len(a) == len(b) == 1 and np.ndim(a[0]) == np.ndim(b[0]) == 0:
        return f"{label} is {_shown(a[0], b[0])}"
    shapes = [[np.shape(each) for each in side if np.ndim(each)] for side in (a, b)]
    if shapes[0] != shapes[1] and len(shapes[0]) == len(shapes[1]) == 1:
        return f"{label} has the shape {shapes[0][0]} and {shapes[1][0]}"
    return f"{label}"


def _shown(one: Any, other: Any) -> str:
    """Write two values with so many digits that they differ."""
    if isinstance(one, str) or isinstance(other, str):
        return f"{one!r:.40} and {other!r:.40}"
    with np.errstate(all="ignore"):
        texts = [[f"{float(each):.{digits}g}" for each in (one, other)] for digits in (2, 3, 4, 6, 9)]
    return " and ".join(next((pair for pair in texts if pair[0] != pair[1]), texts[-1]))
