import pandas as pd

from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted, training_ms
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.loops import element_read

_MIN_SAMPLES, _MOST_PERCENT = 10, 50.0

RULE = Rule(
    "tensor-read-by-element",
    "A loop reads a tensor element by element",
    "Looks for lines in loops that take single elements of a tensor as values of Python.",
    "Each element is read by an op and a copy of its own. An array that is read once has all of them; the loop over "
    "the values remains.",
    action="Read the whole tensor once",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.7, None),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    table = evidence.python.table
    table = table[(table["thread"] == "main") & (table["library"] == "TensorFlow") & (table["line"] > 0)]
    whole_ms = training_ms(evidence) or float(evidence.overview.summary["capture_ms"])
    for row in table.to_dict("records"):
        percent = min(100.0, 100 * float(row["self_ms"]) / whole_ms) if whole_ms else 0.0
        if percent < RULE.moderate or row["samples"] < _MIN_SAMPLES:
            continue
        case = _case(evidence, pd.Series(row), percent)
        if case:
            yield case


def _case(evidence: Evidence, row: pd.Series, percent: float) -> Case | None:
    file, line = str(row["file"]), int(row["line"])
    found = element_read(evidence.code, file, line)
    if found is None:
        return None
    place, values = place_of(file, line), f"{found.tensor.replace('.', '_')}_values"
    loop = place_of(file, found.line)
    begin, _, once = found.change.partition("\n")
    fix = (
        f"Read the whole tensor once, before the loop ({loop}): `{begin}`."
        if found.change
        else f"Read the whole tensor once, before the loop ({loop}): `{values} = {found.tensor}.numpy()`, and take "
        f"`{found.read.replace(found.tensor, values, 1).removesuffix('.numpy()')}` in it."
    )
    return Case(
        percent,
        finding=f"Elements of {found.tensor} are read one by one: {evidence.of_training(percent)} ({place})",
        evidence=f"{quoted(found.read)} ({place}) runs an op and copies a value for each element.",
        fix=fix,
        place=loop if once else place,
        change=found.change,
        instead_of=(("eager-ops", "" if percent >= _MOST_PERCENT else place),),
    )
