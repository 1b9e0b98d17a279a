from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted

PRINTING_OPS = ("StringFormat", "PrintV2", "Print")

RULE = Rule(
    "tf-print",
    "tf.print runs in every step",
    "Looks for `tf.print` in functions of the steps.",
    "Formatting and writing text takes longer than most ops, and much longer for large tensors.",
    action="Print less often, outside of the graph",
    page="ops",
    moderate=10.0,
    high=25.0,
    saved=(0.7, None),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops, steps_ms = evidence.ops.table, float(evidence.steps.table["step_ms"].sum())
    printing_ms = float(ops.loc[ops["op_type"].isin(PRINTING_OPS), "self_us"].sum()) / _units.US_PER_MS
    percent = min(100.0, 100 * printing_ms / steps_ms) if steps_ms else 0.0
    place = evidence.code.place(next(evidence.code.find(r"\btf\.print\("), None))
    code = evidence.code.at(place)
    yield Case(
        percent,
        finding=f"tf.print takes {_units.percent(percent)} of the steps' time",
        evidence=f"Its ops format and write text for {_units.milliseconds(printing_ms)}"
        f"{f': {quoted(code)} ({place})' if code else ''}.",
        fix="Remove it, or return the value from the function and print it every 50 steps. Of a large tensor, "
        "print a part or its mean.",
        place=place,
    )
