import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rule import IN_TENSORFLOW
from tfprof_nb.analysis.advice.rules.python._time import NAMED
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.loops import is_head, needs_itself
from tfprof_nb.analysis.source.rewriting import with_argument
from tfprof_nb.analysis.step_ops.recurrent import recurrent_loops
from tfprof_nb.analysis.step_ops.repeated import trains
from tfprof_nb.analysis.step_ops.shapes import batch_size
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_SHORT_STEP_MS = 10.0
_MOSTLY = 0.5
_USUAL_WARM_UP = 2  # steps: a full batch, and a smaller last one
_MANY_IN_ONE_CALL = (
    "Each call needs what the call before it made, so they cannot be batched. Run many of them in one call: put the "
    "loop into a function with @tf.function, as `for i in tf.range(n):`. If Python must run in between, let one call "
    "serve several sequences, with a batch of them."
)
_LEAST_STEPS_SHARE = 0.2
_CELL = "cell"
# What Keras makes batches of where arrays come without a batch size. Data that is no array comes without y.
_OF_KERAS, _KERAS_METHODS, _MOST_STEPS = 32, r"Trainer\.(?:fit|evaluate)$", 0.7
_BATCHES = r"\.batch\(|\bbatch_size\s*="
_PYTHON_PERCENT = 25.0
# How many times larger to make batches up to a size.
_FACTORS = ((8, 16), (32, 8), (100_000, 4))
_FEW = _FACTORS[0][0]  # examples, of which ops in loops of recurrent layers take as long as of one
_MIN_LOOP_OPS, _SMALL_US = 200, 6.0
_OF_LOOPS = "The loops of its recurrent layers run about {} ops, of {} on average: such ops take "

RULE = Rule(
    "small-steps",
    "The steps are so small that starting them takes most of their time",
    "Looks for steps of up to 10 ms in which, for half of the time or more, no op runs, no data is waited for, and no "
    "Python of the program's; and for recurrent layers that get up to 8 examples.",
    "A step and its ops have fixed costs, whatever the batch size: larger batches have fewer of them.",
    action="Use larger batches",
    explains=("step", "layer", "optimizer", "op", "copy", "keras", "other", IN_TENSORFLOW),
    moderate=50.0,
    high=60.0,
    of="cell",
    after=NAMED,
    supersedes=("python-between-ops",),
    order="vague",
    results="batches",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    if not ops.steps or (ops.ops["node"] < 0).sum() > _MOSTLY * len(ops.ops):
        return
    size, loops = batch_size(ops.graphs), ops.once(recurrent_loops)
    recurrent = size is not None and size <= _FEW and loops.per_step >= _MIN_LOOP_OPS and loops.mean_us <= _SMALL_US
    if not recurrent and (_step_ms(evidence, ops) > _SHORT_STEP_MS or _loops(ops)):
        return
    fixed = loops.cost_share if recurrent else _fixed_share(evidence, ops)
    # What runs between the steps, larger batches make rarer too.
    python = [finding for of_rule in earlier.values() for finding in of_rule]
    named = sum(finding.estimated_gain_percent for finding in python)
    explained = min(named, evidence.percent("other"))
    if size is None or explained >= _PYTHON_PERCENT:
        return
    share = _steps_share(evidence, validates=False)
    if share < _LEAST_STEPS_SHARE:
        return
    if size > _FACTORS[-1][0]:
        return
    why = _OF_LOOPS.format(_units.count(round(loops.per_step, -1)), _units.microseconds(loops.mean_us))
    case = _case(evidence, ops, size, fixed, share, why if recurrent else "")
    yield replace(case, severity="medium") if python else case


def _case(evidence: Evidence, ops: StepOps, size: int, fixed: float, share: float, why: str) -> Case:
    factor = next(factor for most, factor in _FACTORS if size <= most)
    step_ms, saved = _step_ms(evidence, ops), 1 - 1 / factor
    place, change = _line(evidence, size, size * factor)
    if not place and size == _OF_KERAS:
        place, change = _call_with_arrays(evidence, size * factor)
    loop, depends = _loop(evidence)
    if depends:
        place, change = loop, ""
    if _sets_validation(evidence.code, *line_at(place)):
        share = _steps_share(evidence, validates=True)
    return Case(
        100 * fixed,
        f"The steps are small: {size} example{'s' * (size != 1)} each",
        f"A typical step takes {_units.milliseconds(step_ms)}. "
        + (why or f"Recorded ops cover {_units.share(1 - fixed)} of it. ")
        + "The rest is the fixed cost of starting a step and its ops: " * (not why)
        + f"{_units.milliseconds(fixed * step_ms)}, whatever the batch size.",
        _MANY_IN_ONE_CALL
        if depends
        else f"Use larger batches, {size * factor} instead of {size}."
        + " Training changes: fewer updates per epoch, which may need a higher learning rate." * trains(ops.graphs),
        place or loop,
        change,
        gain=(100 * saved * share, 100 * saved * fixed * share, 100 * saved * share),
    )


def _step_ms(evidence: Evidence, ops: StepOps) -> float:
    """Return how long a typical step takes: recording slows the steps whose ops are known."""
    return min(ops.steps_ms / ops.steps, float(evidence.steps.timed["step_ms"].median()))


def _loops(ops: StepOps) -> bool:
    """Whether a loop of the graph runs, whose short ops are not recorded."""
    bodies = ops.graphs.calls.loc[ops.graphs.calls["role"] == "body", "function"]
    return bool(bodies.isin(ops.functions).any())


def _fixed_share(evidence: Evidence, ops: StepOps) -> float:
    """Return the part of the steps in which no op runs and no data is waited for."""
    busy = float(ops.share((ops.ops["step"] >= 0).to_numpy(bool)).covered)
    return 1 - busy - evidence.percent("input") / 100


def _sets_validation(code: Code, file: str, line: int) -> bool:
    """Whether a line gives fit a batch size that is that of its validation too."""
    given = [{keyword.arg for keyword in call.keywords} for call in code.calls(file, line, "fit")]
    return any(
        "batch_size" in names
        and names & {"validation_data", "validation_split"}
        and "validation_batch_size" not in names
        for names in given
    )


def _steps_share(evidence: Evidence, *, validates: bool) -> float:
    """Return the part of the time without the first steps that the measured steps take; 1 if it is not known.

    ``validates`` says whether to count the steps of other phases too.
    """
    summary = evidence.overview.summary
    warm_up = evidence.steps.table["warm_up"]
    # Steps that trace again and again are a fault of their own, which larger batches do not mend.
    starting_ms = float(summary["warm_up_steps_ms"]) if warm_up.sum() <= _USUAL_WARM_UP else 0.0
    rest_ms = float(summary["capture_ms"]) - starting_ms
    measured_ms = float(summary["measured_steps_ms"]) + validates * max(0.0, float(summary["other_steps_ms"]))
    return min(1.0, measured_ms / rest_ms) if rest_ms > 0 and measured_ms > 0 else 1.0


def _loop(evidence: Evidence) -> tuple[str, bool]:
    """Return the place of the loop that calls the steps, and whether each call is given what the one before made."""
    table = evidence.python.table
    table = table[(table["thread"] == "main") & (table["line"] > 0) & (table["library"] == "TensorFlow")]
    if table.empty:
        return "", False
    slowest = table.iloc[int(np.argmax(table["in_steps_ms"].to_numpy()))]
    file, line = str(slowest["file"]), int(slowest["line"])
    head = line if is_head(evidence.code, file, line) else evidence.code.loop_line(file, line)[0]
    return (place_of(file, head), needs_itself(evidence.code, file, line)) if head else ("", False)


def _call_with_arrays(evidence: Evidence, larger: int) -> tuple[str, str]:
    """Return the line that gives Keras arrays without a batch size, with one; empty if none runs most of the steps."""
    calls = evidence.python.calls
    calls = calls[(calls["thread"] == "main") & calls["call"].astype(str).str.contains(_KERAS_METHODS)]
    lines = calls.groupby(["file", "line"])["in_steps_ms"].sum()
    lines = lines[lines > _MOST_STEPS * lines.sum()]
    if len(lines) != 1:
        return "", ""
    (file, line), code = lines.index[0], evidence.code
    method = str(calls.loc[(calls["file"] == file) & (calls["line"] == line), "call"].iloc[0]).rpartition(".")[2]
    call = code.call_at(str(file), int(line), method)
    named = {keyword.arg for keyword in call.keywords} if call else set()
    if call is None or not (len(call.args) > 1 or "y" in named) or "batch_size" in named:
        return "", ""
    place = place_of(str(file), int(line))
    return place, with_argument(code, str(file), int(line), method, f"batch_size={larger}")


def _line(evidence: Evidence, size: int, larger: int) -> tuple[str, str]:
    """Return the only line that sets the batch size, and that line with another size if the size stands there.

    Lines of which something was recorded come before others of the program.
    """
    sets = re.compile(rf"(\bbatch(?:_size)?\s*[=(]\s*|\b\w*batch\w*\s*=\s*){size}\b", re.IGNORECASE)
    for pattern, known in ((sets.pattern, True), (_BATCHES, False)):
        everywhere = dict.fromkeys(evidence.code.find(rf"(?i:{pattern})"))
        for found in (_recorded(evidence, everywhere), list(everywhere)):
            own = [one for one in found if one[0] == _CELL] or found
            if len(own) == 1:
                code = evidence.code.line(*own[0])
                return place_of(*own[0]), sets.sub(rf"\g<1>{larger}", code) if known else ""
    return "", ""


def _recorded(evidence: Evidence, lines: Collection[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the recorded lines among several; a single line has none to choose from."""
    if len(lines) < 2:
        return []
    table = evidence.source().table
    recorded = set(zip(table["file"].astype(str), table["line"].astype(int), strict=True))
    return [line for line in lines if line in recorded]
