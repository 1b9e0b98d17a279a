"""Which operation each event belongs to: ops on host threads, kernels and copies on devices, XLA instructions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb.analysis.events.eager import dispatched_op, ran_eagerly, unnamed_eager_ops
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import Category, Op, parse_tf_op
from tfprof_nb.decode.host import Line

Parser = Callable[[str], Op | None]

_TPU_PLANE = "/device:TPU"
_INSTRUCTION_LINES = ("XLA Ops", "Sparse Core Ops")
# Frames that XLA puts around its kernels: they name no op.
_XLA_FRAMES = ("XlaModule:", "Thunk:")
_INSTRUCTION_NUMBER = re.compile(r"(\.\d+)+$")


@dataclass(frozen=True, eq=False)
class OpLabels:
    """The op of every event, as codes into a vocabulary in which each op stands once.

    Attributes
    ----------
    code
        Per event: index into ``op_name`` and ``op_type``, -1 for an event that belongs to no op.
    op_name, op_type
        The vocabulary.
    """

    code: Int64
    op_name: Objects
    op_type: Objects


def label_ops(forest: Forest, eager: Bools | None = None) -> OpLabels:
    """Find the op of every event of one host.

    With ``eager``, which says what ran eagerly, eager ops that left no more than their dispatch are found too.

    On host threads an op's event is named after it (``name:Type``), and XLA:CPU's carry ``hlo_op``; calls that
    launch kernels belong to no op. On devices the op stands in a stat: ``tf_op``, or in files of TensorFlow 2.2 to 2.8
    ``level 0`` and ``annotation``; without one, XLA's instructions go by the framework's path or their own name.
    """
    host = forest.host
    found = _Labeller(len(host))
    instructions = host.texts("hlo_op").rows
    compiled = np.zeros(len(host), dtype=bool)
    compiled[instructions] = True
    compiled |= on_instruction_line(forest)
    correlated = host.ints("correlation_id")
    launches = correlated.rows[forest.on_host[correlated.rows] & (correlated.values.astype(np.int64) >= 0)]
    in_stats = on_device_timeline(forest) | compiled
    _label_instructions(forest, found)
    found.add_texts(forest, "hlo_op", _instruction, in_stats)
    found.add_texts(forest, "name", framework_op, compiled)
    for stat in ("annotation", "level 0", "tf_op"):
        found.add_texts(forest, stat, framework_op, in_stats)
    _label_host_ops(forest, found)
    _label_stages(forest, found)
    found.code[launches] = -1
    if eager is not None:
        _label_eager_ops(forest, found, eager)
    return OpLabels(found.code, *found.vocabulary())


def label_all_ops(forest: Forest) -> OpLabels:
    """Find the op of every event, eager ops included."""
    return label_ops(forest, forest.once(ran_eagerly))


def on_instruction_line(forest: Forest) -> Bools:
    """Events that are a TPU's instructions: what a kernel is to a GPU, but they nest."""
    instructions = [_on_tpu(forest, line) and line.name in _INSTRUCTION_LINES for line in forest.host.lines]
    return _of_lines(forest, instructions)


def on_device_timeline(forest: Forest) -> Bools:
    """Events whose times add up to what a device did: a GPU's kernels and copies, a TPU's instructions."""
    tpu = _of_lines(forest, [_on_tpu(forest, line) for line in forest.host.lines])
    on_timeline: Bools = (forest.on_device & ~tpu) | on_instruction_line(forest)
    return on_timeline


def _on_tpu(forest: Forest, line: Line) -> bool:
    return forest.host.planes[line.plane].name.startswith(_TPU_PLANE)


def _of_lines(forest: Forest, chosen: list[bool]) -> Bools:
    """Events of the chosen lines, of which there mostly are none."""
    if not any(chosen):
        return np.zeros(len(forest.host), dtype=bool)
    return np.array(chosen, dtype=bool)[forest.host.line]


def framework_op(text: str) -> Op | None:
    """Return the op that a stat of a kernel names, or None if it names none.

    Examples
    --------
    >>> framework_op("a/MatMul:MatMul#edge_name=x#").op_type
    'MatMul'
    >>> framework_op("jit(f)/dot_general").op_type
    'dot_general'
    >>> framework_op("XlaModule:") is None
    True
    """
    name = text.partition("#")[0]
    if not name or name.startswith(_XLA_FRAMES):
        return None
    return parse_tf_op(name if ":" in name else f"{name}:")


class _Labeller:
    """Labels events layer by layer; a later layer wins."""

    def __init__(self, events: int) -> None:
        self.code = np.full(events, -1, dtype=np.int64)
        self._codes: dict[tuple[str, str], int] = {}

    def add(self, rows: Int64, choice: npt.NDArray[np.integer], texts: Objects, parse: Parser) -> None:
        """Label each row by the text that ``choice`` picks; where the text names no op, the label stays as it was."""
        occurs = np.zeros(len(texts), dtype=bool)
        occurs[choice] = True
        code_of_text = np.full(len(texts), -1, dtype=np.int64)
        for index in np.flatnonzero(occurs):
            op = parse(str(texts[index]))
            if op is not None:
                code_of_text[index] = self._codes.setdefault((op.op_name, op.op_type), len(self._codes))
        code = code_of_text[choice]
        self.code[rows[code >= 0]] = code[code >= 0]

    def add_texts(self, forest: Forest, stat: str, parse: Parser, among: Bools) -> None:
        """Label the events that carry a text stat, among those allowed."""
        if not among.any():  # reading texts is slow, and the profile of a CPU has none that count
            return
        texts = forest.host.texts(stat)
        if texts.categories is None or not len(texts.rows):
            return
        allowed = among[texts.rows]
        self.add(texts.rows[allowed], texts.values.astype(np.int64)[allowed], texts.categories, parse)

    def vocabulary(self) -> tuple[Objects, Objects]:
        names = np.array([name for name, _ in self._codes], dtype=object)
        types = np.array([op_type for _, op_type in self._codes], dtype=object)
        return names, types


def _label_host_ops(forest: Forest, found: _Labeller) -> None:
    host = forest.host
    known = forest.names.category != Category.UNKNOWN
    rows = np.flatnonzero(forest.on_host & known[host.metadata])
    found.add(rows, host.metadata[rows], host.names, parse_tf_op)


def _label_stages(forest: Forest, found: _Labeller) -> None:
    """Label the stages of PyGrain's input pipelines: the op is the stage, its type what kind of stage it is."""
    host = forest.host
    kinds, names = host.texts("_ipl_stage_cat"), host.texts("_ipl_stage_name")
    rows = np.intersect1d(kinds.rows, host.ints("_ipl_stage_id").rows)
    if kinds.categories is None or names.categories is None or not len(rows):
        return
    of_stage = np.append(names.categories, "")[names.at(rows).astype(np.int64)]
    name = np.where(of_stage == "", host.names[host.metadata[rows]], of_stage)
    stage, texts = pd.factorize(name + "\n" + kinds.categories[kinds.at(rows).astype(np.int64)])
    found.add(rows, stage, texts, lambda text: Op(Category.UNKNOWN, *text.rsplit("\n", 1)))


def _label_eager_ops(forest: Forest, found: _Labeller, eager: Bools) -> None:
    host = forest.host
    rows = unnamed_eager_ops(forest, np.flatnonzero(forest.on_host & (found.code >= 0)), eager)
    found.add(rows, host.metadata[rows], host.names, dispatched_op)


def _label_instructions(forest: Forest, found: _Labeller) -> None:
    """Label the events of a TPU's ``XLA Ops`` line by their own names, which are the instructions'."""
    rows = np.flatnonzero(on_instruction_line(forest))
    found.add(rows, forest.host.metadata[rows], forest.host.display_names, _instruction)


def _instruction(name: str) -> Op:
    """``%fusion.12 = f32[8] fusion(...)`` or ``fusion.12`` is the op ``fusion.12`` of type ``fusion``."""
    short = name.partition(" = ")[0].removeprefix("%")
    return Op(Category.UNKNOWN, short, _INSTRUCTION_NUMBER.sub("", short))
