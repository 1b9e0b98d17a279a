from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted
from tfprof_nb.analysis.advice.rules.tracing._retracing import SAY_WHY, new_functions
from tfprof_nb.analysis.source.calls import compiled_in_loop
from tfprof_nb.analysis.source.code import place_of

_MIN_SHARE = 0.05

RULE = Rule(
    "compile-in-loop",
    "compile in a loop makes Keras retrace the model",
    "Looks for `model.compile` in a loop over trainings of one model.",
    "It forgets the functions that were traced, so each training traces them again.",
    action="Compile once, before the loop",
    page="functions",
    high=15.0,
    of="cell",
    saved=(0.75, None),
    within=SAY_WHY[:-2],
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    times, tracing_ms = new_functions(evidence)
    whole_ms = float(evidence.overview.summary["capture_ms"])
    found = compiled_in_loop(evidence.code) if times else None
    if not found or not tracing_ms > _MIN_SHARE * whole_ms > 0:
        return
    place, code = place_of(*found), evidence.code.line(*found)
    yield Case(
        100 * tracing_ms / whole_ms * (times - 1) / times,
        finding=f"compile in a loop makes Keras retrace the model ({place})",
        evidence=f"{quoted(code)} forgets the functions that were traced. They were traced "
        f"{_units.count(times)} times, which took {_units.milliseconds(tracing_ms)} of "
        f"{_units.milliseconds(whole_ms)}.",
        fix="Compile once, before the loop. What changes between the trainings can be set: "
        "`model.optimizer.learning_rate.assign(rate)`, or a callback such as keras.callbacks.LearningRateScheduler.",
        place=place,
    )
