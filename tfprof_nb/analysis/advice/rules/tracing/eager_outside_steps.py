from collections.abc import Iterator
from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import IN_TENSORFLOW, TRACING_MS, Case, Cases, Earlier, Evidence, Rule, in_code
from tfprof_nb.analysis.advice.rules.tracing._eager import EAGER_IN, decorated, split
from tfprof_nb.analysis.advice.rules.tracing._eager_lines import MANY_OPS, RUNS_GRAPHS, eager_ops, traceable
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.traceable import uses_values

RULE = Rule(
    "eager-outside-steps",
    "A loop outside the steps runs its ops one by one",
    "Looks for loops before and after the steps, such as one that generates text, whose ops run outside of any "
    "tf.function.",
    "Python starts each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run each pass of the loop as a graph",
    explains=("op", "copy", IN_TENSORFLOW, "keras"),
    page="python",
    moderate=15.0,
    high=25.0,
    of="cell",
    saved=(0.5, None),
    part_of="eager-ops",
    once_ms=TRACING_MS,
    order="first",
    results="close",
)


class _Call(NamedTuple):
    """The line of the outermost loop at which a call was made, by functions or not, and the first of these."""

    file: str
    line: int
    function: str
    of_file: str


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    whole_ms = evidence.steady_ms
    if not len(evidence.steps.table) or not whole_ms > 0:
        return
    times: dict[_Call, float] = {}
    for call, time_ms in _calls(evidence):
        times[call] = times.get(call, 0.0) + time_ms
    ops = eager_ops(evidence).groupby(["file", "line"])["occurrences"].sum()
    eager = {call: time_ms for call, time_ms in times.items() if ops.get((call.file, call.line), 0) >= MANY_OPS}
    if not eager:
        return
    call = max(eager, key=eager.__getitem__)
    percent = 100 * eager[call] / whole_ms
    loop = place_of(call.file, call.line)
    defined = evidence.code.definition(call.of_file, call.function) if call.function else 0
    place = place_of(call.of_file, defined) if defined else loop
    fits = not defined or traceable(evidence, call.of_file, call.function)
    change = f"@tf.function\n{evidence.code.line(call.of_file, defined)}" if defined and fits else ""
    needs = uses_values(evidence.code, call.of_file, defined)
    what = f"{call.function} ({place})" if defined else loop
    yield Case(
        percent,
        f"Ops run one by one outside the steps: {what}",
        f"The loop around {in_code(loop, evidence.code.line(call.file, call.line))} spends "
        f"{_units.milliseconds(eager[call])} on ops that run outside any tf.function, where Python starts each.",
        decorated(call.function if defined else "", change) if fits else split(call.function, needs),
        place,
        change,
        subject=call.function,
    )


def _calls(evidence: Evidence) -> Iterator[tuple[_Call, float]]:
    """Yield the calls of Keras and TensorFlow in loops outside of the steps, with their time in ms."""
    table, calls = evidence.python.table, evidence.python.calls
    own = zip(table["file"], table["line"], table["function"], table["called_from"], strict=True)
    frames = {(str(file), int(line)): (str(function), str(caller)) for file, line, function, caller in own}
    calls = calls[(calls["thread"] == "main") & calls["library"].isin(EAGER_IN) & (calls["outside_ms"] > 0)]
    calls = calls[~calls["call"].astype(str).str.contains(RUNS_GRAPHS)]
    for file, line, time_ms in zip(calls["file"], calls["line"], calls["outside_ms"], strict=True):
        at, below, found, passed = (str(file), int(line)), ("", ""), None, set[tuple[str, int]]()
        while at[1] and at not in passed:
            passed.add(at)
            if evidence.code.in_loop(*at):
                found = _Call(*at, *below)
            function, caller = frames.get(at, ("", ""))
            below, at = (function.rpartition(".")[2], at[0]), line_at(caller)
        if found:
            yield found, float(time_ms)
