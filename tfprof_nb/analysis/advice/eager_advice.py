"""What to change about ops that run one by one, outside any tf.function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.eager_loop_advice import EAGER_OPS, eager_loop, eager_ops
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import Finding, at_most, saving, with_first_call
from tfprof_nb.analysis.advice.python_advice import joined_once
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.calls import called_model, called_object
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.rewriting import without_argument
from tfprof_nb.analysis.source.syntax import holds, name_of
from tfprof_nb.analysis.source.traceable import draws, gets_numbers, has_effects, makes_objects, uses_values

MOSTLY_EAGER_PERCENT = 50.0
_MANY_OPS = 30
# Calls that run a graph, or wait for what one gives.
_RUNS_GRAPHS = (
    r"Function\.__call__|Trainer\.|on_batch|Iterator|\.(?:numpy|__float__|__int__|__index__|__bool__|__array__)$"
)
_EAGER_IN = ("Keras", "TensorFlow")
_EAGER_PERCENT = 10.0
_TELLS_MORE = 1.2  # than a single line of it
_FETCHING_OPS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
_NOT_EAGERLY_IN_KERAS = "Remove run_eagerly=True from model.compile, and tf.config.run_functions_eagerly(True)."
_NOT_EAGERLY = "Put @tf.function on the function that runs a step."
_INTO_A_FUNCTION = "Put these ops into a function with @tf.function, or into the one that the loop calls already."
_INTO_ITS_OWN = "Put what this line computes into a function with @tf.function, and call that."
_COUNTS = re.compile(r"\bin range\((?!len\b)|^while\b")  # a loop that goes through no data
_ALL_AT_ONCE = "If it takes batches, call it once for all that `{}` ({}) goes through."
_TRACED_MODEL = (
    "Call a traced form of it: `traced = tf.function({0})` before the loop, and `traced(...)` in place of `{0}(...)`. "
    "Its ops then run as one graph."
)
_ASKED_TO_RUN_EAGERLY = r"(run_eagerly *= *(?!False\b|None\b|=)\S|tf\.config\.run_functions_eagerly\((?!False\b)\S)"
_TRACED_BY_KERAS = ("train_step", "compute_loss", "compute_metrics", "call", "update_state")
_ONCE = "would run once, when the function is traced, and give the same numbers in every call"
_FIRST_WITH_TENSORS = (
    "Compute with TensorFlow's ops in {needing}: `{needs}` {why} (tf.random, "
    "tf.gather, tf.argsort and Keras' metrics replace most of NumPy). Then remove {what}."
)
_SAVED = 0.6  # of the time between ops, at least
_LARGE_OPS_PERCENT = 10.0  # less time between ops is not worth a word

EAGER_LINE = Rule(
    "eager-line",
    "A line runs its ops one by one beside tf.functions",
    "Looks for lines, or functions that could be traced, whose ops run outside of any tf.function and take much of the "
    "training.",
    "Python starts each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    group="tracing",
    page="python",
    moderate=15.0,
    high=25.0,
    of="training",
    saved=(0.5, None),
    supersedes=("dominant-layer",),
    part_of="eager-ops",
    once_ms=EAGER_OPS.once_ms,
    results="close",
)
GROWN = Rule(
    "grown-by-concatenation",
    "What was collected so far is copied in each step",
    "Looks for lines that join an array or tensor to itself and a new part, in each step.",
    "Each time all rows so far are copied, so the time grows with the square of their number. A list copies nothing.",
    group="python",
    page="python",
    moderate=15.0,
    high=25.0,
    of="training",
    saved=(0.5, None),
    supersedes=("dominant-op",),
)


def eager_findings(evidence: Evidence, python: Sequence[Finding]) -> list[Finding]:
    """Check ops that run repeatedly: an op that runs eagerly once, before the steps, costs them nothing."""
    percent = eager_percent(evidence)
    if not evidence.is_tensorflows:
        return []
    if evidence.percent("eager") <= _EAGER_PERCENT or percent <= _EAGER_PERCENT:
        return []
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    mostly = percent >= MOSTLY_EAGER_PERCENT and not runs_functions(evidence)
    if runs_functions(evidence) and by_keras:  # what is eager then is Keras' own work, such as saving
        return []
    if runs_functions(evidence):
        return _eager_line(evidence, percent, python)
    between = between_ops_percent(evidence)
    if between < _LARGE_OPS_PERCENT:  # the ops themselves take the time
        return []
    asked = next(evidence.code.find(_ASKED_TO_RUN_EAGERLY), None)
    function, place, change = ("", *_without_eagerly(evidence, *asked)) if asked else _step_function(evidence)
    needing, needs = (
        _needing_values(evidence, asked) if asked else (function, uses_values(evidence.code, *line_at(place)))
    )
    if needs or (not asked and not _may_be_graph(evidence, function, place)):
        change = ""
    what, stepped = _asks(evidence, asked) if asked else function, len(evidence.steps.table) > 0
    found = Finding(
        "high" if mostly and between >= EAGER_LINE.high else "medium",
        f"Ops run one by one{(what or place) and ': '}{f'{what} ({place})' if what and place else what or place}",
        f"{_units.percent(percent)} of the host's op time is in ops that run eagerly{' in each step' * stepped}: "
        f"Python starts each, and in {_units.percent(between)} of the time none runs.",
        _without(evidence, asked, needing, needs)
        if asked
        else _NOT_EAGERLY_IN_KERAS
        if by_keras
        else _split(function, needs)
        if needs
        else _traced(evidence, function, place, change),
        between,
        proved_by="ops",
        place=place,
        gain_low_percent=_SAVED * between,
        gain_high_percent=at_most(between),
        change=change,
        gain_of="training" if stepped else "cell",
        rule=EAGER_OPS.id,
        subject=what,
    )
    return [with_first_call(evidence, found, EAGER_OPS.once_ms)]


def between_ops_percent(evidence: Evidence) -> float:
    """Return the share of the time in which Python works between ops that run one by one, and none of them runs.

    That is all that a graph can save. Without samples of Python, it is all in which no op runs.
    """
    calls, steps, ops = evidence.python.calls, evidence.steps.table, evidence.ops.table
    calls = calls[(calls["thread"] == "main") & ~calls["call"].astype(str).str.contains(_FETCHING_OPS)]
    own = calls[calls["library"].isin(_EAGER_IN)]
    whole_ms = training_ms(evidence) if len(steps) else float(evidence.overview.summary["capture_ms"])
    on_host = (ops["side"] == "host") & ops["eager"].astype(bool)
    ops_ms = float(ops.loc[on_host, "self_us"].sum()) / _units.US_PER_MS
    if calls.empty:
        between_ms = whole_ms - ops_ms
    elif len(steps):
        between_ms = float(own["nothing_ms"].sum() + own["between_steps_ms"].sum())
    else:
        between_ms = float(own["self_ms"].sum()) - ops_ms
    return min(100.0, max(0.0, 100 * between_ms / whole_ms)) if whole_ms > 0 else 0.0


def _may_be_graph(evidence: Evidence, function: str, place: str) -> bool:
    """Whether a function can be decorated as it stands: it does nothing that a graph would do once, or cannot do."""
    at = line_at(place)
    decorated = evidence.code.line(at[0], at[1] - 1).startswith("@")
    unfit = (
        has_effects(evidence.code, *at) or makes_objects(evidence.code, *at) or gets_numbers(evidence.code, function)
    )
    return not decorated and not unfit


def _traced(evidence: Evidence, function: str, place: str, change: str) -> str:
    """Say what to put into a tf.function: a function, a model that a line calls, the body of its loop, or the line."""
    if function or not place:
        return _decorated(function, change) if place else _NOT_EAGERLY
    if model := called_model(evidence.code, *line_at(place)):
        return _TRACED_MODEL.format(model)
    return _decorated("", "") if evidence.code.in_loop(*line_at(place)) else _INTO_ITS_OWN


def _eager_line(evidence: Evidence, percent: float, python: Sequence[Finding]) -> list[Finding]:
    """Name the line that runs most ops one by one beside tf.functions, unless a finding on Python tells more."""
    calls, whole_ms = _eager_calls(evidence, percent), training_ms(evidence)
    lines = calls.groupby(["file", "line"])["eager_ms"].sum().sort_values(ascending=False, kind="stable")
    loop = max(eager_loop(evidence), key=lambda found: found.estimated_gain_percent, default=None)
    if lines.empty or whole_ms <= 0 or 100 * lines.iloc[0] < EAGER_LINE.moderate * whole_ms:
        return [loop] if loop else []
    file, line = lines.index[0]
    at_line = calls[(calls["file"] == file) & (calls["line"] == line)]
    function, ops = str(at_line["function"].iloc[0]), round(float(at_line["ops_per_step"].max()))
    definition = _traceable(evidence, file, function)
    whole = (calls["function"] == function) & (calls["file"] == file)
    of_function = calls[whole]
    share = min(1.0, float(calls.loc[whole, "eager_ms"].sum() if definition else lines.iloc[0]) / whole_ms)
    if loop and loop.estimated_gain_percent > _TELLS_MORE * 100 * share:
        return [loop]
    if any(finding.estimated_gain_percent >= 100 * share for finding in python):
        return []
    place, code, change = place_of(file, line), evidence.code.line(file, line), ""
    if joined := joined_once(code):
        return [_growing(evidence, place, code, joined, 100 * share)]
    what, fix = f"`{_units.shorten(code, 80)}`" if code else "The line", _INTO_A_FUNCTION
    if definition:
        place, what = place_of(file, definition), function
        change = f"@tf.function\n{evidence.code.line(file, definition)}"
        fix = _decorated(function, change)
    else:
        if model := _called_model(evidence, at_line, file, line):
            fix = _TRACED_MODEL.format(model)
        head, loop_code = evidence.code.loop_line(file, line)
        if function != "<module>" and head and not _COUNTS.search(loop_code):
            at_once = _ALL_AT_ONCE.format(_units.shorten(loop_code, 60), place_of(file, head))
            fix = f"{at_once} Otherwise {fix[:1].lower()}{fix[1:]}"
    many = f"its {_units.count(ops)} ops per step" if ops >= _MANY_OPS and not definition else "its ops"
    found = saving(
        EAGER_LINE,
        100 * share,
        saved=_parts_saved(of_function if definition else at_line, 100 * share),
        finding=f"Ops run one by one: {f'{function} ({place})' if definition else place}",
        evidence=f"{what} takes {evidence.of_training(100 * share)}: {many} run outside any tf.function, where "
        "Python starts each.",
        fix=fix,
        place=place,
        change=change,
        subject=function if definition else "",
    )
    return [with_first_call(evidence, found, EAGER_LINE.once_ms)]


def _parts_saved(calls: pd.DataFrame, percent: float) -> tuple[float, float]:
    """Return which parts of the time of lines that run ops one by one a graph saves: that between their ops."""
    ops = float(calls["ops_ms"].sum() / max(calls["eager_ms"].sum(), 1e-9))
    between = min(1.0, max(0.0, 1 - ops))
    return _SAVED * between, at_most(percent * between) / max(percent, 1e-9)


def _called_model(evidence: Evidence, calls: pd.DataFrame, file: str, line: int) -> str:
    """Return the model or layer of Keras that takes most of a line's time; empty if its name is not certain."""
    by_call = calls.groupby("call")["eager_ms"].sum()
    mostly = by_call.get("Layer.__call__", 0.0) > MOSTLY_EAGER_PERCENT / 100 * by_call.sum()
    return called_object(evidence.code, file, line) if mostly else ""


def _growing(evidence: Evidence, place: str, code: str, fix: str, percent: float) -> Finding:
    return saving(
        GROWN,
        percent,
        finding=f"What was collected so far is copied in each step ({place})",
        evidence=f"`{_units.shorten(code, 80)}` takes {evidence.of_training(percent)}.",
        fix=fix,
        place=place,
    )


def _eager_calls(evidence: Evidence, percent: float) -> pd.DataFrame:
    """Return what lines of the main thread called, with the time of its eager ops and of the Python that starts them.

    Where many ops are known to run at a line, the Python between them belongs to them; else only the ops count, and
    only if most ops are eager. Graphs that a line runs, such as the gradient of a tf.function, are not eager.
    """
    calls, counted = evidence.python.calls, _ops_per_step(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & ~calls["call"].str.contains(_RUNS_GRAPHS)]
    table = evidence.python.table
    callers = dict(zip(zip(table["file"], table["line"], strict=True), table["called_from"], strict=True))
    ops = [
        max(counted.get(place, 0.0), counted.get(line_at(str(callers.get(place, ""))), 0.0))
        for place in zip(calls["file"], calls["line"], strict=True)
    ]
    with_python = calls["in_steps_ms"] + calls["between_steps_ms"]
    few = calls["ops_ms"] if percent >= MOSTLY_EAGER_PERCENT else 0.0
    many = np.array(ops, dtype=np.float64) >= _MANY_OPS
    whole = with_python.where(many & calls["library"].isin(_EAGER_IN), few)
    return calls.assign(ops_per_step=ops, eager_ms=(whole - calls["graphs_ms"]).clip(lower=0.0))


def _ops_per_step(evidence: Evidence) -> dict[tuple[str, int], float]:
    """Return how many ops, outside of layers and their gradients, each line runs in a step, by file and line."""
    counts = eager_ops(evidence).groupby(["file", "line"], as_index=False)["occurrences"].sum()
    steps = max(len(evidence.steps.table), 1)
    rows = zip(counts["file"], counts["line"], counts["occurrences"], strict=True)
    return {(str(file), int(line)): count / steps for file, line, count in rows}


def _traceable(evidence: Evidence, file: str, function: str) -> int:
    """Return the line of the ``def`` of a function whose body can be a graph; 0 if it must run as it is."""
    line = evidence.code.definition(file, function) if function != "<module>" else 0
    forbids = uses_values(evidence.code, file, line) or not _may_be_graph(evidence, function, place_of(file, line))
    return line if line and not forbids else 0


def _without_eagerly(evidence: Evidence, file: str, line: int) -> tuple[str, str]:
    """Return the place that asks for eager execution, and the code without that."""
    if evidence.code.line(file, line).startswith("tf.config."):
        return place_of(file, line), "tf.config.run_functions_eagerly(False)"
    begin, change = without_argument(evidence.code, file, line, "run_eagerly")
    return place_of(file, begin or line), change


def _step_function(evidence: Evidence) -> tuple[str, str, str]:
    """Return the user's function that runs most of the ops, its place and the code that decorates it.

    Of functions that call one another it is the innermost with most of the time in TensorFlow. Without one, the place
    is that of the line with most time there.
    """
    sampled = evidence.python.table, evidence.python.calls
    table, calls = (rows[(rows["thread"] == "main") & (rows["line"] > 0)] for rows in sampled)
    if table.empty:
        return "", "", ""
    in_library = calls["library"].isin(_EAGER_IN)
    running = calls[in_library] if in_library.any() else table
    totals = table[table["function"] != "<module>"].groupby(["function", "file"], sort=False)["total_ms"].sum()
    if in_library.any():
        totals -= _outside_library(table, calls[in_library]).reindex(totals.index, fill_value=0.0)
    large = totals[totals >= MOSTLY_EAGER_PERCENT / 100 * float(running["self_ms"].sum())]
    if large.empty:
        first = running.iloc[0]
        return "", place_of(first["file"], first["line"]), ""
    name, file = map(str, large.index[int(np.argmin(large))])
    line = evidence.code.definition(file, name)
    place = place_of(file, line) if line else ""
    return name, place, f"@tf.function\n{evidence.code.line(file, line)}" if line else ""


def _outside_library(table: pd.DataFrame, in_library: pd.DataFrame) -> pd.Series[float]:
    """Return by function and file the time that it, and what it calls, computes in Python: no op runs in it."""
    place = ["file", "line"]
    ops = in_library.groupby(place)["self_ms"].sum()
    rows = table.drop_duplicates(place).set_index(place)
    other = (rows["self_ms"] - ops.reindex(rows.index, fill_value=0.0)).clip(lower=0.0)
    times: dict[tuple[str, str], float] = {}
    for (file, line), time_ms in zip(other.index.tolist(), other.tolist(), strict=True):
        at, passed = (str(file), int(line)), dict[tuple[str, int], str]()
        while at in rows.index and at not in passed:
            passed[at] = str(rows.at[at, "function"])
            at = line_at(str(rows.at[at, "called_from"]))
        for function in {(name, place[0]) for place, name in passed.items()}:
            times[function] = times.get(function, 0.0) + time_ms
    return pd.Series(times, dtype=np.float64)


def _decorated(function: str, change: str) -> str:
    """Say what to put into a tf.function."""
    if not function:
        return "Move the body of the loop into a function, and put @tf.function above it."
    before = f"`{_units.shorten(change.splitlines()[1], 80)}`" if change else function
    return (
        f"Put @tf.function above {before}. Its ops then run as one graph; Python code in it, such as print or "
        ".numpy(), runs only when it is traced."
    )


def _split(function: str, needs: str) -> str:
    """Say what to put into a tf.function where a function needs values, which only exist outside of it."""
    into = f"Put what {function} computes with tensors into a function of its own with @tf.function"
    if draws(needs):
        return f"{into}, and pass it the random numbers, or draw them with tf.random: `{needs}` {_ONCE}."
    return (
        f"{into}, and leave the rest outside: `{needs}` needs values, which do not exist while a function is traced. "
        "For a single model, `model = tf.function(model)` does it."
    )


def _without(evidence: Evidence, asked: tuple[str, int], needing: str, needs: str) -> str:
    """Say which request for eager execution to remove, and what in the program must change before."""
    given = re.search(r"run_eagerly *= *[\w.]+", evidence.code.line(*asked))
    what = given[0].replace(" ", "") if given and _asks(evidence, asked) == "run_eagerly" else "the line"
    if needs:
        why = _ONCE if draws(needs) else "needs values, which do not exist in a graph"
        return _FIRST_WITH_TENSORS.format(needing=needing, needs=needs, why=why, what=what)
    return f"Remove {what}: it is for debugging."


def _needing_values(evidence: Evidence, asked: tuple[str, int]) -> tuple[str, str]:
    """Return what Keras would trace but cannot, a method or a function with its place, and the code that forbids it."""
    table, code = evidence.python.table, evidence.code
    ran = {name.rpartition(".")[2] for name in table.loc[table["in_steps_ms"] > 0, "function"]}
    for file, line in code.find(rf"def (?:{'|'.join(_TRACED_BY_KERAS)})\(self\b"):
        name = code.line(file, line).removeprefix("def ").partition("(")[0]
        needs = uses_values(code, file, line) if name in ran or table.empty else ""
        if needs:
            return f"{code.class_at(file, line)}.{name} ({place_of(file, line)})", needs
    for file, function in _given_to_compile(evidence, asked):
        if needs := uses_values(code, file, function.lineno):
            return f"{function.name} ({place_of(file, function.lineno)})", needs
    return "", ""


def _given_to_compile(evidence: Evidence, asked: tuple[str, int]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Return the functions of the program, such as losses and metrics, that ``compile`` is given with the request.

    If the request stands elsewhere, it is for all models.
    """
    files = [(file, call) for file in evidence.code.files for call in evidence.code.nodes(file, ast.Call)]
    compiling = [(file, call) for file, call in files if name_of(call.func) == "compile"]
    with_request = [(file, call) for file, call in compiling if file == asked[0] and holds(call, asked[1])]
    for file, call in with_request or compiling:
        names = (node for node in ast.walk(call) if isinstance(node, ast.Name))
        yield from filter(None, (evidence.code.defined(file, name) for name in names))


def _asks(evidence: Evidence, asked: tuple[str, int]) -> str:
    """Name what asks for eager execution."""
    return "run_functions_eagerly" if "run_functions_eagerly" in evidence.code.line(*asked) else "run_eagerly"


def runs_functions(evidence: Evidence) -> bool:
    """Whether tf.functions are called at least once per step, other than those that trace."""
    calls = evidence.functions.table
    return bool(calls.loc[calls["mode"] != "eager", "calls"].sum() >= max(evidence.steps.summary["steps"], 1))


def eager_percent(evidence: Evidence) -> float:
    """Return the share of the hosts' op time, in percent, of ops that run eagerly in each step."""
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ~ops["op_type"].str.contains(_FETCHING_OPS)]
    repeated = ops["eager"].astype(bool) & (ops["occurrences"] >= max(evidence.steps.summary["steps"], 1))
    return float(100 * ops.loc[repeated, "self_us"].sum() / (ops["self_us"].sum() or 1))
