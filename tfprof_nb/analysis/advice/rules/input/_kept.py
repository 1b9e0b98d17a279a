"""How to keep what each epoch makes anew: a cache behind the map, the filter or the generator that makes it."""

import ast
import math
import re
from typing import NamedTuple

from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.source.caching import cached_behind, gives_the_same
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.mapped import mapped_name
from tfprof_nb.analysis.source.pipelines import stages
from tfprof_nb.analysis.source.rewriting import with_call
from tfprof_nb.analysis.source.syntax import first_given, name_of

PASSES_WORTH_KEEPING = 3
_SLOW = "bottleneck_long_name"
LEAST_SAVED = 0.35
_HUNDRED = 100
_TAKES = r"\.take\("
_SINGLE_EXAMPLES = (
    "Map single examples, before the shuffle and the batch, and put `.cache()` after that map: a cache of batches "
    "would keep the same examples together in every epoch. Do so"
)
_MIXED_THEN_BATCHED = re.compile(r"(?:Batch|Window|ToSequence)\w*(?:\[\d+\])?::(?:.*::)?Shuffle")


class Kept(NamedTuple):
    """What to do, the code for it, its place, and whether a cache stands before the map."""

    to_do: str
    change: str
    place: str
    cached_before: bool = False


def without_code(function: str) -> str:
    """Say what to do where code cannot be shown: then it is less certain that nothing is drawn at random."""
    return (
        f"Where {function} gives the same in each epoch, a cache of its results, if they fit in memory, lets only the "
        "first epoch run it."
    )


def kept_behind_map(evidence: Evidence, line: str) -> Kept | None:
    """Return how to keep the results of the map at a line; None if they cannot be kept, or that is not known."""
    if not mapped_name(evidence.code, *line_at(line)) or repeats_before(evidence):
        return None
    if mixes_before_batching(evidence):
        return Kept(_SINGLE_EXAMPLES, "", line)
    if moved := cached_behind(evidence.code, *line_at(line)):
        calls, cached = " and ".join(f"`{call}`" for call in moved.moved), ".cache()" in moved.moved
        to_do = f"Move {calls} after the map" if cached else f"Put `.cache()`, then {calls}, after it"
        return Kept(to_do, moved.change, place_of(line_at(line)[0], moved.line), cached)
    shuffled = only_shuffled_before(evidence) and not _in_one_order(evidence.code, *line_at(line))
    shuffle = f".shuffle({elements(evidence)})" if shuffled else ""
    if not shuffle and _is_cut_short(evidence):
        return None if _mixes_before(evidence) else _kept_behind_take(evidence, line)
    change = with_call(evidence.code, *line_at(line), "map", f".cache(){shuffle}")
    if not change:
        return Kept("Put `.cache()` after the map, and the shuffle after the cache", "", line) if shuffle else None
    behind = ", and shuffle after the cache, which keeps the order of the first epoch" if shuffle else ""
    return Kept(f"Cache its results{behind}", change, line)


def may_be_kept(evidence: Evidence, line: str) -> bool:
    """Whether the map at a line gets, and gives, the same in each epoch, where Python makes or changes elements."""
    if any("Generator" in name for name in before(evidence)):
        return False
    given = first_given(evidence.code.call_at(*line_at(line), "map"))
    in_python = evidence.ops.table["op_type"].astype(str).str.contains("PyFunc").any()
    return not in_python or (given is not None and gives_the_same(evidence.code, line_at(line)[0], given))


def _kept_behind_take(evidence: Evidence, line: str) -> Kept:
    """Return how to keep the elements that a pipeline takes of those that the map at a line would make."""
    takes = list(evidence.code.find(_TAKES))
    change = with_call(evidence.code, *takes[0], "take", ".cache()") if len(takes) == 1 else ""
    to_do = "Cache what is taken, after `.take(...)` (before it, the cache would never be complete)"
    return Kept(to_do, change, place_of(*takes[0]) if change else line)


def elements(evidence: Evidence) -> int:
    """Return in hundreds how often the slow stage asks for an element in each pass: no less than there are elements."""
    ops, slow = evidence.ops.table, str(evidence.tf_data.summary[_SLOW])
    taken = float(ops.loc[ops["op_name"].str.fullmatch(rf"{re.escape(slow)}::\w+(\[\d+\])?"), "occurrences"].max())
    passes = max(int(evidence.steps.table["epoch"].nunique()), 1)
    return _HUNDRED * (math.ceil(taken / passes / _HUNDRED) if taken > 0 else 1)


def only_shuffled_before(evidence: Evidence) -> bool:
    """Whether elements are shuffled before the slow stage, and not behind it: a cache would keep the order."""
    return _mixes_before(evidence) and "Shuffle" not in str(evidence.tf_data.summary[_SLOW])


def _mixes_before(evidence: Evidence) -> bool:
    return any("Shuffle" in name for name in before(evidence))


def mixes_before_batching(evidence: Evidence) -> bool:
    """Whether the slow stage gets batches of shuffled examples: kept batches would have the same ones for ever."""
    return any(_MIXED_THEN_BATCHED.search(name) for name in before(evidence))


def _in_one_order(code: Code, file: str, line: int) -> bool:
    """Whether the elements that the map at a line gets are shuffled once: they have that order in each pass."""
    call = code.call_at(file, line, "map")
    shuffles = [one for _, one in stages(code, file, call) if name_of(one.func) == "shuffle"] if call else []
    kept = [one for call in shuffles for one in call.keywords if one.arg == "reshuffle_each_iteration"]
    return any(ast.unparse(one.value) == "False" for one in kept)


def _is_cut_short(evidence: Evidence) -> bool:
    """Whether no pass reads all that the slow stage could make: the pipeline takes its first elements, and no rest."""
    taken = "Take" in str(evidence.tf_data.summary[_SLOW]) and any(evidence.code.find(_TAKES))
    return taken and not any(evidence.code.find(r"\.skip\("))


def repeats_before(evidence: Evidence) -> bool:
    """Whether the data is repeated before it reaches the slow stage, so that a cache would have no end."""
    return any("Repeat" in name for name in before(evidence))


def before(evidence: Evidence) -> list[str]:
    """Return the names of the stages before the slow one, below it."""
    slow = str(evidence.tf_data.summary[_SLOW])
    names = evidence.tf_data.table["long_name"].astype(str)
    return [name.removeprefix(slow) for name in names if name.startswith(f"{slow}::")]
