import re

import pandas as pd

from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, training_ms
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, FEWER_SAVED, MIN_SAMPLES, method_of
from tfprof_nb.analysis.python import FRAMEWORKS
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.loops import element_read

# Methods of tensors and variables that wait until the value is there, as people call them.
_WAITING_CALLS = {
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "__bool__": "A condition",
    "__array__": "NumPy",
    "numpy": ".numpy()",
    "__str__": "print()",
    "__repr__": "print()",
    "__format__": "An f-string",
}
_APPENDED = re.compile(r"^([\w.]+)\.append\((float|int)\(([\w.\[\]\"']+)\)\)$")

RULE = Rule(
    "sync-each-step",
    "The program waits for the result of each step",
    "Looks for lines that turn a result into a value of Python in each step: `float(loss)`, `.numpy()`, `print`.",
    "The program waits there until the step has run, and prepares no next one meanwhile.",
    action="Convert the tensors after the loop",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(FEWER_SAVED, None),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls = evidence.python.calls
    how = method_of(calls)
    calls = calls[how.isin(list(_WAITING_CALLS)) & calls["library"].isin(FRAMEWORKS) & (calls["thread"] == "main")]
    whole_ms = training_ms(evidence)
    for (file, line), rows in calls.groupby(["file", "line"], sort=False):
        waited_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = 100 * waited_ms / whole_ms if whole_ms else 0.0
        if element_read(evidence.code, str(file), int(str(line))):  # each element has an op of its own
            continue
        # Whichever of the wait and the rest of the loop is shorter is then hidden behind the other.
        if rows["samples"].sum() >= MIN_SAMPLES:
            yield _wait(evidence, rows, str(file), int(str(line)), min(percent, 100.0))


def _wait(evidence: Evidence, rows: pd.DataFrame, file: str, line: int, percent: float) -> Case:
    how = _WAITING_CALLS[str(rows.iloc[0]["call"]).rpartition(".")[2]]
    place, code = place_of(file, line), evidence.code.line(file, line)
    overlap = min(percent, 100 - percent)
    kept = _APPENDED.match(code)
    change = f"{kept[1]}.append({kept[3]})  # convert after the loop: [{kept[2]}(x) for x in {kept[1]}]" if kept else ""
    fix = (
        "Keep the tensors, and convert them after the loop." if kept else "Convert it every 50 steps only, not in each."
    )
    return Case(
        overlap,
        finding=f"{how} waits for the result of each step: {evidence.of_training(percent)}",
        evidence=f"{in_code(place, code)}: the program waits there until the step has run, and prepares nothing "
        "meanwhile.",
        fix=fix,
        place=place,
        change=change,
    )
