"""Measure a tf.data pipeline: each of its stages, the whole, and changes of it, in turns."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tfprof_nb import _units
from tfprof_nb._errors import TfprofError
from tfprof_nb._memory import free_bytes
from tfprof_nb.capture.benchmark_input.copies import BATCHES, Copies, difference, first_batches
from tfprof_nb.capture.benchmark_input.draws import Draws, Plan, drawn
from tfprof_nb.capture.benchmark_input.pipelines import Pipeline, pipeline_of
from tfprof_nb.capture.benchmark_input.stages import with_size
from tfprof_nb.capture.benchmark_input.trial import Trial, told, tried
from tfprof_nb.capture.benchmark_input.untouched import untouched
from tfprof_nb.capture.benchmark_input.what_ifs import CACHED, PREFETCH, WhatIf, what_ifs
from tfprof_nb.capture.tensorflow import tensorflow

ROUNDS, FEWEST_SECONDS = 4, 0.05
AS_IT_IS, REPEATED = "as it is", "one batch repeated"
_SHORTEST_TRIAL_S = 0.5
_TRIAL_SHARE, _FILL_SHARE, _WARM_UP_SHARE = 0.05, 0.05, 0.2
Say = Callable[[str, float], None]


@dataclass(frozen=True)
class Variant:
    """Something to measure.

    Attributes
    ----------
    kind
        "stage" for the pipeline up to a stage, "whole", "what-if", or "bound".
    make
        Returns an iterator.
    scale
        The time of a draw times this is that of a batch.
    compared
        "equal" elements, "random" ones that cannot be compared, or empty if there is nothing to compare.
    first_pass
        Whether a cache above makes later passes do without it.
    step
        Seconds that a model works between batches.
    fills
        How many times as long the stage's whole buffer takes to fill, if it was measured with a smaller one.
    """

    kind: str
    name: str
    make: Callable[[], Iterator[Any]] = field(repr=False)
    scale: float = 1.0
    compared: str = ""
    first_pass: bool = False
    step: float = 0.0
    fills: float = 1.0
    change: WhatIf | None = None


@dataclass
class Measured:
    """The runs of all variants: ``runs`` has a row of ``variant round batch_s first_s batches``."""

    variants: list[Variant]
    runs: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    batches_per_pass: float = float("nan")
    seconds: float = 0.0
    pipeline: Pipeline | None = None
    fails: bool = False

    def tell(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.notes:
            self.notes.append(note)

    def leave_out_cache(self) -> None:
        """Forget the runs with a cache, of a pipeline that fails: it never gets as far as to read the cache."""
        kept = [run for run in self.runs if self.variants[run["variant"]].name != CACHED]
        if len(kept) < len(self.runs):
            self.runs = kept
            self.tell("A cache is left out: it is used only once the pipeline came to its end, and this one fails.")

    def add(self, number: int, round_: int, draws: Draws) -> None:
        """Add a run."""
        variant = self.variants[number]
        if draws.given_up:
            self.tell(f"`{variant.name}`: a batch took longer than all the time to measure.")
        if draws.error:
            self.fails = True
            self.tell(f"The pipeline fails after some batches, and what came before is measured: {told(draws.error)}.")
        if draws.drawn:
            first = sum(draws.first_s) / len(draws.first_s) * variant.scale
            self.runs.append(
                {
                    "variant": number,
                    "round": round_,
                    "batch_ms": 1e3 * draws.batch_s * variant.scale,
                    "first_ms": 1e3 * first,
                    "batches": draws.batches,
                }
            )


def measured(
    dataset: Any, *, batches: int | None, seconds: float, step_ms: float | None = None, say: Say = lambda _t, _s: None
) -> Measured:
    """Measure a dataset for about so many seconds.

    Raises
    ------
    TfprofError
        If it gives no batch, or can't be copied.
    """
    pipeline = pipeline_of(dataset)
    with untouched(pipeline.functions):
        begun = time.perf_counter()
        say("trying the pipeline", 0.0)
        trial = tried(pipeline, max(_SHORTEST_TRIAL_S, _TRIAL_SHARE * seconds))
        result = Measured([], pipeline=pipeline)
        sized, fills = _sized(pipeline, trial, seconds, result)
        if trial.draws.error:
            result.fails = True
            result.tell(f"The pipeline fails after {trial.draws.drawn} batches: {told(trial.draws.error)}.")
        result.batches_per_pass = _batches_per_pass(dataset, pipeline)
        copies = Copies(sized, trial.per_batch, max(2, int(_FILL_SHARE * seconds / max(trial.batch_s, 1e-9))))
        say("building the stages", 0.0)
        result.variants = [replace(one, fills=fills.get(one.name, 1.0)) for one in _up_to_each_stage(copies)]
        result.variants += _changed(copies, trial.batch_s < seconds / 100, result.notes, say)
        if step_ms is not None:
            result.variants += [*_between_steps(result.variants, step_ms)]
        take_turns(result, batches, seconds, begun, say)
    if result.fails:
        result.leave_out_cache()
    if not result.runs:
        raise TfprofError(
            "The pipeline gave batches once and then no more: its generator is used up. from_generator needs a "
            "function that makes a new generator in each call."
        )
    result.seconds = time.perf_counter() - begun
    return result


def take_turns(
    result: Measured, batches: int | None, seconds: float, begun: float, say: Say, rounds: int = ROUNDS
) -> None:
    """Run all variants round by round, every other round backwards, until the time is over.

    Nothing is run if the whole pipeline gives no batch.
    """
    count = len(result.variants)
    each = max(FEWEST_SECONDS, (seconds - (time.perf_counter() - begun)) / (count * rounds))
    plan = Plan(each, _WARM_UP_SHARE * each, batches or Plan.batches, patience=max(10.0, seconds))
    for round_ in range(rounds):
        if round_ and time.perf_counter() - begun > seconds:
            result.notes.append(
                f"The time was enough for {round_} of {rounds} rounds: with more (seconds=) the figures vary less."
            )
            break
        order = sorted(range(count), key=lambda number: result.variants[number].kind != "whole")
        order = order[::-1] if round_ % 2 else order
        for done, number in enumerate(order):
            variant = result.variants[number]
            say(f"round {round_ + 1} of {rounds}: {variant.name}", (round_ * count + done) / (count * rounds))
            try:
                draws = drawn(variant.make, replace(plan, step=variant.step))
            except KeyboardInterrupt:
                if not result.runs:  # the whole pipeline comes first
                    raise
                result.notes.append("Interrupted: the figures are of what was measured until then.")
                return
            result.add(number, round_, draws)
            if not result.runs:
                return


def _sized(pipeline: Pipeline, trial: Trial, seconds: float, result: Measured) -> tuple[Pipeline, dict[str, float]]:
    """Make shuffle buffers so small that filling one takes a part of the time.

    Return by the stage's name how many times as long the whole buffer takes, too.
    """
    times, stages = {}, list(pipeline.stages)
    for k, stage in enumerate(stages):
        if stage.kind != "shuffle":
            continue
        element_s = trial.batch_s / trial.per_batch[k + 1]
        fits = max(1, int(_FILL_SHARE * seconds / max(element_s, 1e-9)))
        held = stage.size
        cardinality = int(pipeline.build(stages[:k]).cardinality().numpy())
        if cardinality >= 0:
            held = min(held, cardinality)
        if fits < held:
            stages[k], times[stage.name] = with_size(stage, fits), held / fits
            result.tell(
                f"The buffer of `{stage.name}` holds {_units.count(held)} elements, which would take about "
                f"{_units.number(held * element_s)} s to fill; it was measured with {_units.count(fits)}. The first "
                f"batch of a pass takes about {_units.number(held / fits)} times as long as shown."
            )
    return replace(pipeline, stages=stages), times


def _batches_per_pass(dataset: Any, pipeline: Pipeline) -> float:
    """Return the batches of a pass; NaN if that is unknown or if there is no end."""
    count = int(dataset.cardinality().numpy())
    if count >= 0:
        return float(count)
    kinds = [stage.kind for stage in pipeline.stages]
    if count == tensorflow().data.INFINITE_CARDINALITY and "repeat" in kinds:
        once = [stage for stage in pipeline.stages if stage.kind not in ("repeat", "cache")]
        count = int(pipeline.build(once).cardinality().numpy())
    return float(count) if count >= 0 else float("nan")


def _up_to_each_stage(copies: Copies) -> Iterator[Variant]:
    """Yield the source, and the pipeline up to each stage; the last is the whole."""
    stages = copies.pipeline.stages
    last_cache = max((k for k, stage in enumerate(stages) if stage.kind == "cache"), default=-1)
    shown = [-1, *(k for k, stage in enumerate(stages) if stage.kind != "with_options")]
    for k, made in enumerate(copies.each(stages), -1):
        if k not in shown[:-1]:
            continue
        name = stages[k].name if k >= 0 else copies.pipeline.source.name
        drawn_from, scale = _in_batches(made, copies.per_batch[k + 1])
        yield Variant("stage", name, _iterating(drawn_from), scale, first_pass=k < last_cache)
    whole = stages[shown[-1]].name if len(shown) > 1 else copies.pipeline.source.name
    yield Variant("whole", whole, _iterating(copies.whole(stages)))


def _in_batches(dataset: Any, per_batch: float) -> tuple[Any, float]:
    """Let one draw take as many elements as a batch does, without copying them; return its part of a batch, too."""
    at_once = max(1, round(per_batch))
    return dataset if at_once == 1 else dataset.window(at_once).map(lambda *_: 0), per_batch / at_once


def _iterating(dataset: Any) -> Callable[[], Iterator[Any]]:
    return lambda: iter(dataset)


def _changed(copies: Copies, quick: bool, notes: list[str], say: Say) -> list[Variant]:
    """Return the what-ifs whose elements are the original's, and the bound."""
    stages, batches = copies.pipeline.stages, BATCHES if quick else 1
    say("comparing the elements of what-ifs", 0.0)
    original = first_batches(copies.small(stages), batches)
    repeats = not difference(original, first_batches(copies.small(stages), batches))
    if not repeats:
        notes.append(
            "The pipeline makes other elements in each pass, so nothing tells whether those of what-ifs are the same."
        )
    found = []
    for change in what_ifs(copies.pipeline, notes):
        say(f"comparing the elements of: {change.name}", 0.0)
        if why_not := _why_not(copies, change, original if repeats else None, batches):
            notes.append(f"{change.name[0].upper()}{change.name[1:]} is left out: {why_not}.")
            continue
        if change.name == CACHED:
            notes.append(_cache_note(copies.cached_bytes(change)))
        compared, made = "equal" if repeats else "random", _iterating(copies.whole(change.stages))
        found.append(Variant("what-if", change.name, made, compared=compared, change=change))
    bound = copies.whole(stages).take(1).cache().repeat()
    return [*found, Variant("bound", REPEATED, _iterating(bound))]


def _why_not(copies: Copies, change: WhatIf, original: list[list[Any]] | None, batches: int) -> str:
    """Say why a what-if can't be recommended; empty if it can."""
    if change.name == CACHED:
        if original is None:
            return "the elements differ from pass to pass, and a cache would repeat those of the first"
        size, free = copies.cached_bytes(change), free_bytes()
        if size > free:
            return f"its elements take about {_units.size(size)}, and {_units.size(free)} of memory are free"
    try:
        changed = first_batches(copies.small(change.stages), batches)
    except Exception as error:  # noqa: BLE001 - the user's function may not take what it is given now
        return f"it fails with {told(error)}"
    return difference(original, changed) if original is not None else ""


def _cache_note(size: float) -> str:
    if math.isnan(size):
        return "A cache keeps all elements in memory; how many there are is unknown."
    return f"A cache of all elements takes about {_units.size(size)} of memory."


def _between_steps(variants: Sequence[Variant], step_ms: float) -> Iterator[Variant]:
    """Yield the whole and the prefetched pipeline, drawn with the model's time between batches."""
    for variant in variants:
        if variant.kind == "whole" or variant.name == PREFETCH:
            name = AS_IT_IS if variant.kind == "whole" else variant.name
            yield replace(variant, kind="waiting", name=name, step=step_ms / 1e3)
