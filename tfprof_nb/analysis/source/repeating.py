"""Code that gives `fit` an endless dataset, so that all epochs have one iterator."""

import ast
from collections.abc import Sequence

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.rewriting import with_argument_call

_ARRAYS = ("array", "tensor")
_BATCH_OF_KERAS = "32"
# What Keras takes beside arrays but not beside a dataset, or does otherwise with one, and what ends epochs already.
_OTHERWISE = {
    "validation_split",
    "sample_weight",
    "shuffle",
    "steps_per_epoch",
    "class_weight",
    "validation_batch_size",
}
_DATA = ("x", "y", "batch_size")


def repeated(code: Code, file: str, line: int, steps: int) -> str:
    r"""Return a call of `fit` at a line with a dataset that has no end, and epochs of some steps; empty if uncertain.

    What is given must be known to be a dataset, or arrays.

    Examples
    --------
    >>> from tfprof_nb.decode.sections.cell import NameObject, Names
    >>> kinds = {"net": "model", "ds": "dataset", "x": "array", "y": "array"}
    >>> names = Names("", {("", name): NameObject(kind, kind) for name, kind in kinds.items()})
    >>> def changed(text):
    ...     return repeated(Code({"cell": text}, names), "cell", 1, 4)
    >>> changed("log = net.fit(ds, epochs=9)")
    'log = net.fit(ds.repeat(), steps_per_epoch=4, epochs=9)'
    >>> print(changed("net.fit(x, y, batch_size=8, epochs=9)"))
    endless = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(8).repeat().prefetch(tf.data.AUTOTUNE)
    net.fit(endless, steps_per_epoch=4, epochs=9)
    >>> changed("net.fit(x, y, validation_split=0.1)"), changed("net.fit(unknown)")
    ('', '')
    """
    call = code.call_at(file, line, "fit")
    if call is None or not call.args or {keyword.arg for keyword in call.keywords} & _OTHERWISE:
        return ""
    known = code.object_of(file, call.args[0])
    if known and known.kind == "dataset":
        plain = len(call.args) == 1
        return with_argument_call(code, file, line, "fit", f".repeat(), steps_per_epoch={steps}") if plain else ""
    endless = "endless", ".repeat().prefetch(tf.data.AUTOTUNE)"
    return of_arrays(code, file, call, *endless, [f"steps_per_epoch={steps}"])


def of_arrays(code: Code, file: str, call: ast.Call, name: str, ending: str, arguments: Sequence[str]) -> str:
    """Return a call of `fit` with a dataset made of its arrays in the line before; empty if these are not all known.

    The dataset has a name, and an ending behind its batches; the call has arguments more.
    """
    if {keyword.arg for keyword in call.keywords} & _OTHERWISE:
        return ""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(zip(_DATA, call.args, strict=False)) | named
    arrays = [given[name] for name in ("x", "y") if name in given]
    known = [code.object_of(file, one) for one in arrays]
    statement = code.statement(file, call.lineno)
    text = code.text(file).splitlines()[call.lineno - 1]
    alone = statement is not None and statement.lineno == call.lineno == call.end_lineno == statement.end_lineno
    if not alone or len(call.args) > len(_DATA) or not all(one and one.kind in _ARRAYS for one in known):
        return ""
    size = ast.unparse(given["batch_size"]) if "batch_size" in given else _BATCH_OF_KERAS
    texts = [*map(ast.unparse, arrays)]
    data = f"({', '.join(texts)})" if len(texts) > 1 else texts[0]
    rest = [ast.unparse(keyword) for keyword in call.keywords if keyword.arg not in _DATA]
    before, behind = text.encode()[: call.col_offset].decode(), text.encode()[call.end_col_offset :].decode()
    fit = f"{ast.unparse(call.func)}({', '.join([name, *arguments, *rest])})"
    return (
        f"{name} = tf.data.Dataset.from_tensor_slices({data}).shuffle(len({texts[0]})).batch({size}){ending}\n"
        f"{before.strip()}{' ' * before.rstrip().endswith('=')}{fit}{behind}"
    )
