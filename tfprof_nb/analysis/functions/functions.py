"""Calls of `tf.function`: how often each ran, and how much of its time was in calls that traced or ran eagerly.

The rules are those of XProf's `xplane_to_tf_functions.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import not_for
from tfprof_nb.analysis.functions.retracing import Retracing, retracing
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.decode.sections.graphs import Graphs

_TYPES = {
    **dict.fromkeys(("function", "mode"), "str"),
    **dict.fromkeys(("calls", "tracings"), np.int64),
    **dict.fromkeys(("expensive_call_percent", "total_ms", "self_ms"), np.float64),
    "cause": "str",
    "new_shapes": np.int64,
}
COLUMNS = list(_TYPES)
_FIRST_TRACINGS = 2
# From this share of a function's time on, calls that trace or run eagerly are expensive.
_EXPENSIVE_PERCENT = 20.0


class Functions(Result):
    """Calls by function and mode."""


def functions(forests: Sequence[Forest], graphs: Sequence[Graphs] = ()) -> Functions:
    """Sum the calls of all hosts by function and mode, the longest self time first.

    A call's ``mode`` is ``eager``, ``concrete``, or ``traced`` (the call traced the function first) or ``notTraced``
    with the compiler, ``-xla`` or ``-nonXla``. Self time excludes functions that the call called in turn. ``tracings``
    and ``expensive_call_percent`` describe the function, in each of its rows: how often it was traced since the program
    began, and the percentage of its self time in traced and eager calls. ``cause`` names the argument that caused
    retracing; empty if there was none, or if it is unknown. ``new_shapes`` counts the arguments that differ in shape;
    those that differ alike are one. Functions of one name may be several, such as those that
    Keras makes for each model: the first tracing of each is no retracing.

    Returns
    -------
    Functions
        Its summary has ``functions``, ``calls``, ``tracings`` (of all functions), ``retraced`` (the functions that
        were traced again during the capture), ``expensive`` (the functions with 20 percent or more) and ``compilers``
        (for each function ``XLA``, ``OTHER``, ``MIXED``, or None for neither).
    """
    calls = pd.concat([_no_calls(), *(forest.once(function_calls) for forest in forests)], ignore_index=True)
    if calls.empty:
        why = not_for(forests, "calls of tf.functions") or "No call of a tf.function is in this capture."
        return Functions(empty_table(_TYPES), _summary(calls, []), [why])
    table = calls.groupby(["function", "mode"], as_index=False).agg(
        calls=("self_ps", "size"), total_ps=("total_ps", "sum"), self_ps=("self_ps", "sum")
    )
    expensive_ps = calls["self_ps"].where(calls["mode"].str.startswith(("traced", "eager")), 0)
    by_function = calls.assign(expensive_ps=expensive_ps).groupby("function")
    percent = 100 * by_function["expensive_ps"].sum() / by_function["self_ps"].sum().clip(lower=1)
    table["tracings"] = table["function"].map(by_function["tracings"].max())
    table["expensive_call_percent"] = table["function"].map(percent)
    table["total_ms"] = table["total_ps"] / PS_PER_MS
    table["self_ms"] = table["self_ps"] / PS_PER_MS
    traced = table.loc[table["mode"].str.startswith("traced"), "function"].unique()
    retraced = set(calls.loc[calls["again"].astype(bool), "function"])
    several = _functions_of_name(calls)
    causes = {
        name: retracing(str(name), graphs, again=name in retraced, functions=int(several[name]))
        for name in sorted(traced)
    }
    of_rows = [causes.get(name, Retracing()) for name in table["function"]]
    table["cause"] = [of_row.cause for of_row in of_rows]
    table["new_shapes"] = [of_row.new_shapes for of_row in of_rows]
    order = ["self_ms", "function", "mode"]
    table = table.sort_values(order, ascending=[False, True, True], ignore_index=True)[COLUMNS]
    notes = [f"{name}: {found.cause}." for name, found in causes.items() if found.cause]
    return Functions(table, _summary(table, sorted(retraced)), notes)


def function_calls(forest: Forest) -> pd.DataFrame:
    """Return one row per call: the function, the mode, its tracings up to then, whether it traced again, and times."""
    host = forest.host
    modes = host.texts("tf_function_call")
    if modes.categories is None:
        return _no_calls()
    calls = modes.rows[forest.on_host[modes.rows]]
    table = pd.DataFrame(
        {
            "function": host.names[host.metadata[calls]],
            "mode": forest.texts_at("tf_function_call", calls),
            "tracings": host.ints("tracing_count").at(calls, missing=0),
            "total_ps": host.duration_ps[calls],
            "self_ps": forest.self_ps_among(calls),
        }
    )
    return table.assign(again=_again(table, host.start_ps[calls]))


def _again(calls: pd.DataFrame, start_ps: Int64) -> pd.Series[bool]:
    """Flag the calls that traced a function that was traced before.

    Each function counts its own tracings, and begins with one, or with two if it makes variables. A function whose
    name was seen with no smaller count is another one. An unknown count is 0.
    """
    traced = calls[calls["mode"].str.startswith("traced")]
    by_time = calls.iloc[np.argsort(start_ps, kind="stable")].groupby("function", sort=False)["tracings"]
    lowest_before = by_time.cummin().groupby(calls["function"], sort=False).shift()
    counts = traced["tracings"]
    again = (counts == 0) | (counts > lowest_before.reindex(traced.index).fillna(_FIRST_TRACINGS))
    return again.reindex(calls.index, fill_value=False)


def _functions_of_name(calls: pd.DataFrame) -> pd.Series[Any]:
    """Return how many functions of each name traced, at least: none traced more often than the highest count says."""
    traced = calls[calls["mode"].str.startswith("traced")].groupby("function")["tracings"].agg(["size", "max"])
    at_least = -(-traced["size"] // traced["max"].clip(lower=1))
    return at_least.where(traced["max"] > 0, 1)


def _summary(table: pd.DataFrame, retraced: list[str]) -> dict[str, object]:
    by_function = table.groupby("function")
    percent = by_function["expensive_call_percent"].max() if len(table) else pd.Series(dtype=float)
    return {
        "functions": len(by_function),
        "calls": int(table["calls"].sum()) if len(table) else 0,
        "tracings": int(by_function["tracings"].max().sum()),
        "retraced": retraced,
        "expensive": sorted(percent.index[percent >= _EXPENSIVE_PERCENT]),
        "compilers": {name: _compiler(set(modes)) for name, modes in by_function["mode"]},
    }


def _compiler(modes: set[str]) -> str | None:
    xla = any(mode.endswith("-xla") for mode in modes)
    other = any(mode.endswith("-nonXla") for mode in modes)
    if xla and other:
        return "MIXED"
    return "XLA" if xla else "OTHER" if other else None


def _no_calls() -> pd.DataFrame:
    return empty_table(
        {
            "function": object,
            "mode": object,
            "tracings": np.int64,
            "total_ps": np.int64,
            "self_ps": np.int64,
            "again": bool,
        }
    )
