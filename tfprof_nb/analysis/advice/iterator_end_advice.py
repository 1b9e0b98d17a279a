"""What to change about threads that wait for the end of an old iterator of tf.data."""

from __future__ import annotations

import ast

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import name_of

_FIX = "Turn the autotuner off{numbers}: `options = tf.data.Options()`, `options.autotune.enabled = False`, and {end}."
_NUMBERS = ", and write numbers in place of tf.data.AUTOTUNE"
_END = "end the pipeline with `.with_options(options)`"
_OF_ARRAYS = (
    "give Keras a dataset with these options in place of arrays: "
    "`tf.data.Dataset.from_tensor_slices({data}).shuffle(len({first})).batch({size}).with_options(options)`"
)
_BATCH_OF_KERAS = "32"

RULE = Rule(
    "old-iterators-end",
    "The program waits for old iterators of tf.data to end",
    "Looks for threads that wait for the autotuner of an iterator that ends, while no other thread works.",
    "The autotuner sleeps, longer the longer its iterator was in use, and ends when it wakes up. Such waits come by "
    "chance.",
    group="input",
    page="trace",
    moderate=10.0,
    of="cell",
    saved=(0.0, 1.0),
)


def iterator_end_findings(evidence: Evidence) -> list[Finding]:
    """Report waits for an autotuner that sleeps when its iterator ends. They come by chance: no program is at fault."""
    found, whole_ms = evidence.sleeps(), float(evidence.overview.summary["capture_ms"])
    percent = min(100.0, 100 * found.total_ms / whole_ms) if whole_ms > 0 else 0.0
    if percent < RULE.moderate:
        return []
    times = "An old iterator" if found.times == 1 else f"{_units.count(found.times)} old iterators"
    in_all = f"{_units.milliseconds(found.total_ms)}{' in all' if found.times > 1 else ''}"
    return [
        Finding(
            "info",
            f"The program waits for old iterators of tf.data to end: {_units.percent(percent)} of the cell's time",
            f"{times} took {in_all} to end, while no other thread worked: the program waits until the autotuner of "
            "tf.data wakes up. It sleeps longer, the longer an iterator is in use. Not every run has such waits.",
            fix_of(evidence),
            percent,
            start_ms=found.longest_start_ms,
            duration_ms=found.longest_ms,
            proved_by=RULE.page,
            rule=RULE.id,
            gain_low_percent=0.0,
            gain_high_percent=percent,
            gain_of="cell",
        )
    ]


def fix_of(evidence: Evidence) -> str:
    """Say how to turn the autotuner off in this program."""
    code = evidence.code
    known = any(map(code.text, code.files))
    fits = _fits(code)
    arrays = known and (not any(code.find(r"[Dd]ataset|tf\.data")) or (fits and all(map(_has_targets, fits))))
    numbers = _NUMBERS if not known or (not arrays and any(code.find("AUTOTUNE"))) else ""
    return _FIX.format(numbers=numbers, end=_of_arrays(fits) if arrays else _END)


def _fits(code: Code) -> list[ast.Call]:
    """Return the calls of ``fit`` in the profiled cell; those of the whole program if it has none."""
    calls = {file: [one for one in code.nodes(file, ast.Call) if name_of(one.func) == "fit"] for file in code.files}
    return calls.get("cell") or [one for of_file in calls.values() for one in of_file]


def _has_targets(fit: ast.Call) -> bool:
    """Whether a call of ``fit`` is given the targets apart, which Keras does not take beside a dataset."""
    return len(fit.args) > 1 or any(keyword.arg == "y" for keyword in fit.keywords)


def _of_arrays(fits: list[ast.Call]) -> str:
    """Say how to make a dataset of the arrays that the program's only call of ``fit`` is given."""
    if len({ast.unparse(call) for call in fits}) != 1:
        return _OF_ARRAYS.format(data="(x, y)", first="x", size="n")
    named = {keyword.arg: ast.unparse(keyword.value) for keyword in fits[0].keywords}
    given = dict(zip(("x", "y", "batch_size"), map(ast.unparse, fits[0].args), strict=False)) | named
    first, second = given.get("x", "x"), given.get("y")
    data = f"({first}, {second})" if second else first
    return _OF_ARRAYS.format(data=data, first=first, size=given.get("batch_size", _BATCH_OF_KERAS))
