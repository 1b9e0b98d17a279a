"""The options of the views of a graph, with tfprof's names and meanings."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

ORDERS = (
    "name",
    "bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "micros",
    "accelerator_micros",
    "cpu_micros",
    "params",
    "float_ops",
    "occurrence",
)
ATTRIBUTES = (*ORDERS[1:], "device", "op_types", "input_shapes")
OUTPUTS = ("none", "stdout", "file", "timeline", "pprof")
EVERYTHING = (".*",)
_NO_VALUES = (
    "select: tensor_value needs a checkpoint, and views are made of graphs and runs alone. "
    "tf.train.load_checkpoint(path).get_tensor(name) reads values."
)


@dataclass(frozen=True)
class GraphOptions:
    """Options of a view of a graph. Regular expressions match whole names.

    Attributes
    ----------
    max_depth
        Deepest level shown, with the root at 1; in the op view, the number of op types less 1.
    min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes
        Minimum total of requested memory, of peaks, of memory kept afterwards, of outputs.
    min_micros, min_accelerator_micros, min_cpu_micros
        Minimum total time in microseconds.
    min_params, min_float_ops
        Minimum parameters and float ops: of a node itself, in the op and code views in total.
    min_occurrence
        Minimum runs of a node; in the op view, minimum nodes of a type.
    step
        The step, or -1 for the average.
    order_by
        Attribute by which siblings are ordered.
    account_type_regexes
        Only nodes of these types count: op types, devices, ``_trainable_variables``.
    start_name_regexes
        Where to start.
    trim_name_regexes
        The nodes below which to stop; in the op and code views, those before which to stop.
    show_name_regexes, hide_name_regexes
        Which nodes to show, and which of these to hide.
    account_displayed_op_only
        Whether totals exclude what is not shown.
    select
        Attributes to show.
    output
        ``none``, ``stdout``, or ``file``, ``timeline`` or ``pprof`` with ``:outfile=PATH``.
    dump_to_file
        An older form of ``file:outfile=PATH``.
    """

    max_depth: int = 100
    min_bytes: int = 0
    min_peak_bytes: int = 0
    min_residual_bytes: int = 0
    min_output_bytes: int = 0
    min_micros: int = 0
    min_accelerator_micros: int = 0
    min_cpu_micros: int = 0
    min_params: int = 0
    min_float_ops: int = 0
    min_occurrence: int = 0
    step: int = -1
    order_by: str = "name"
    account_type_regexes: tuple[str, ...] = EVERYTHING
    start_name_regexes: tuple[str, ...] = EVERYTHING
    trim_name_regexes: tuple[str, ...] = ()
    show_name_regexes: tuple[str, ...] = EVERYTHING
    hide_name_regexes: tuple[str, ...] = ()
    account_displayed_op_only: bool = False
    select: tuple[str, ...] = ("micros",)
    output: str = "none"
    dump_to_file: str = ""

    @property
    def output_type(self) -> str:
        """The form in which the view is written."""
        return "file" if self.dump_to_file else self.output.partition(":")[0] or "stdout"

    @property
    def outfile(self) -> str:
        """The file to write, if any."""
        return self.dump_to_file or self.output.partition("outfile=")[2]


def parse_options(given: Mapping[str, Any] | None = None, **more: Any) -> GraphOptions:
    """Check options, as a dictionary that tfprof's builder made or as keywords.

    Raises
    ------
    ValueError
        If an option is unknown, or its value is invalid.
    """
    known = {option.name: option for option in fields(GraphOptions)}
    values = {**(given or {}), **more}
    for name in values:
        if name not in known:
            raise ValueError(f"There is no option {name!r}. There are {', '.join(known)}.")
    options = GraphOptions(**{name: _checked(name, known[name].default, value) for name, value in values.items()})
    _check_output(options)
    return options


def _checked(name: str, default: Any, value: Any) -> Any:
    if name == "order_by":
        return _one_of(name, value, ORDERS)
    if name == "select":
        if "tensor_value" in (attributes := _texts(name, value)):
            raise ValueError(_NO_VALUES)
        return tuple(_one_of(name, attribute, ATTRIBUTES) for attribute in attributes)
    if name.endswith("_regexes"):
        return tuple(_regex(name, text) for text in _texts(name, value))
    if isinstance(default, bool):
        return bool(value)
    if isinstance(default, int):
        return _whole(name, value)
    return str(value)


def _one_of(name: str, value: Any, choices: Iterable[str]) -> Any:
    if value not in choices:
        raise ValueError(f"{name}: there is no {value!r}. Choose from {', '.join(choices)}.")
    return value


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list of texts, not {value!r}.")  # noqa: TRY004  (one kind of error for all)
    return list(value)


def _regex(name: str, text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{name}: {text!r} is no regular expression: {error}.") from None
    return text


def _whole(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a whole number, not {value!r}.") from None


def _check_output(options: GraphOptions) -> None:
    kind = _one_of("output", options.output_type, OUTPUTS)
    if kind in ("file", "timeline", "pprof") and not options.outfile:
        raise ValueError(f"output: say where to write, as in '{kind}:outfile=PATH'.")
    if kind == "pprof" and len(options.select) != 1:
        raise ValueError(f"select: for pprof choose one attribute of {', '.join(ORDERS[1:-1])}.")
