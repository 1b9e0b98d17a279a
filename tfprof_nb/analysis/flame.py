"""Flame graphs: time by paths, each path inside the one that it begins with.

Ops are merged by their name scopes, samples of Python by the calls on their stacks.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._units import US_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.python import Frames, frames_of_stacks, time_of_stacks
from tfprof_nb.analysis.result import Result
from tfprof_nb.decode.sections.python import PythonStacks

COLUMNS = ["name", "depth", "start_ms", "total_ms", "self_ms", "total_share", "kind", "op_name"]
LEAST_SHARE = 0.001
_DEEPEST = 64  # what lies deeper counts for the box at this depth
_PIPELINE = "Iterator::"
# Calls of functions, which TensorFlow puts before the names of the ops inside.
_CALLS = ("StatefulPartitionedCall", "PartitionedCall")
# Functions of a loop or a condition, which stand in names as ``while/body/_52``.
_BODIES, _NUMBER = ("body", "cond", "then", "else"), re.compile(r"_\d+")
_GRADIENT, _GRADIENTS, _OF_GRADIENT = "gradient_tape", ("gradient_tape", "gradients"), "_grad"
_PHASES = ("forward", "backward", "optimizer")
_MODULE = "<module>"  # code outside of functions, as in a cell
_NO_SAMPLES = "This profile has no samples of Python: it was recorded elsewhere, or with --no-python."
_NO_OPS = "No op was recorded."

Path = tuple[str, ...]


@dataclass(eq=False, kw_only=True)
class Flame(Result):
    """Where the time of ops goes, by name scope: `table`; and that of Python, by call: `python`.

    Attributes
    ----------
    python
        As `table`, of the samples of Python's stacks: the time during which a call was on the stack.
    """

    python: pd.DataFrame


def flame(
    ops: Ops,
    phases: Mapping[str, str],
    forests: Sequence[Forest],
    stacks: Sequence[PythonStacks],
    labels: Mapping[str, str],
) -> Flame:
    """Merge the self times of ops by name scope, and the samples of Python by call.

    The tables' columns are ``name depth start_ms total_ms self_ms total_share kind op_name``, a row per path, each
    before what it holds, the largest first. ``start_ms`` is where its box begins: the times of what stands before it in
    the box around it, added up. ``kind`` is ``forward``, ``backward`` or ``optimizer`` for ops of a model, else
    ``device``, ``host``, ``input`` or empty; a box is of the kind that takes most of it. For Python it is ``yours``,
    ``library`` or empty. ``op_name`` is the op that a row stands for, if it stands for one.

    Parameters
    ----------
    phases
        The phases of ops, as in `source`, by name.
    labels
        The names of notebook cells by the names of the files that they were compiled as.

    Returns
    -------
    Flame
        Its summary has ``ops_ms`` and ``python_ms``, the times in all, summed over threads.
    """
    by_scope, by_call = _ops(ops, phases), _python(forests, stacks, labels)
    summary = {"ops_ms": _whole(by_scope), "python_ms": _whole(by_call)}
    cut = [f"Boxes with less than {LEAST_SHARE:.1%} of the whole are left out."]
    notes = [_NO_OPS] if by_scope.empty else cut
    return Flame(by_scope, summary, [*notes, *([_NO_SAMPLES] if by_call.empty else [])], python=by_call)


def merge(paths: Iterable[Path], times_ms: Iterable[float], kinds: Mapping[Path, str], root: str) -> pd.DataFrame:
    """Add up times by path, and lay out the boxes.

    Parameters
    ----------
    paths, times_ms
        What took how long by itself; a path may occur often.
    kinds
        The kinds of paths that have one.
    root
        The name of the box around all.

    Returns
    -------
    DataFrame
        As in `flame`; empty if nothing took any time.
    """
    own: defaultdict[Path, float] = defaultdict(float)
    total: defaultdict[Path, float] = defaultdict(float)
    inside: defaultdict[Path, dict[Path, None]] = defaultdict(dict)
    for whole_path, time in zip(paths, times_ms, strict=True):
        path = whole_path[:_DEEPEST]
        own[path] += time
        for depth in range(len(path) + 1):
            total[path[:depth]] += time
            if depth:
                inside[path[: depth - 1]][path[:depth]] = None
    whole = total[()]
    if not whole > 0:
        return _no_rows()
    rows: list[tuple[object, ...]] = []
    waiting: list[tuple[Path, float]] = [((), 0.0)]
    while waiting:
        path, start = waiting.pop()
        took = total[path]
        name = path[-1] if path else root
        rows.append((name, len(path), start, took, own.get(path, 0.0), took / whole, kinds.get(path, ""), ""))
        seen = [one for one in inside.get(path, ()) if total[one] >= LEAST_SHARE * whole]
        seen.sort(key=lambda one: -total[one])
        starts = start + np.cumsum([0.0, *(total[one] for one in seen)])
        waiting += reversed(list(zip(seen, starts.tolist(), strict=False)))
    return pd.DataFrame(rows, columns=COLUMNS).astype(_no_rows().dtypes)


def _no_rows() -> pd.DataFrame:
    numbers = dict.fromkeys(("start_ms", "total_ms", "self_ms", "total_share"), np.float64)
    types = {name: numbers.get(name, np.int64 if name == "depth" else object) for name in COLUMNS}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in types.items()})


def _whole(table: pd.DataFrame) -> float:
    return float(table["total_ms"].iloc[0]) if len(table) else 0.0


def _ops(ops: Ops, phases: Mapping[str, str]) -> pd.DataFrame:
    columns = ops.table[["side", "op_name", "eager", "self_us"]]
    several = len(set(columns["side"])) > 1
    paths: list[Path] = []
    times: list[float] = []
    by_kind: defaultdict[Path, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    names: dict[Path, str] = {}
    for side, name, eager, self_us in columns.itertuples(index=False):
        path, kind = _scopes(str(name), bool(eager), str(side))
        if kind == side and (phase := phases.get(str(name), "")) in _PHASES:
            kind = phase
        path = (f"{side} ops", *path) if several else path
        paths.append(path)
        times.append(float(self_us) / US_PER_MS)
        for depth in range(1, min(len(path), _DEEPEST) + 1):
            by_kind[path[:depth]][kind] += float(self_us)
        names[path] = str(name)
    kinds = {path: max(spent, key=spent.__getitem__) for path, spent in by_kind.items()}
    kinds |= {(f"{side} ops",): side for side in ("host", "device") if several}
    return _with_names(merge(paths, times, kinds, "all ops"), names)


def _scopes(name: str, eager: bool, side: str) -> tuple[Path, str]:
    """Return the scopes that an op lies in, and its kind."""
    if name.startswith(_PIPELINE):
        return ("tf.data", *name.removeprefix(_PIPELINE).split("::")), "input"
    if eager:
        return ("eager ops", name), side
    parts = [part for part in name.split("/") if part]
    while len(parts) > 1 and parts[0] in _CALLS:
        del parts[0]
    scopes = _without_repetition(parts)
    if any(part in _GRADIENTS for part in parts[:-1]):
        return (_GRADIENT, *scopes), "backward"
    return scopes or (name,), side


def _without_repetition(parts: list[str]) -> Path:
    """Return the scopes of an op, each once: a loop's body and a gradient repeat those that they lie in.

    Examples
    --------
    >>> _without_repetition("gradient_tape/rnn/while/rnn/while_grad/body/_52/gradients/rnn/while/cell/Mul".split("/"))
    ('rnn', 'while', 'cell', 'Mul')
    """
    kept: list[str] = []
    k, last = 0, len(parts) - 1
    while k < last:
        if parts[k] in _GRADIENTS:
            k += 1
        elif parts[k] in _BODIES and _NUMBER.fullmatch(parts[k + 1]):
            k += 2
        elif kept and k + len(kept) <= last and _is_repeated(parts[k : k + len(kept)], kept):
            k += len(kept)
        else:
            kept.append(parts[k])
            k += 1
    return (*kept, *parts[k:])


def _is_repeated(parts: list[str], kept: list[str]) -> bool:
    return [*parts[:-1], parts[-1].removesuffix(_OF_GRADIENT)] == kept


def _with_names(table: pd.DataFrame, names: Mapping[Path, str]) -> pd.DataFrame:
    """Add the ops that rows stand for."""
    found: list[str] = []
    path: list[str] = []
    for name, depth in zip(table["name"], table["depth"], strict=True):
        path[max(0, depth - 1) :] = [name] if depth else []
        found.append(names.get(tuple(path), ""))
    return table.assign(op_name=pd.Series(found, dtype=object))


def _python(forests: Sequence[Forest], stacks: Sequence[PythonStacks], labels: Mapping[str, str]) -> pd.DataFrame:
    parts = [
        (frames_of_stacks(one, labels), time_of_stacks(forest, one))
        for forest, one in zip(forests, stacks, strict=True)
    ]
    several = len({thread for _, times in parts for thread in times["thread"]}) > 1
    paths: list[Path] = []
    all_times: list[float] = []
    kinds: dict[Path, str] = {}
    for frames, times in parts:
        folded: dict[int, tuple[Path, tuple[str, ...]]] = {}
        for stack, thread, time in times.itertuples(index=False):
            if stack not in folded:
                folded[stack] = _folded(frames, int(stack))
            path, kind = folded[stack]
            first = (f"{thread} thread{'s' if thread != 'main' else ''}",) if several else ()
            paths.append((*first, *path))
            all_times.append(float(time))
            kinds |= {(*first, *path[: k + 1]): kind[k] for k in range(min(len(path), _DEEPEST))}
    return merge(paths, all_times, kinds, "all samples of Python")


def _folded(frames: Frames, stack: int) -> tuple[Path, tuple[str, ...]]:
    """Return the calls of a stack, the outermost first, and their kinds.

    Calls within a library are one, and so are those of Python's own modules that it makes.
    """
    path: list[str] = []
    kinds: list[str] = []
    within = ""
    for k in frames.of(stack):
        name, place, library = str(frames.name[k]), frames.place[k], str(frames.library[k])
        if frames.users[k]:
            within = ""
            call = place if name == _MODULE else f"{name} ({place})"
            if call not in path[-1:]:  # a comprehension is a call of its own until Python 3.12
                path.append(call)
                kinds.append("yours")
        elif library and library != within and (frames.installed[k] or not within):
            path.append(f"{library}: {name}")
            kinds.append("library")
            within = library
    return tuple(path) or ("no code of yours",), tuple(kinds) or ("",)
