"""A profile in brief, as plain values: for issues, assistants and programs. Its form is in ``docs/digest.md``."""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.compare.headline import CAPTURE
from tfprof_nb.analysis.compare.measured import Measured
from tfprof_nb.analysis.compare.repeats import repeats
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.source.source import SourceLines
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.decode.redaction import without_paths

VERSION = 1
_FIGURES = 4
_MAX_TEXT, _MAX_CODE = 400, 800  # characters
_MAX_FINDINGS = _MAX_NOTES = 8
# An absolute path: two names at least, so that no division in a line of code is taken for one.
_FOLDERS = re.compile(r"""(?<![\w:/.)\]])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:'"]+[/\\])+([^\s/\\:'"]*)""")
_HOME = re.compile(r"""(?<![\w/])~[/\\]([^\s'"]*)""")
_FINDING = [
    "severity",
    "finding",
    "evidence",
    "fix",
    "change",
    "place",
    "gain_low_percent",
    "gain_high_percent",
    "gain_of",
    "rule",
]


@dataclass(frozen=True, eq=False)
class Digested:
    """What a digest is made of."""

    name: str
    answer: str
    overview: Overview
    advice: Advice
    ops: Ops
    source: SourceLines
    measured: Measured
    capture_ms: float


def digest(of: Digested, rows: int = 10) -> dict[str, Any]:
    """Return a profile in brief, as JSON can hold it.

    Numbers have four significant figures, None is unknown. Paths have lost their folders, texts end after 400
    characters; nothing of the environment is in it.
    """
    numbers, work = of.overview.summary, of.measured.work
    paced = repeats([of.measured]).summary
    found = {
        "format": "tfprof_nb digest",
        "version": VERSION,
        "name": of.name,
        "tensorflow": work.tensorflow or None,
        "device": work.device,
        "hosts": work.hosts,
        "capture_ms": of.capture_ms,
        "verdict": {
            "answer": of.answer,
            "input_bound": numbers["verdict"],
            "input_percent": numbers["input_percent"],
            "other_percent": numbers["other_percent"],
            "device_busy_percent": numbers["device_busy_percent"],
        },
        "findings": _findings(of.advice.table.head(_MAX_FINDINGS)),
        "steps": _steps(of.measured),
        "time": {
            "per": "capture" if paced["time_of"] == CAPTURE else paced["time_of"],
            "ms": paced["time_ms"],
            "batch": work.batch,
            "steps_per_execution": work.per_execution,
            "other_programs_percent": 100 * of.measured.other_load,
        },
        "top_ops": _ops(of.ops.table.head(rows)),
        "lines": _lines(of.source.table, rows),
        "notes": list(dict.fromkeys(map(without_paths, [*of.overview.notes, *of.advice.notes])))[:_MAX_NOTES],
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _findings(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the findings; a change that is too long is left out, as a part of it is no use."""
    found = _records(table, _FINDING)
    return [one | {"change": _Code(one["change"] if len(one["change"]) <= _MAX_CODE else "")} for one in found]


class _Code(str):
    """Text that must not be cut."""

    __slots__ = ()


def _steps(measured: Measured) -> dict[str, Any]:
    times, summary = measured.steps.timed["step_ms"], measured.steps.summary
    return {
        "captured": summary["steps"],
        "measured": len(times),
        "source": summary["source"],
        "median_ms": times.median(),
        **{f"{what}_ms": summary[f"step_ms_{what}"] for what in ("mean", "std", "min", "max")},
        "parts_ms": {part: mean for part in PARTS if (mean := summary[f"{part}_mean"]) > 0},
    }


def _ops(table: pd.DataFrame) -> list[dict[str, Any]]:
    shown = table.assign(self_ms=table["self_us"] / 1000, self_percent=100 * table["self_share"])
    return _records(shown, ["op_name", "op_type", "side", "occurrences", "self_ms", "self_percent"])


def _lines(table: pd.DataFrame, rows: int) -> list[dict[str, Any]]:
    """Return the lines that take most, of the cell by their own time, of other files by that of their ops."""
    heavy = table.assign(ms=table["self_ms"].fillna(table["op_ms"])).sort_values("ms", ascending=False, kind="stable")
    return _records(heavy[heavy["ms"] > 0].head(rows), ["file", "line", "code", "self_ms", "op_ms"])


def _records(table: pd.DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = table.reindex(columns=columns).to_dict("records")  # type: ignore[assignment]
    return records


def _plain(value: Any) -> Any:
    """Return a value of Python's own types, short and without folders."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return _short(value)
    if value is None or value is pd.NA:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return _rounded(float(value))


def _short(text: str) -> str:
    short = _HOME.sub(r"…/\1", _FOLDERS.sub(r"…/\1", text))
    return short if len(short) <= _MAX_TEXT or isinstance(text, _Code) else f"{short[: _MAX_TEXT - 1]}…"


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{_FIGURES}g}")
    return int(rounded) if rounded.is_integer() else rounded
