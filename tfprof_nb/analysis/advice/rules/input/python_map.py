import re

from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, in_parallel
from tfprof_nb.analysis.advice.rules.input._python import python_source
from tfprof_nb.analysis.source.code import place_of

_IN_MAPS = r"(py_function|numpy_function)\("

RULE = cause_rule(
    "python-map",
    "A map calls a function in Python",
    "Looks for `tf.py_function` and `tf.numpy_function` in the map that steps wait for.",
    "Python runs one such call at a time. TensorFlow's ops run on all cores.",
    saved=(0.2, 1.0),
    results="order",
    after="python-repeated-each-epoch",
)


def cause(evidence: Evidence) -> Cause | None:
    source = python_source(evidence)
    if source is None:
        return None
    code = evidence.code
    called = any(code.find(_IN_MAPS)) if source.is_met else re.search(_IN_MAPS, code.at(source.place)) is not None
    if not called:
        return None
    fix, change, mapped = _beside_python(evidence, source.function or "the function")
    return Cause(source.name, source.shown, fix, change, mapped or source.place)


def _beside_python(evidence: Evidence, function: str) -> tuple[str, str, str]:
    """Return how to run a Python function for several elements at once, or without Python: words, code and place."""
    maps = list(evidence.code.find(r"\.map\("))
    # With several it is not certain which of them calls the function.
    place = place_of(*maps[0]) if len(maps) == 1 else ""
    change = in_parallel(evidence, place)
    if change:
        fix = (
            "Let it work on several elements at once, with `num_parallel_calls=tf.data.AUTOTUNE`. That helps as far as "
            f"{function} waits, as for a disk or network; to compute on all cores, write it with TensorFlow ops."
        )
        return fix, change, place
    fix = (
        f"Write {function} with TensorFlow ops and pass it to .map() itself, with num_parallel_calls=tf.data.AUTOTUNE: "
        "TensorFlow ops run on all cores."
    )
    return fix, "", ""
