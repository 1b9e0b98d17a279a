"""A graph of TensorFlow 1 as a section ``graphs`` (docs/sidecar.md), with what tfprof knows of its nodes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfprof_nb.capture import sidecar
from tfprof_nb.capture.graphs.function_nodes import tensor_text
from tfprof_nb.capture.graphs.source_lines import Frame, SourceLines
from tfprof_nb.capture.sidecar import Interned
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.formats.files import SESSION_GRAPH, sidecar_of
from tfprof_nb.formats.sidecar import FunctionEntry, GraphsSection, Section


def write_graph(run: Path, graph: Any, run_metadata: Any = None, notes: Sequence[str] = ()) -> None:
    """Write a session's graph beside its recorded runs, with the capture's notes."""
    sections: dict[str, Any] = {Section.GRAPHS: describe_graph(graph, None, run_metadata)}
    if notes:
        sections[Section.CAPTURE] = {"notes": list(notes)}
    sidecar.write(sidecar_of(run / SESSION_GRAPH), sections)


def default_graph() -> Any:
    """Return the default graph, or None where TensorFlow runs eagerly."""
    tf = tensorflow()
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def data_formats(graph: Any) -> dict[str, str]:
    """Return the ``data_format`` of the graph's nodes that have one, by name."""
    nodes = graph.as_graph_def().node if graph is not None else ()
    return {node.name: node.attr["data_format"].s.decode() for node in nodes if "data_format" in node.attr}


def describe_graph(graph: Any, op_log: Any = None, run_metadata: Any = None) -> GraphsSection:
    """Return a `tf.Graph` as a section with one function, whose name is empty.

    Parameters
    ----------
    graph
        The graph; None makes an empty section.
    op_log
        An ``OpLogProto``: types, float ops and code of the user's own.
    run_metadata
        The ``RunMetadata`` of a run: its shapes replace those that the graph leaves open.
    """
    log = _tfprof_log(graph, op_log, run_metadata)
    strings, lines = Interned[str](), SourceLines()
    operations = graph.get_operations() if graph is not None else []
    function = _entry(operations, graph, log, strings, lines)
    return GraphsSection(
        frames=lines.columns(strings),
        traces=lines.traces.values(),
        functions=[function],
        notes=[],
        strings=strings.values(),  # last: all above add to them
    )


def _tfprof_log(graph: Any, op_log: Any, run_metadata: Any) -> Any:
    from tensorflow.python.profiler import tfprof_logger
    from tensorflow.python.util import deprecation

    with deprecation.silence():
        return tfprof_logger.merge_default_with_oplog(graph, op_log, run_metadata)


def _entry(
    operations: Sequence[Any], graph: Any, log: Any, strings: Interned[str], lines: SourceLines
) -> FunctionEntry:
    """Return a graph as a function, from its operations, its definition and tfprof's log."""
    numbers = {operation.name: number for number, operation in enumerate(operations)}
    definitions = {node.name: node for node in graph.as_graph_def().node} if operations else {}
    nodes = [definitions[name] for name in numbers]
    entries, none = {entry.name: entry for entry in log.log_entries}, log.log_entries.add()
    logged = [entries.get(name, none) for name in numbers]
    return FunctionEntry(
        name="",
        called=True,
        batch=None,
        names=strings.numbers(numbers),
        ops=strings.numbers(operation.type for operation in operations),
        devices=strings.numbers(operation.device for operation in operations),
        outputs=strings.numbers(";".join(map(tensor_text, operation.outputs)) for operation in operations),
        takes=strings.numbers(";".join(map(tensor_text, operation.inputs)) for operation in operations),
        inputs=[[numbers[source] for source in _sources(node) if source in numbers] for node in nodes],
        parameters=[_parameters(node) for node in nodes],
        traces=[_trace(entry, log.id_to_string, lines) for entry in logged],
        types=[strings.numbers(entry.types) for entry in logged],
        float_ops=[entry.float_ops or None for entry in logged],
        calls=[],
    )


def _sources(node: Any) -> list[str]:
    """Return the nodes that a node takes data from or waits for."""
    return [text.lstrip("^").partition(":")[0] for text in node.input]


def _parameters(node: Any) -> int:
    """Return how many numbers fit the node's attribute ``shape``, by which tfprof recognises variables."""
    shape = node.attr["shape"]
    if not shape.HasField("shape") or shape.shape.unknown_rank:
        return 0
    count = 1
    for dimension in shape.shape.dim:
        count *= dimension.size
    return 0 if any(dimension.size < 0 for dimension in shape.shape.dim) else count


def _trace(entry: Any, texts: Mapping[int, str], lines: SourceLines) -> int:
    traces = reversed(entry.code_def.traces)
    frames = [Frame(texts[trace.file_id], trace.lineno, texts[trace.function_id]) for trace in traces]
    return lines.traces.number(tuple(lines.frames.numbers(frames)))
