"""Run two variants of a cell in turns, each from the same state and under the same seeds, and put everything back."""

import copy
import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from tfprof_nb import _units
from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.trial import told
from tfprof_nb.capture.interrupts import interrupts_wait
from tfprof_nb.capture.machine_load import wait_for_devices
from tfprof_nb.capture.trial.cell import LAST_VALUE, Variant
from tfprof_nb.capture.trial.framework_state import DatasetCopies, FrameworkState, why_not_copied
from tfprof_nb.capture.trial.outcomes import Passes, Values, outcomes, watched_examples
from tfprof_nb.capture.trial.scratch import Refused, Scratch, refusal
from tfprof_nb.capture.trial.state import State
from tfprof_nb.capture.trial.steps import CALL, COUNT_PASS, MARK, MIN_STEPS, PASS, UPDATE, Ended, Limit, Steps, watched
from tfprof_nb.formats.marks import PHASES

AS_IT_IS, CHANGED = "as it is", "changed"
MAX_ROUNDS, MIN_ROUNDS = 10, 5
_FEWEST_ROUNDS, _SHORTEST_S = 2, 0.5
_FEWEST_WHOLE, _FIRST_SHARE, _LONGEST_SHARE = 3, 0.15, 0.4
_SAME_SEED_ROUNDS = 2  # which tell what repeats; the others, how far random numbers reach
_WARM_UP, _WARM_UP_SHARE = 2, 0.1
Say = Callable[[str, float], None]


class Pace(NamedTuple):
    """The steps of a run: how many, the seconds of one that is warm, and those that the first took beyond that."""

    steps: int
    step_s: float
    first_s: float


@dataclass
class Run:
    """One run of a variant."""

    variant: str
    round: int
    begun: float
    seconds: float
    is_whole: bool
    steps: Steps
    values: Values = field(default_factory=dict)
    examples: Passes = field(default_factory=list)

    def pace(self, kind: str) -> Pace:
        """Return the pace of a kind of steps; NaN if there are too few.

        Epochs that were planned and did not run count as ones like those after the first, which may fill a cache.
        """
        ends = [(at, done) for at, done in self.steps.ends.get(kind, []) if at >= self.begun]
        if not ends:
            return Pace(0, float("nan"), float("nan"))
        if len(ends) < MIN_STEPS - 2:
            return Pace(ends[-1][1], float("nan"), float("nan"))
        cold = min(max(_WARM_UP, round(_WARM_UP_SHARE * len(ends))), len(ends) - 2)
        first_at, first = ends[cold - 1]
        epoch = self.steps.per_epoch if kind == PHASES[0] else None
        whole = [end for end in ends if epoch and end[1] > first and not (end[1] - first) % epoch]
        last_at, last = (whole or ends)[-1]  # whole epochs, with what comes between them
        step_s = (last_at - first_at) / max(last - first, 1)
        if epoch and len(whole) > 1:
            later_s = (last_at - whole[0][0]) / (last - whole[0][1])
            epochs = max(self.steps.planned_epochs, len(whole))
            step_s = ((whole[0][0] - first_at) / epoch + (epochs - 1) * later_s) / epochs
        return Pace(ends[-1][1], step_s, first_at - self.begun - first * step_s)


@dataclass
class Turns:
    """What all runs told.

    Attributes
    ----------
    runs
        In order; round 0 warms up.
    whole
        Whether the cells ran to their ends.
    kind
        Which steps are compared; empty if none are common.
    failed
        Why the changed cell failed; empty if it did not.
    start
        The weights of models before.
    """

    runs: list[Run] = field(default_factory=list)
    whole: bool = False
    kind: str = ""
    failed: str = ""
    interrupted: bool = False
    start: Values = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Stage:
    """Where a cell runs: a namespace, the state to put back, and a scratch folder."""

    def __init__(self, namespace: dict[str, Any], variants: Mapping[str, Variant], scratch: Scratch) -> None:
        self._namespace, self._variants, self._scratch = namespace, variants, scratch
        made = frozenset.intersection(*(each.made for each in variants.values()))
        self._state = State(namespace, [code for each in variants.values() for code in each.codes], made)
        if self._state.problems:
            raise TfprofError(f"The cell can't be repeated: {'; '.join(self._state.problems)}.")
        self.notes = [
            f"{place.name} {why}: its own state, which the trial goes on from, is not put back."
            for place, dataset in self._state.datasets
            if (why := why_not_copied(dataset))
        ]
        self._copies = {name: DatasetCopies() for name in variants}

    def __enter__(self) -> Self:
        self._framework = FrameworkState(self._state.native_iterators, self._state.tables)
        self._state.keep(self._framework.bytes)
        self._framework.keep()
        used = set().union(*(each.used for each in self._variants.values())) & set(self._namespace)
        self.start = outcomes(Steps(Limit(0)), self._namespace, used, self._namespace)
        return self

    def __exit__(self, *_: object) -> None:
        self._put_back()

    def run(self, name: str, round_: int, limit: Limit) -> Run:
        """Run a variant, and put back what it changed."""
        variant = self._variants[name]
        gc.collect()  # what runs before left behind is not this one's work
        try:
            with self._scratch.working(), _quiet():
                self._begin(name, round_)
                self._run_above(variant, limit)
                return self._timed(variant, name, round_, limit)
        finally:
            self._put_back()

    def _begin(self, name: str, round_: int) -> None:
        if round_:  # a seed would make each pass draw the same: the first round shows what a program does without
            self._framework.seed(max(0, round_ - _SAME_SEED_ROUNDS))
        for place, dataset in self._state.datasets:
            with suppress(TfprofError):
                own = self._copies[name].of(dataset)
                if own is not dataset and place.holder is not None:
                    place.put(own)
        for place, iterator in self._state.iterators:
            place.put(copy.copy(iterator))

    def _run_above(self, variant: Variant, limit: Limit) -> None:
        if variant.before is None:
            return
        with watched(limit._replace(kind="", steps=0)) as steps:
            self._execute(variant.before, steps, ())
        if steps.is_ended:
            raise TfprofError(
                f"The cells above, which the change is in, take more than {limit.seconds:.0f} s. Give more: seconds=."
            )

    def _timed(self, variant: Variant, name: str, round_: int, limit: Limit) -> Run:
        examples: Passes = []
        with ExitStack() as watching:
            steps = watching.enter_context(watched(limit))
            if not round_:  # the others are timed
                examples = watching.enter_context(watched_examples())
            wait_for_devices()
            begun = time.perf_counter()
            self._execute(variant.code, steps, variant.passes)
            wait_for_devices()
            seconds = time.perf_counter() - begun
        if steps.is_ended and variant.tells_reach and not steps.has_reached:
            raise TfprofError(
                f"The cell {name} did not come to what the change is about in {seconds:.0f} s, its part of the time. "
                "Give more (seconds=), or profile a shorter cell."
            )
        run = Run(name, round_, begun, seconds, not steps.is_ended, steps, {}, examples)
        used = {*variant.stored, *(variant.used & set(self._namespace)), LAST_VALUE}
        run.values = outcomes(steps, self._namespace, used, self._state.bindings)
        steps.logs.clear()
        return run

    def _execute(self, code: Any, steps: Steps, passes: Sequence[str]) -> None:
        self._namespace[COUNT_PASS] = lambda number: steps.begin_pass(number, passes)
        with suppress(Ended):
            exec(code, self._namespace)  # noqa: S102 - that is what a cell is for

    def _put_back(self) -> None:
        with interrupts_wait():
            self._state.put_back()
            self._framework.put_back()


def take_turns(
    namespace: dict[str, Any],
    variants: Mapping[str, Variant],
    seconds: float,
    say: Say = lambda _t, _s: None,
    *,
    whole: bool = False,
) -> Turns:
    """Let two variants take turns for about so many seconds.

    Raises
    ------
    TfprofError
        If the cell cannot be repeated, or fails as it is, or does not end though whole cells are needed.
    """
    begun, turns = time.perf_counter(), Turns()
    with Scratch() as scratch, Stage(namespace, variants, scratch) as stage:
        turns.notes += [*stage.notes, *_note_on(scratch.linked)]
        turns.start = stage.start
        try:
            _rounds(stage, turns, begun, seconds, say, whole)
        except KeyboardInterrupt:
            if not any(run.variant == CHANGED and run.round for run in turns.runs):
                raise
            turns.interrupted = True
    whole_rounds = min(sum(run.variant == name for run in turns.runs) for name in (AS_IT_IS, CHANGED))
    turns.runs = [run for run in turns.runs if run.round < whole_rounds or turns.failed]
    return turns


def _rounds(stage: Stage, turns: Turns, begun: float, seconds: float, say: Say, whole: bool) -> None:
    def left() -> float:
        return seconds - (time.perf_counter() - begun)

    at, first_share = time.perf_counter(), _LONGEST_SHARE if whole else _FIRST_SHARE
    for name in (AS_IT_IS, CHANGED):
        say(f"warming up: the cell {name}", (seconds - left()) / seconds)
        # The other may have to compile.
        longest = max((2 * run.seconds for run in turns.runs if run.is_whole), default=0.0)
        if not _add(
            stage, turns, name, 0, Limit(max(first_share * seconds, longest), longest_s=_LONGEST_SHARE * seconds)
        ):
            return
        if whole and not turns.runs[-1].is_whole:
            raise TfprofError(
                f"The change acts between epochs, so only whole cells tell what it gains, and the cell {name} did not "
                f"end in {turns.runs[-1].seconds:.0f} s, its part of the time. Give more: seconds=."
            )
    first = turns.runs[-2:]
    pair_s = time.perf_counter() - at
    turns.kind = common_kind(*first)
    turns.whole = all(run.is_whole for run in first) and (whole or _FEWEST_WHOLE * pair_s <= left() or not turns.kind)
    if not turns.whole and not turns.kind:
        raise TfprofError(_no_common_steps(first, seconds))
    limit = Limit(max(4 * pair_s, 1.0)) if turns.whole else _bounded(first, turns.kind, left())
    for round_ in range(1, MAX_ROUNDS + 1):
        at = time.perf_counter()
        if round_ > 1 and pair_s > left():
            return
        order = (AS_IT_IS, CHANGED) if round_ % 2 else (CHANGED, AS_IT_IS)
        for name in order:
            say(f"round {round_}: the cell {name}", (seconds - left()) / seconds)
            if not _add(stage, turns, name, round_, limit):
                return
        pair_s = time.perf_counter() - at


def _add(stage: Stage, turns: Turns, name: str, round_: int, limit: Limit) -> bool:
    """Run a variant; return whether all is well. How the changed cell fails is noted."""
    try:
        turns.runs.append(stage.run(name, round_, limit))
    except Refused:
        raise TfprofError(f"{refusal()}. A trial puts everything back, so it does not run such a cell.") from None
    except TfprofError:
        raise
    except Exception as error:
        if name == AS_IT_IS:
            raise TfprofError(
                f"The cell fails when it runs again ({told(error)}): run the cells above it, then try again."
            ) from error
        turns.failed = told(error)
        return False
    return True


def common_kind(one: Run, other: Run) -> str:
    """Return the kind of steps to compare: the first of which both runs have enough; empty if there is none."""
    counts = {kind: min(one.pace(kind).steps, other.pace(kind).steps) for kind in {*one.steps.ends, *other.steps.ends}}
    enough = {kind for kind, count in counts.items() if count >= MIN_STEPS}
    for kind in (PHASES[0], MARK, UPDATE, *PHASES[1:]):
        if kind in enough:
            return kind
    for beginning in (CALL, PASS):
        of_these = [kind for kind in sorted(enough) if kind.startswith(beginning)]
        if of_these:
            return max(of_these, key=counts.__getitem__)
    return ""


def _bounded(first: Sequence[Run], kind: str, left_s: float) -> Limit:
    """Return so many steps that the time is enough for some rounds: whole epochs where they fit, two if there are.

    The first epoch may differ from the others, as it fills caches.
    """
    paces = [run.pace(kind) for run in first]
    begin_s, step_s = (max(*(getattr(pace, part) for pace in paces), 0.0) for part in ("first_s", "step_s"))
    each = max(left_s / (2 * MIN_ROUNDS), begin_s + _SHORTEST_S)
    steps = max(MIN_STEPS, int((each - begin_s) / max(step_s, 1e-9)))

    def fits(steps: int) -> bool:
        return _FEWEST_ROUNDS * sum(max(pace.first_s, 0.0) + steps * pace.step_s for pace in paces) <= left_s

    epoch = max(run.steps.per_epoch or 0 for run in first) if kind == PHASES[0] else 0
    several = min(2, *(run.steps.planned_epochs for run in first))
    if epoch and (count := next((count for count in (several, 1) if fits(_longer(count * epoch))), 0)):
        steps = _longer(epoch * max(count, int(steps / _longer(epoch))))
    if all(run.is_whole for run in first) or not epoch:
        steps = min(steps, *(pace.steps for pace in paces))
    longest = begin_s + 2 * steps * step_s
    return Limit(max(each, longest), kind, steps, max(each, 2 * longest))


def _longer(steps: int) -> int:
    """Return how many steps are needed for so many that are warm."""
    return steps + max(_WARM_UP, math.ceil(1.2 * _WARM_UP_SHARE * steps))


def _no_common_steps(runs: Sequence[Run], seconds: float) -> str:
    for run in runs:
        if not run.is_whole and not any(run.pace(kind).steps >= MIN_STEPS for kind in run.steps.ends):
            return (
                f"The cell {run.variant} did not get through {MIN_STEPS} steps in {run.seconds:.0f} s, "
                f"its part of the time. Give more, such as seconds={_units.number(4 * seconds)}, or mark its steps "
                "with tfprof_nb.step."
            )
    return (
        "The two cells have no steps in common that a trial could compare, and take too long to run whole. Give more "
        "time (seconds=), or mark the steps of both with tfprof_nb.step."
    )


def _note_on(linked: Sequence[str]) -> list[str]:
    if not linked:
        return []
    names = ", ".join(f"`{name}`" for name in linked[:3]) + (" and others" if len(linked) > 3 else "")
    return [f"Too large to copy, and read where they are: {names}."]


class _Nothing:
    """Takes text, and forgets it."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Show nothing of what the block prints or displays, and write no compiled Python beside its modules."""
    with ExitStack() as undo:
        undo.enter_context(redirect_stdout(_Nothing()))
        undo.enter_context(redirect_stderr(_Nothing()))
        undo.enter_context(_descriptors_to_nothing())
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            undo.enter_context(capture_output(stdout=False, stderr=False, display=True))
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        undo.callback(setattr, sys, "dont_write_bytecode", writes)
        yield


@contextmanager
def _descriptors_to_nothing() -> Iterator[None]:
    """Let what TensorFlow's own code prints go nowhere."""
    with suppress(Exception):
        sys.__stdout__.flush()  # type: ignore[union-attr]
    kept = [(number, os.dup(number)) for number in (1, 2)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        for number, _ in kept:
            os.dup2(nothing, number)
        yield
    finally:
        for number, duplicate in kept:
            os.dup2(duplicate, number)
            os.close(duplicate)
        os.close(nothing)
