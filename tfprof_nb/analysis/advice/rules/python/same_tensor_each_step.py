import ast
from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, quoted, training_ms
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.syntax import calls_in, holds, stored_in

# Calls that make a tensor of what they get, and that do nothing else.
_MAKING_TENSORS = ("tf.constant", "tf.convert_to_tensor", "tf.cast", "tf.sparse.from_dense", "tf.ragged.constant")
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_READING = ("astype", "copy", "max", "mean", "min", "reshape", "std", "sum", "tolist")
# Where samples meet a line that makes a tensor: TensorFlow's Python, NumPy's, and what the line calls in C.
_MAKING = ("TensorFlow", "NumPy", "")
# What is made may be given to a function in the same line; in a graph, nothing is made before it runs.
_RUNNING, _SESSIONS = r"Function\.__call__$", "BaseSession.run"
_MIN_SAMPLES, _MANY_STEPS = 10, 10

RULE = Rule(
    "same-tensor-each-step",
    "The same tensor is made in each step",
    "Looks for lines of loops that copy the same array into a new tensor again and again.",
    "The copy is loop invariant: made once, before the loop, it costs the steps nothing.",
    action="Make the tensor once, before the loop",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(0.7, None),
    supersedes=("dominant-op",),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls, whole_ms = evidence.python.calls, training_ms(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & calls["library"].isin(_MAKING)]
    calls = calls[~calls["call"].str.contains(_RUNNING)]
    if len(evidence.steps.table) < _MANY_STEPS or (evidence.python.calls["call"] == _SESSIONS).any():
        return
    for (file, number), rows in calls.groupby(["file", "line"], sort=False):
        if not (rows["library"] == "TensorFlow").any():
            continue
        line = int(str(number))
        percent = 100 * float(rows["self_ms"].sum() - rows["outside_ms"].sum()) / max(whole_ms, 1e-9)
        tensor = same_each_time(evidence.code.syntax(str(file)), line) if percent >= RULE.moderate else ""
        if not tensor or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        place, percent = place_of(str(file), line), min(percent, 100.0)
        yield Case(
            percent,
            finding=f"The same tensor is made in each step: {evidence.of_training(percent)}",
            evidence=f"{quoted(evidence.code.line(str(file), line))} ({place}) copies the same values "
            "into a new tensor each time.",
            fix=f"Make it once, before the loop, and keep it in a variable: `same = {_units.shorten(tensor, 80)}`. In "
            "the loop, use `same`.",
            place=place,
            instead_of=(("eager-ops", place), ("eager-ops", str(rows["function"].iloc[0]))),
        )


def same_each_time(tree: ast.Module, line: int) -> str:
    r"""Return the tensor that a line of a loop makes anew of the same values; empty if there is none.

    Examples
    --------
    >>> text = "for i in range(9):\n    all = tf.constant(table)\n    part = tf.constant(table[i])"
    >>> same_each_time(ast.parse(text), 2), same_each_time(ast.parse(text), 3)
    ('tf.constant(table)', '')
    """
    holding = (node for node in ast.walk(tree) if isinstance(node, (*_LOOPS, ast.FunctionDef)) and holds(node, line))
    around = [node for node in holding if node.lineno < line]
    if not around:
        return ""
    changing = set(_changed_in_place(tree)) | {name for node in around for name in stored_in(node)}
    # A function may run again and again, and see another value of what a loop elsewhere assigns.
    changing |= {name for node in ast.walk(tree) if isinstance(node, _LOOPS) for name in stored_in(node)}
    calls = (call for call in calls_in(tree) if holds(call, line))
    for call in sorted(calls, key=lambda node: -len(ast.unparse(node))):
        if ast.unparse(call.func) in _MAKING_TENSORS and _is_same(call, changing):
            return ast.unparse(call)
    return ""


def _is_same(call: ast.Call, changing: set[str]) -> bool:
    """Whether a call takes names, and only such that keep their value."""
    nodes = [node for argument in call.args[:1] for node in ast.walk(argument)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - {"tf", "np"}
    inner = [node for node in nodes if isinstance(node, ast.Call)]
    plain = not any(isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) for node in nodes)
    known = all(ast.unparse(node.func) in _MAKING_TENSORS or _reads(node) for node in inner)
    return bool(names) and plain and known and names.isdisjoint(changing | {"self", "cls"})


def _reads(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _READING


def _changed_in_place(tree: ast.Module) -> Iterator[str]:
    """Yield names whose values may change without an assignment: by an index, a method or a function that gets them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            yield node.value.id
        if not isinstance(node, ast.Call):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and not _reads(node):
            yield owner.id
        if not ast.unparse(node.func).startswith(("tf.", "len", "range", "enumerate", "zip", "print")):
            yield from (one.id for one in node.args if isinstance(one, ast.Name))
