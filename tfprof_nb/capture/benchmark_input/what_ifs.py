"""Changes of a pipeline that need no change of the user's functions, and why some are not legal for it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfprof_nb.capture.benchmark_input.pipelines import Pipeline
from tfprof_nb.capture.benchmark_input.stages import Stage, in_parallel, mapped, prefetched
from tfprof_nb.capture.tensorflow import tensorflow

AUTOTUNE = -1
_PASSING = ("prefetch", "with_options")  # stages that hand elements on as they are
CACHED, PREFETCH = "cached", "prefetch at the end"


@dataclass(frozen=True)
class WhatIf:
    """A changed pipeline: ``changed`` are the indices of its stages that are new or moved."""

    name: str
    stages: Sequence[Stage] = field(repr=False)
    changed: Sequence[int] = ()


def what_ifs(pipeline: Pipeline, left_out: list[str]) -> Iterator[WhatIf]:
    """Yield the changes that are legal for a pipeline; ``left_out`` gets a sentence for each that is not."""
    stages = list(pipeline.stages)
    yield from _prefetch(stages)
    yield from _parallel(stages)
    yield from _cache(pipeline, left_out)
    yield from _batch_first(stages, left_out)
    yield from _shuffle_first(stages, left_out)
    yield from _thread_pools(stages)


def _prefetch(stages: list[Stage]) -> Iterator[WhatIf]:
    last = [stage for stage in stages if stage.kind != "with_options"]
    if not last or last[-1].kind != "prefetch":
        yield WhatIf(PREFETCH, [*stages, prefetched(AUTOTUNE)], [len(stages)])


def _parallel(stages: list[Stage]) -> Iterator[WhatIf]:
    changed = [in_parallel(stage) for stage in stages]
    where = [k for k, (old, new) in enumerate(zip(stages, changed, strict=True)) if old is not new]
    if where:
        kinds = " and ".join(dict.fromkeys(f"{stages[k].kind}s" for k in where))
        yield WhatIf(f"parallel {kinds}", changed, where)


def _cache(pipeline: Pipeline, left_out: list[str]) -> Iterator[WhatIf]:
    stages = list(pipeline.stages)
    if any(stage.kind == "cache" for stage in stages):
        return
    end = next((k for k, stage in enumerate(stages) if _why_no_cache(stage)), len(stages))
    blocking = stages[end] if end < len(stages) else None
    while end and stages[end - 1].kind in _PASSING:
        end -= 1
    if blocking and any(stage.function for stage in stages[stages.index(blocking) :]):
        after = next(stage for stage in stages[stages.index(blocking) :] if stage.function)
        left_out.append(f"A cache after `{after.name}` is left out: {_why_no_cache(blocking)}.")
    if not any(stage.function or stage.kind == "padded_batch" for stage in stages[:end]) and not _reads(pipeline):
        return
    yield WhatIf(CACHED, [*stages[:end], Stage("cache", [], lambda ds: ds.cache()), *stages[end:]], [end])


def _why_no_cache(stage: Stage) -> str:
    """Say why elements from this stage on can't be kept; empty if they can."""
    if stage.kind == "shuffle":
        return f"it would keep the order that `{stage.name}` gave the first pass"
    if stage.kind == "repeat":
        return f"it would have to hold every repetition of `{stage.name}`"
    if stage.function and stage.function.is_random:
        return f"`{stage.name}` is random, and a cache would repeat what it drew in the first pass"
    if stage.function and stage.function.reads_variables:
        return f"`{stage.name}` reads a variable, which may change between passes"
    return ""


def _reads(pipeline: Pipeline) -> bool:
    """Whether the source does more than hand on what is in memory."""
    return pipeline.source.name not in ("range", "from_tensor_slices", "from_tensors")


def _batch_first(stages: list[Stage], left_out: list[str]) -> Iterator[WhatIf]:
    for at, stage in enumerate(stages):
        end = _past(stages, at, ("shuffle", "prefetch"))  # which may stand between the maps and the batch
        first = _past(stages, end, ("map",))
        if stage.kind != "batch" or first == end:
            continue
        maps = [one.function for one in stages[first:end] if one.function]
        if any(one.is_random for one in maps):
            left_out.append("Batch before map is left out: the map is random, so the results can't be compared.")
            return
        calls = AUTOTUNE if all(one.parallel for one in stages[first:end]) else None
        whole = [mapped(one, calls, again=True) for one in maps]
        changed = [*stages[:first], *stages[end:at], stage, *whole, *stages[at + 1 :]]
        yield WhatIf("batch before map", changed, range(first, at + 1))
        return


def _shuffle_first(stages: list[Stage], left_out: list[str]) -> Iterator[WhatIf]:
    for at, stage in enumerate(stages):
        first = _past(stages, at, ("map",))
        if stage.kind != "shuffle" or first == at:
            continue
        if any(one.function and one.function.is_random for one in stages[first:at]):
            left_out.append("Shuffle before map is left out: the map is random, so the results can't be compared.")
            return
        yield WhatIf(
            "shuffle before map", [*stages[:first], stage, *stages[first:at], *stages[at + 1 :]], range(first, at + 1)
        )
        return


def _past(stages: list[Stage], at: int, kinds: Sequence[str]) -> int:
    """Return where the stages of some kinds directly below a stage begin."""
    while at and stages[at - 1].kind in kinds:
        at -= 1
    return at


def _thread_pools(stages: list[Stage]) -> Iterator[WhatIf]:
    cores = os.cpu_count() or 1
    for size in (cores, 2 * cores):
        yield WhatIf(f"private pool of {size} threads", [*stages, _pool(size)], [len(stages)])


def _pool(size: int) -> Stage:
    def build(ds: Any) -> Any:
        options = tensorflow().data.Options()
        options.threading.private_threadpool_size = size
        return ds.with_options(options)

    return Stage("with_options", ["options"], build, size=size)
