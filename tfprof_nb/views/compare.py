"""A program before and after a change: what was gained in words, then a picture, then the largest changes."""

import math
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.compare.between_runs import MIN_VALUES
from tfprof_nb.analysis.compare.compare import BETWEEN, DURATION, OUTSIDE, TIME, Comparison
from tfprof_nb.analysis.compare.headline import CAPTURE
from tfprof_nb.render import theme
from tfprof_nb.render.panels import Bars, Column, Lines, Note, Panel, Part, Series, Table
from tfprof_nb.views.categories import STEP_CATEGORIES, STEP_LABELS, Category
from tfprof_nb.views.columns import OP, op_column, time_unit

_PARTS = STEP_CATEGORIES | {
    OUTSIDE: Category(
        "outside of these steps", theme.SILVER, "between steps: Python, callbacks, evaluation, checkpoints"
    )
}
_LABELS = {
    "step_ms": "step time",
    BETWEEN: "gap to the next step",
    TIME: "time",
    DURATION: "whole capture",
    OUTSIDE: _PARTS[OUTSIDE].label,
    "peak_bytes": "in use",
    "heap_bytes": "heap",
    "stack_bytes": "stack",
    **STEP_LABELS,
}
_CHANCE = Column("p_value", "by chance", "share", meaning="probability of at least such a difference by chance alone")
_ROWS = 10
_SIDES = {"before": theme.OLIVE, "after": theme.FOREST}
_MIN_OTHER_FACTOR = 0.1  # as a logarithm
# A change of the gap between steps is mentioned from this share of a step on.
_MIN_GAP_CHANGE = 0.05


def panels(compared: Comparison) -> list[Panel]:
    """Show what was gained in words, the time before and after, the step, and the largest changes."""
    return [
        *answer(compared),
        *_bars(compared),
        *_runs(compared),
        _parts("What the time is made of", compared.table),
        *_steps(compared),
        *_ops("Ops that take less time", compared.ops[compared.ops["change"] < 0]),
        *_ops("Ops that take more time", compared.ops[compared.ops["change"] > 0]),
        *_kernels(compared.kernels),
        *_memory(compared.memory),
        *_only("Ran only before", compared.only_before, "only_before"),
        *_only("Ran only after", compared.only_after, "only_after"),
        *(Note(note) for note in compared.notes),
    ]


def answer(compared: Comparison) -> list[Note]:
    """Say first whether the two can be compared, then what was gained, by what, and how steps changed."""
    numbers = compared.summary
    said = [headline(compared), whole(compared), changed(compared), step(compared)]
    if numbers["same_work"]:
        return _notes(said)
    return _notes([f"Not the same work: {'; '.join(numbers['why_not_same'])}.", *said])


def _notes(said: list[str]) -> list[Note]:
    first, *others = filter(None, said)
    return [Note(first, "answer"), *map(Note, others)]


def headline(compared: Comparison) -> str:
    """Put the speedup into a sentence, and say if it is too little to tell."""
    numbers = compared.summary
    change = _less_or_more(numbers["before_ms"], numbers["after_ms"])
    times = f"{_took(numbers)} ({change}{_interval(numbers)})"
    if numbers["verdict"] == "no difference":
        return f"No difference that {_runs_of(numbers)} could show: {times}."
    if numbers["verdict"] == "too small to tell":
        why = "Not certain" if _is_large(numbers) else "Too small to tell"
        return f"{why} from {_runs_of(numbers)}: {times}. {_to_tell(numbers)}"
    slower = numbers["verdict"] == "slower"
    factor = 1 / numbers["speedup"] if slower else numbers["speedup"]
    return f"{_units.number(factor)} times {'slower' if slower else 'faster'}: {times}."


def whole(compared: Comparison) -> str:
    """Say what whole captures, or longer training, gained, if what is done once makes another factor of it."""
    numbers = compared.summary
    factor = numbers["capture_speedup"]
    if numbers["longer_of"]:
        return _longer(numbers)
    if numbers["speedup_of"] == CAPTURE or not factor > 0 or not numbers["speedup"] > 0:
        return ""
    if abs(math.log(factor / numbers["speedup"])) < _MIN_OTHER_FACTOR:
        return ""
    times = [numbers[f"capture_{side}_ms"] for side in ("before", "after")]
    old, new = map(_units.milliseconds, times)
    return (
        f"The whole capture took {old}, now {new} ({_less_or_more(*times)}): "
        "it includes what is done once, making the model and tracing its functions."
    )


def _longer(numbers: dict[str, Any]) -> str:
    """Say what longer training gains, of which making the model and tracing are a smaller part."""
    old, new = (_units.milliseconds(numbers[f"longer_{side}_ms"]) for side in ("before", "after"))
    factor = numbers["longer_speedup"]
    said = f"{_units.number(max(factor, 1 / factor))} times {'faster' if factor > 1 else 'slower'}"
    one = str(numbers["longer_of"]).replace("time per", "one")
    return f"Longer training comes near to {said}: without making the model and tracing, {one} took {old}, now {new}."


def changed(compared: Comparison) -> str:
    """Say how the program was changed; empty if the profiles do not show it."""
    found = compared.summary["changes"]
    return f"What was changed: {'; '.join(found)}." if found else ""


def step(compared: Comparison) -> str:
    """Say how the median step changed, which may process more or less than before; empty without steps."""
    if compared.steps.empty:
        return ""
    row, numbers = compared.steps.iloc[0], compared.summary
    old, new = (_units.milliseconds(row[side]) for side in ("before", "after"))
    said = f"In detail: the median step took {old}, now {new}"
    if any(change.startswith(("batch size", "steps per execution", "functions")) for change in numbers["changes"]):
        said += "; steps before and after do not do the same"
    return f"{said}.{_between(compared.steps)}"


def _took(numbers: dict[str, Any]) -> str:
    old, new = (_units.milliseconds(numbers[f"{side}_ms"]) for side in ("before", "after"))
    of = numbers["speedup_of"]
    return f"{f'the {of}' if of == CAPTURE else of.replace('time per', 'one')} took {old}, now {new}"


def _interval(numbers: dict[str, Any]) -> str:
    if math.isnan(numbers["speedup_low"]):
        return ""
    low, high = (_units.number(numbers[f"speedup_{end}"]) for end in ("low", "high"))
    told = numbers["verdict"] in ("faster", "slower")  # else they are counted before that
    counted = f"{_runs_of(numbers)}, " if told else ""
    return f"; {counted}95% interval of the speedup: {low} to {high}"


def _less_or_more(old: float, new: float) -> str:
    if not old or old == new:
        return "no change"
    return f"{_units.percent(100 * abs(new - old) / old)} {'less' if new < old else 'more'}"


def _runs_of(numbers: dict[str, Any]) -> str:
    """Count the runs, once if both sides have as many."""
    counts = [numbers[f"measured_{side}"] for side in ("before", "after")]
    if counts == [1, 1]:
        return "one run of each"
    return f"{counts[0]} runs of each" if counts[0] == counts[1] else f"{counts[0]} and {counts[1]} runs"


def _to_tell(numbers: dict[str, Any]) -> str:
    """Say what such runs tell, and which tell more."""
    counts, limit = [numbers[f"measured_{side}"] for side in ("before", "after")], numbers["margin_percent"]
    least = f"can't tell less than {limit:.0f}%"
    if numbers["speedup_of"] == "time per run":
        return f"So few rounds {least}: use rounds=5."
    if min(counts) >= MIN_VALUES:
        return f"Unless runs take turns, they {least}, as machines drift: use `tp.experiment`."
    if _is_large(numbers):
        return "Other programs' load on the machine differed between the two, which may explain it: use --repeat 5."
    return f"{'Single captures' if max(counts) == 1 else 'So few captures'} {least}: use --repeat 5."


def _is_large(numbers: dict[str, Any]) -> bool:
    """Whether single captures differ by enough to tell, were it not for the load of other programs."""
    single = max(numbers["measured_before"], numbers["measured_after"]) == 1
    return single and abs(math.log(numbers["speedup"])) >= math.log1p(numbers["margin_percent"] / 100)


def _between(table: pd.DataFrame) -> str:
    """Say how the gap between steps changed, if it did; a loop may fetch its batches there."""
    gaps, whole = table[table["metric"] == BETWEEN], table.iloc[0]
    if gaps.empty or abs(gaps["change"].iloc[0]) < _MIN_GAP_CHANGE * whole["before"]:
        return ""
    old, new = (_units.milliseconds(gaps[side].iloc[0]) for side in ("before", "after"))
    return f" The gap between steps took {old}, now {new}."


def _bars(compared: Comparison) -> list[Panel]:
    """Draw each kind of work before and after, one bar below the other, with what it gained or lost."""
    rows = compared.table.set_index("metric")[["before", "after"]]
    shown = [key for key in _PARTS if key in rows.index]
    if not shown:
        return []
    pairs = [_pair(_PARTS[key], *rows.loc[key].astype(float)) for key in shown]
    of = compared.summary["speedup_of"]
    title = "The capture by kind of work" if of == CAPTURE else f"{of.capitalize()}, by kind of work"
    return [Bars(title, [bar for pair in pairs for bar in pair], "ms")]


def _pair(part: Category, before: float, after: float) -> tuple[Part, Part]:
    gain = f"{100 * (after - before) / before:+.0f}%" if before else "new"
    return Part(f"{part.label} · before", before, part.color), Part(f"after ({gain})", after, part.color)


def _runs(compared: Comparison) -> list[Panel]:
    sides = [compared.runs.loc[compared.runs["side"] == side, "time_ms"].to_numpy(np.float64) for side in _SIDES]
    most = max(map(len, sides))
    if most < 2:
        return []
    _, unit, factor = time_unit(compared.runs["time_ms"].max())
    series = [
        Series(side, factor * np.pad(times, (0, most - len(times)), constant_values=np.nan), color)
        for (side, color), times in zip(_SIDES.items(), sides, strict=True)
    ]
    label = f"{compared.summary['speedup_of']} ({unit})"
    return [Lines("Each run", np.arange(1.0, most + 1), series, "run", label)]


def _steps(compared: Comparison) -> list[Panel]:
    return [] if compared.steps.empty else [_parts("The step and its parts, by median", compared.steps, "steps")]


def _parts(title: str, table: pd.DataFrame, kept_in: str = "table") -> Table:
    """Return a table of a time and its parts, the largest change first."""
    parts = table.iloc[1:].sort_values("change", key=np.abs, ascending=False, kind="stable")
    rows = pd.concat([table.iloc[:1], parts])
    label = str(rows["unit"].iloc[0]).partition(" ")[2]
    columns = [Column("metric", label or "part"), *_numbers("ms"), *_known(table)]
    return Table(title, rows.assign(metric=rows["metric"].map(_LABELS)), columns, kept_in=kept_in)


def _ops(title: str, rows: pd.DataFrame) -> list[Panel]:
    if rows.empty:
        return []
    names = (op_column(meaning="its name after"), Column("op_type", "type"), Column("side", "runs on"))
    columns = [names[0], *_numbers("us"), *_known(rows), *names[1:]]
    return [Table(_per(title, rows), rows, columns, rows=_ROWS, selects=OP, kept_in="ops")]


def _kernels(rows: pd.DataFrame) -> list[Panel]:
    if rows.empty:
        return []
    columns = [Column("kernel", "kernel", "code"), *_numbers("us"), *_known(rows), op_column()]
    title = _per("GPU kernels with the largest changes", rows)
    return [Table(title, rows, columns, rows=_ROWS, selects=OP, kept_in="kernels")]


def _memory(rows: pd.DataFrame) -> list[Panel]:
    shown = rows[(rows["before"] > 0) | (rows["after"] > 0)].sort_values(["allocator", "metric"])
    if shown.empty:
        return []
    columns = [Column("allocator", "allocator", "code"), Column("metric", "memory"), *_numbers("bytes"), *_known(rows)]
    return [Table("Peak memory", shown.assign(metric=shown["metric"].map(_LABELS)), columns, kept_in="memory")]


def _only(title: str, rows: pd.DataFrame, kept_in: str) -> list[Panel]:
    if rows.empty:
        return []
    columns = [Column("name", "name", "code", path=True), Column("time", "time", "us"), Column("kind", "kind")]
    longest_first = rows.sort_values("time", ascending=False)
    return [Table(_per(title, rows), longest_first, columns, rows=_ROWS, kept_in=kept_in)]


def _per(title: str, rows: pd.DataFrame) -> str:
    per = str(rows["unit"].iloc[0]).partition(" ")[2]
    return f"{title}, {per}" if per else f"{title}, in the whole capture"


def _numbers(kind: _units.Kind) -> list[Column]:
    return [
        Column("before", "before", kind),
        Column("after", "after", kind),
        Column("change", "change", kind, meaning="negative: less than before", signed=True),
        Column("change_percent", "change in %", "percent", meaning="relative to before", signed=True),
    ]


def _known(rows: pd.DataFrame) -> list[Column]:
    return [_CHANCE] if rows["p_value"].notna().any() else []
