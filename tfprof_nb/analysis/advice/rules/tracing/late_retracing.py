from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.tracing._remedies import remedy, shown_name
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, new_functions
from tfprof_nb.analysis.functions.retracing import GENERALISE, OF_KERAS

_LATE_TRACING_FACTOR, _MEDIUM_SHARE = 3.0, 0.1
_OF_RESULTS = ("test", "predict")  # phases of which each example counts
_LAST_BATCH = (
    "If the last batch of an epoch of training is smaller than the others, leave it out; a dataset does with "
    "`.batch(n, drop_remainder=True)`."
)
_LAST_BATCH_OF_ALL = (
    "If the last batch is smaller than the others, give a `batch_size=` that divides the number of examples, so that "
    "none is left out."
)
_LAST_BATCH_OR_ELSE = (
    f"{_LAST_BATCH} Otherwise an argument of the call differs from earlier calls, such as a Python number or a shape."
)

RULE = Rule(
    "late-retracing",
    "A function is traced again in the middle of the run",
    "Looks for single steps after the warm-up that trace, and take three times as long as the median step or more.",
    "An argument differs from earlier calls: mostly the last batch of an epoch is smaller.",
    page="trace",
    moderate=5.0,
    after=SAY_WHY,
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    table = evidence.steps.table
    keys = [table["host"], table["phase"]]
    ran_before = (~table["warm_up"]).groupby(keys, sort=False).cummax()
    typical_ms = table["step_ms"].mask(table["warm_up"]).groupby(keys, sort=False).transform("median")
    # A training that begins anew, with an epoch before that of the last step, may well be that of another model; so may
    # what is tested in it.
    trainings = (table["epoch"].astype("float64").groupby(keys, sort=False).diff() < 0).groupby(table["host"]).cumsum()
    begins_anew = trainings.groupby(keys, sort=False).diff() > 0
    late = ran_before & ~begins_anew & table["warm_up"] & (table["step_ms"] >= _LATE_TRACING_FACTOR * typical_ms)
    steps = table.assign(typical_ms=typical_ms, kind=table.groupby(keys, sort=False).ngroup())[late]
    steps = steps.sort_values("kind", kind="stable")
    share = float(steps["step_ms"].sum() / (table["step_ms"].sum() or 1))
    if (
        any(earlier.values())
        or new_functions(evidence)[0]
        or 100 * share <= RULE.moderate
        or not _may_have_traced_again(evidence)
    ):
        return
    first, others = steps.iloc[0], len(steps) - 1
    name, differs, fix = _late_cause(evidence)
    if steps["phase"].isin(_OF_RESULTS).all():
        fix = fix.replace(_LAST_BATCH, _LAST_BATCH_OF_ALL)
    more = f" and {others} more step{'s' * (others > 1)}" * bool(others)
    yield Case(
        100 * share,
        "A function is traced again in the middle of the run",
        f"{first['step_name']}{more} traced or compiled: "
        f"{_units.milliseconds(float(first['step_ms']))}, compared to "
        f"{_units.milliseconds(float(first['typical_ms']))} for the median step."
        f"{differs and f' Of {name}, {differs}.'}",
        fix,
        severity="medium" if others or share >= _MEDIUM_SHARE else "info",
        start_ms=float(first["start_ms"]),
        duration_ms=float(first["step_ms"]),
    )


def _may_have_traced_again(evidence: Evidence) -> bool:
    """Whether some function was traced again, as far as the capture tells, or XLA compiled one."""
    unknown = not len(evidence.functions.table)
    return unknown or bool(evidence.functions.summary["retraced"]) or evidence.compilations().programs > 0


def _late_cause(evidence: Evidence) -> tuple[str, str, str]:
    """Return the function that was traced again, how its calls differ, and the fix; empty texts if that is unknown."""
    calls = evidence.functions.table
    known = calls[calls["function"].isin(evidence.functions.summary["retraced"]) & (calls["cause"] != "")]
    if known.empty:
        return "", "", _LAST_BATCH_OR_ELSE
    name, cause = str(known["function"].iloc[0]), str(known["cause"].iloc[0])
    differs, _, advised = cause.partition("; ")[0].rpartition(": ")
    fix = remedy(evidence.code, name, cause, advised).fix if name not in OF_KERAS else _LAST_BATCH_OR_ELSE
    if GENERALISE in cause and name not in OF_KERAS:
        fix = f"{_LAST_BATCH} Otherwise {fix[:1].lower()}{fix[1:]}"
    return shown_name(evidence.code, name), differs, fix
