import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, quoted
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, LEAST_SAVED, MIN_SAMPLES
from tfprof_nb.analysis.python import FRAMEWORKS
from tfprof_nb.analysis.source.code import place_of

RULE = Rule(
    "python-outside-steps",
    "Python takes much of the cell's time before or after the steps",
    "Looks for functions, and lines of the cell, that take a fifth or more of the cell outside of its steps.",
    "Work whose result is kept need not be repeated whenever the cell runs.",
    action="Do it once, and keep the result",
    page="python",
    high=40.0,
    moderate=20.0,
    of="cell",
    without_tracing=True,
    within=CALLBACKS,
    saved=(LEAST_SAVED, None),
    measured=True,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    table, whole_ms = evidence.python.table, evidence.steady_ms
    table = table[(table["thread"] == "main") & ~table["library"].isin(FRAMEWORKS) & (table["line"] > 0)]
    own = np.where(table["function"] == "<module>", table["line"], 0)
    where = ", outside the steps" if len(evidence.steps.table) else ""
    left_out = " Warm-up is left out of the share." if evidence.overview.summary["warm_up_steps_ms"] > 0 else ""
    for (function, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["outside_ms"].sum())
        percent = 100 * time_ms / whole_ms if whole_ms > 0 else 0.0
        if rows["samples"].sum() < MIN_SAMPLES:
            continue
        slowest = rows.iloc[int(np.argmax(rows["outside_ms"].to_numpy()))]
        line, caller = int(slowest["line"]), str(slowest["called_from"])
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        if not slowest["library"] and code.startswith(("for ", "while ", "with ")):  # what it takes from is not known
            continue
        name = in_code(place, code) if function == "<module>" else f"{function} ({place})"
        library = f", mostly in {slowest['library']}" if slowest["library"] else ""
        from_code = evidence.code.at(caller)
        called = f", called from {caller}{f', {quoted(from_code)}' if from_code else ''}"
        yield Case(
            percent,
            finding=f"{name} takes {_units.percent(percent)} of the cell's time{where}",
            evidence=f"{_units.milliseconds(time_ms)}{library}"
            f"{f', in {quoted(code)}' if code and function != '<module>' else ''}"
            f"{called if caller and function != '<module>' else ''}.{left_out}",
            fix=_outside_fix(str(slowest["library"]), str(function), evidence.code.at(caller) or code),
            place=place,
            subject=place if function == "<module>" else str(function),
        )


def _outside_fix(library: str, function: str, calling: str) -> str:
    """Say what to do about code that runs before or after the steps."""
    what = f"{function}()" if function != "<module>" else "this line"
    if library == "pandas" and ".apply(" in calling:
        rows = f"pandas calls {what} for each row. " if function != "<module>" else ""
        return f"{rows}Work on whole columns, for example np.sqrt(df['x']): that takes a fraction of the time."
    return f"Do it once in a cell of its own, and keep the result in a variable or a file, or make {what} faster."
