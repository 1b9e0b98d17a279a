"""Which op each event belongs to: ops on host threads, kernels and copies on devices, XLA instructions."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64, Objects
from tfprof_nb.analysis.events.devices import TPU
from tfprof_nb.analysis.events.eager import dispatched_op, ran_eagerly, unnamed_eager_ops
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import Category, Op, parse_tf_op
from tfprof_nb.decode.host import Line

Parser = Callable[[str], Op | None]

_INSTRUCTION_LINES = ("XLA Ops", "Sparse Core Ops")
# XLA records these around its kernels: they name no op.
_XLA_FRAMES = ("XlaModule:", "Thunk:")
_INSTRUCTION_NUMBER = re.compile(r"(\d+\.)*")  # of a name read from its end: there a search takes no longer


@dataclass(frozen=True, eq=False)
class OpLabels:
    """The op of every event, as codes into a vocabulary of distinct ops.

    Attributes
    ----------
    code
        Per event: index into ``op_name`` and ``op_type``, -1 for an event that belongs to no op.
    op_name, op_type
        The vocabulary.
    """

    code: Int32
    op_name: Objects
    op_type: Objects


def label_ops(forest: Forest, eager: Bools | None = None) -> OpLabels:
    """Return the op of every event of one host.

    On host threads an op's event is named after it (``name:Type``), and events of XLA:CPU carry ``hlo_op``; calls that
    launch kernels belong to no op. On devices a stat names the op: ``tf_op``, or in files of TensorFlow 2.2 to 2.8
    ``level 0`` and ``annotation``. XLA's instructions without such a stat are named by the framework's path, or by
    their own name.

    Parameters
    ----------
    eager
        Per event: whether it ran eagerly. If given, eager ops of which only the dispatch was recorded get labels too.
    """
    host = forest.host
    labels = _Labels(len(host))
    instructions = host.texts("hlo_op").rows
    compiled = np.zeros(len(host), dtype=bool)
    compiled[instructions] = True
    compiled |= on_instruction_line(forest)
    correlated = host.ints("correlation_id")
    launches = correlated.rows[forest.on_host[correlated.rows] & (correlated.values.astype(np.int64) >= 0)]
    in_stats = on_device_timeline(forest) | compiled
    _label_instructions(forest, labels)
    labels.add_texts(forest, "hlo_op", _instruction, in_stats)
    labels.add_texts(forest, "name", framework_op, compiled)
    for stat in ("annotation", "level 0", "tf_op"):
        labels.add_texts(forest, stat, framework_op, in_stats)
    _label_host_ops(forest, labels)
    _label_stages(forest, labels)
    labels.code[launches] = -1
    if eager is not None:
        _label_eager_ops(forest, labels, eager)
    return OpLabels(labels.code, *labels.vocabulary())


def label_all_ops(forest: Forest) -> OpLabels:
    """Return the op of every event, eager ops included."""
    return label_ops(forest, forest.once(ran_eagerly))


def on_instruction_line(forest: Forest) -> Bools:
    """Return per event whether it is an instruction of a TPU: what a kernel is to a GPU, but instructions nest."""
    instructions = [_on_tpu(forest, line) and line.name in _INSTRUCTION_LINES for line in forest.host.lines]
    return _of_lines(forest, instructions)


def beside_instructions(forest: Forest) -> Bools:
    """Return per event whether it is on a TPU but no instruction of it, such as an asynchronous copy."""
    return _of_lines(forest, [_on_tpu(forest, line) for line in forest.host.lines]) & ~on_instruction_line(forest)


def on_device_timeline(forest: Forest) -> Bools:
    """Return per event whether its time is a device's own: a GPU's kernels and copies, a TPU's instructions."""
    tpu = _of_lines(forest, [_on_tpu(forest, line) for line in forest.host.lines])
    on_timeline: Bools = (forest.on_device & ~tpu) | on_instruction_line(forest)
    return on_timeline


def _on_tpu(forest: Forest, line: Line) -> bool:
    return forest.host.planes[line.plane].name.startswith(TPU)


def _of_lines(forest: Forest, chosen: list[bool]) -> Bools:
    """Return per event whether its line is chosen; ``chosen`` has one entry per line."""
    if not any(chosen):
        return np.zeros(len(forest.host), dtype=bool)
    return np.array(chosen, dtype=bool)[forest.host.line]


def framework_op(text: str) -> Op | None:
    """Return the op that a kernel's stat names, None if it names none.

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


class _Labels:
    """Labels of events, added layer by layer: a later label replaces an earlier one."""

    def __init__(self, events: int) -> None:
        self.code = np.full(events, -1, dtype=np.int32)
        self._codes: dict[tuple[str, str], int] = {}

    def add(self, labelled: Int64, choice: npt.NDArray[np.integer], texts: Objects, parse: Parser) -> None:
        """Label events by the ops that texts name; where a text names no op, the label stays as it was.

        Parameters
        ----------
        labelled, choice
            The events, and for each the index of its text in ``texts``.
        texts, parse
            Texts, and what turns one into an op.
        """
        occurs = np.zeros(len(texts), dtype=bool)
        occurs[choice] = True
        code_of_text = np.full(len(texts), -1, dtype=np.int32)
        for index in np.flatnonzero(occurs):
            op = parse(str(texts[index]))
            if op is not None:
                code_of_text[index] = self._codes.setdefault((op.op_name, op.op_type), len(self._codes))
        code = code_of_text[choice]
        if (code_of_text[occurs] >= 0).all():
            self.code[labelled] = code
        else:
            self.code[labelled[code >= 0]] = code[code >= 0]

    def add_texts(self, forest: Forest, stat: str, parse: Parser, among: Bools) -> None:
        """Label the events that carry a text stat; ``among`` says per event whether it may be labelled."""
        if not among.any():  # reading texts is slow, and a CPU's profile has none of interest
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


def _label_host_ops(forest: Forest, labels: _Labels) -> None:
    host = forest.host
    known = forest.names.category != Category.UNKNOWN
    ops = np.flatnonzero(forest.on_host & known[host.metadata] & ~forest.are_annotations)
    labels.add(ops, host.metadata[ops], host.names, parse_tf_op)


def _label_stages(forest: Forest, labels: _Labels) -> None:
    """Label the stages of PyGrain's input pipelines: the op is the stage, its type the kind of stage."""
    host = forest.host
    stages = np.intersect1d(host.texts("_ipl_stage_cat").rows, host.ints("_ipl_stage_id").rows)
    if not len(stages) or not len(host.texts("_ipl_stage_name").rows):
        return
    stage_name = forest.texts_at("_ipl_stage_name", stages)
    name = np.where(stage_name == "", host.names[host.metadata[stages]], stage_name)
    choice, texts = pd.factorize(name + "\n" + forest.texts_at("_ipl_stage_cat", stages))
    labels.add(stages, choice, texts, lambda text: Op(Category.UNKNOWN, *text.rsplit("\n", 1)))


def _label_eager_ops(forest: Forest, labels: _Labels, eager: Bools) -> None:
    host = forest.host
    dispatches = unnamed_eager_ops(forest, np.flatnonzero(forest.on_host & (labels.code >= 0)), eager)
    labels.add(dispatches, host.metadata[dispatches], host.names, dispatched_op)


def _label_instructions(forest: Forest, labels: _Labels) -> None:
    """Label the events of a TPU's ``XLA Ops`` line by their own names, which are the instructions'."""
    instructions = np.flatnonzero(on_instruction_line(forest))
    labels.add(instructions, forest.host.metadata[instructions], forest.host.display_names, _instruction)


def _instruction(name: str) -> Op:
    """Return the op of an instruction: ``%fusion.12 = f32[8] fusion(...)`` is ``fusion.12``, of type ``fusion``."""
    short = name.partition(" = ")[0].removeprefix("%")
    number = _INSTRUCTION_NUMBER.match(short[::-1])
    return Op(Category.UNKNOWN, short, short[: len(short) - number.end()] if number else short)
