"""Read RunMetadata, TensorFlow 1's record of a `session.run`: binary or as protobuf's text.

`read_run_metadata` makes a `Host` of it. tfprof's views need more of the message: `parse_run_metadata` returns it, and
`executed_nodes` returns its nodes as a frame.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_NS, PS_PER_US
from tfprof_nb.decode import data_types
from tfprof_nb.decode.files import check_room, kind_of, read
from tfprof_nb.decode.host import Host, plausible_ns
from tfprof_nb.decode.session_runs import NODE_COLUMNS, TENSOR_COLUMNS, arrange
from tfprof_nb.decode.sidecar import Sidecar, read_sidecar
from tfprof_nb.formats.files import SESSION_GRAPH
from tfprof_nb.formats.protobuf import Messages

_RECEIVED = re.compile(r"/_[^/]*$")
_GRAPH = re.compile(rb"\s*(?:#[^\n]*\s+)*(?:node|library|versions)\b\s*[:{]")  # how the text of a GraphDef begins
_MEMORY_PER_BYTE = 20
_MAX_PS = 10**18  # int64 holds the sum of a few such times
_MOST_BYTES = 1 << 50  # int64 and float64 hold sums of such sizes
_SIZES = {
    "AllocatorMemoryUsed": ("total_bytes", "peak_bytes", "live_bytes"),
    "MemoryStats": ("temp_memory_size", "persistent_memory_size"),
    "AllocationDescription": ("requested_bytes", "allocated_bytes"),
}

# Fields of the messages in tensorflow/core/framework (step_stats, tensor_description,
# allocation_description, tensor_shape, graph, node_def) and tensorflow/core/protobuf/config.proto.
MESSAGES = Messages(
    f"enum DataType {{ {' '.join(f'{name} = {number};' for name, number in data_types.NUMBERS.items())} }}"
    """
message RunMetadata {
    StepStats step_stats = 1;
    repeated GraphDef partition_graphs = 3;
}
message StepStats {
    repeated DeviceStepStats dev_stats = 1;
}
message DeviceStepStats {
    string device = 1;
    repeated NodeExecStats node_stats = 2;
    repeated ThreadName thread_names = 3;
}
message ThreadName {
    uint32 key = 1;
    string value = 2;
}
message NodeExecStats {
    string node_name = 1;
    int64 all_start_micros = 2;
    int64 op_start_rel_micros = 3;
    int64 op_end_rel_micros = 4;
    int64 all_end_rel_micros = 5;
    repeated AllocatorMemoryUsed memory = 6;
    repeated NodeOutput output = 7;
    string timeline_label = 8;
    int64 scheduled_micros = 9;
    uint32 thread_id = 10;
    MemoryStats memory_stats = 12;
    int64 all_start_nanos = 13;
    int64 op_start_rel_nanos = 14;
    int64 op_end_rel_nanos = 15;
    int64 all_end_rel_nanos = 16;
    int64 scheduled_nanos = 17;
}
message AllocatorMemoryUsed {
    string allocator_name = 1;
    int64 total_bytes = 2;
    int64 peak_bytes = 3;
    int64 live_bytes = 4;
    int64 allocator_bytes_in_use = 5;
    repeated AllocationRecord allocation_records = 6;
}
message AllocationRecord {
    int64 alloc_micros = 1;
    int64 alloc_bytes = 2;
}
message MemoryStats {
    int64 temp_memory_size = 1;
    int64 persistent_memory_size = 3;
    repeated int64 persistent_tensor_alloc_ids = 5;
}
message NodeOutput {
    int32 slot = 1;
    TensorDescription tensor_description = 3;
}
message TensorDescription {
    DataType dtype = 1;
    TensorShapeProto shape = 2;
    AllocationDescription allocation_description = 4;
}
message TensorShapeProto {
    repeated Dim dim = 2;
    bool unknown_rank = 3;
}
message Dim {
    int64 size = 1;
    string name = 2;
}
message AllocationDescription {
    int64 requested_bytes = 1;
    int64 allocated_bytes = 2;
    string allocator_name = 3;
    int64 allocation_id = 4;
    bool has_single_reference = 5;
    uint64 ptr = 6;
}
message GraphDef {
    repeated NodeDef node = 1;
}
message NodeDef {
    string name = 1;
    string op = 2;
    repeated string input = 3;
    string device = 4;
}
"""
)


def read_run_metadata(data: bytes, name: str, source: str = "") -> Host:
    """Decode one run: its ops, its kernels if a GPU was traced, and the lifetimes of its tensors.

    Parameters
    ----------
    data
        The message, binary or as protobuf's text.

    Raises
    ------
    BadProfileError
        It is not RunMetadata, or was collected without ``trace_level=FULL_TRACE``.
    """
    nodes = executed_nodes(parse_run_metadata(data, source or name))
    zero_ps = int(nodes["start_ps"].min())
    if int((nodes["start_ps"] + nodes["duration_ps"]).max()) - zero_ps > _MAX_PS:
        raise BadProfileError(f"{source or name}: the nodes' times span more than 11 days: the file is damaged.")
    odd = int(nodes["sizes_cut"].sum())
    notes = [f"{odd:,} nodes have sizes that no memory has: they are shown cut."] if odd else []
    nodes = nodes.assign(start_ps=(nodes["start_ps"] - zero_ps).astype("int64"))
    return arrange(name, nodes[NODE_COLUMNS], _tensors(nodes), plausible_ns(zero_ps // PS_PER_NS), notes)


def parse_run_metadata(data: bytes, source: str) -> Any:
    """Parse a RunMetadata message, binary or text, without the fields that are not declared.

    Raises
    ------
    BadProfileError
        As for `read_run_metadata`; the error's message calls the file ``source``.
    """
    from google.protobuf.message import DecodeError

    if not data:
        raise BadProfileError(f"{source}: the file is empty. Write the RunMetadata again.")
    check_room(len(data) * _MEMORY_PER_BYTE, source)
    message = MESSAGES["RunMetadata"]()
    try:
        message.ParseFromString(data)
        binary = True
    except DecodeError:
        binary = False
    if binary and _has_nodes(message):
        return message
    message = _from_text(data, source)
    if _GRAPH.match(data):
        raise BadProfileError(
            f"{source}: this is a GraphDef: a graph, without the times of a run. Load the RunMetadata of a run instead."
        )
    if not _has_nodes(message):
        raise BadProfileError(
            f"{source}: this RunMetadata has no traced ops. Run the session with "
            "options=tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)."
        )
    return message


def executed_nodes(message: Any) -> pd.DataFrame:
    """Return one row per node that ran, in the order of the message.

    Returns
    -------
    DataFrame
        `NODE_COLUMNS`, with ``start_ps`` since 1970; ``inputs``, names of tensors; the op's own time, ``op_start_ps``
        and ``op_end_ps`` since ``start_ps``, and ``op_end_micros`` as in the message; ``requested_bytes peak_bytes
        residual_bytes``, summed over allocators; ``temp_bytes persistent_bytes``; ``outputs``, the `NodeOutput`
        messages; and ``sizes_cut``, whether the message had sizes that no memory has.
    """
    rows = [_node(device, stats) for device in message.step_stats.dev_stats for stats in device.node_stats]
    return pd.DataFrame(rows)


def _node(device: Any, stats: Any) -> dict[str, Any]:
    node, op, kernel, inputs = described(device.device, stats.node_name, stats.timeline_label)
    threads = {thread.key: thread.value for thread in device.thread_names}
    sizes_cut = _cut_sizes(stats)
    start_ps = stats.all_start_nanos * PS_PER_NS or stats.all_start_micros * PS_PER_US

    def since_start(name: str) -> int:
        exact = getattr(stats, f"{name}_rel_nanos") * PS_PER_NS
        return int(exact or getattr(stats, f"{name}_rel_micros") * PS_PER_US)

    return {
        "device": device.device,
        "thread": threads.get(stats.thread_id, stats.thread_id),
        "node": node,
        "op": op,
        "kernel": kernel,
        "start_ps": start_ps,
        "duration_ps": max(since_start("all_end"), 0),
        "args": {f"input{number}": name for number, name in enumerate(inputs)},
        "inputs": inputs,
        "op_start_ps": since_start("op_start"),
        "op_end_ps": since_start("op_end"),
        "op_end_micros": stats.op_end_rel_micros,
        "requested_bytes": sum(memory.total_bytes for memory in stats.memory),
        "peak_bytes": sum(memory.peak_bytes for memory in stats.memory),
        "residual_bytes": sum(memory.live_bytes for memory in stats.memory),
        "temp_bytes": stats.memory_stats.temp_memory_size,
        "persistent_bytes": stats.memory_stats.persistent_memory_size,
        "outputs": list(stats.output),
        "sizes_cut": sizes_cut,
    }


def _cut_sizes(stats: Any) -> bool:
    """Cut a node's sizes, in place, to those that a memory can have; return whether there were others."""
    cut = False
    outputs = (output.tensor_description.allocation_description for output in stats.output)
    for part in (*stats.memory, stats.memory_stats, *outputs):
        for name in _SIZES[part.DESCRIPTOR.name]:
            if not 0 <= (size := getattr(part, name)) <= _MOST_BYTES:
                setattr(part, name, min(max(size, 0), _MOST_BYTES))
                cut = True
    return cut


def described(device: str, node_name: str, label: str) -> tuple[str, str, str, list[str]]:
    """Return node, op, kernel and inputs, as far as the label has them; on devices it names the kernel and its op."""
    if "/stream:" in device or "/memcpy" in device:
        kernel, _, rest = label.partition("@@")  # kernel@@name:op#details
        named, details, _ = rest.partition("#")
        node, _, op = (named if named and details else node_name).partition(":")
        op = op.partition(":")[0] or "unknown"
        return node, op, (kernel.strip() if named and details else "") or op, []
    call, closed, _ = label.rpartition(")")  # name = op(input, input)
    before, opened, inputs = call.rpartition("(")
    _, known, op = before.rpartition(" = ")
    if not (closed and opened and known):
        return node_name, "RecvTensor" if node_name == "RecvTensor" else "unknown", "", []
    return node_name, op, "", [name for name in inputs.split(", ") if name]


def _tensors(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the outputs, each alive from its node's start to the end of its last user, as in timelines."""
    ends = nodes["start_ps"] + nodes["duration_ps"]
    rows = [
        {"name": f"{node}:{slot}" if slot else node, "start_ps": start, "end_ps": end, **_allocation(output)}
        for node, outputs, start, end in zip(nodes["node"], nodes["outputs"], nodes["start_ps"], ends, strict=True)
        for slot, output in enumerate(outputs)
    ]
    tensors = pd.DataFrame(rows, columns=TENSOR_COLUMNS).drop_duplicates("name", keep="last", ignore_index=True)
    uses = nodes.assign(end_ps=ends - PS_PER_US).explode("inputs").dropna(subset="inputs")
    known = uses["inputs"].isin(tensors["name"])
    # Tensors from another device arrive under a name followed by a number.
    uses["inputs"] = uses["inputs"].where(known, uses["inputs"].str.replace(_RECEIVED, "", regex=True))
    last_use = tensors["name"].map(uses.groupby("inputs")["end_ps"].max())
    tensors["end_ps"] = tensors["end_ps"].where(~(last_use > tensors["end_ps"]), last_use).astype("int64")
    return tensors


def _allocation(output: Any) -> dict[str, Any]:
    tensor = output.tensor_description
    return {
        "allocator": tensor.allocation_description.allocator_name,
        "requested_bytes": tensor.allocation_description.requested_bytes,
        "shape": f"[{','.join(str(dim.size) for dim in tensor.shape.dim)}]",
        "data_type": tensor.dtype,
    }


def _has_nodes(message: Any) -> bool:
    return any(device.node_stats for device in message.step_stats.dev_stats)


def _from_text(data: bytes, source: str) -> Any:
    from google.protobuf import text_format

    message = MESSAGES["RunMetadata"]()
    try:
        return text_format.Parse(data.decode(), message, allow_unknown_field=True)
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise BadProfileError(
            f"{source}: this kind of file is not supported, or the file is cut short. Supported are XSpace profiles "
            "(*.xplane.pb), Chrome traces (*.json), RunMetadata (binary or text), ProfileProto of tfprof and "
            f"local.trace of TensorFlow 2.0, plain or compressed with gzip. Reading it as text failed at {error}."
        ) from None


class SessionRuns(NamedTuple):
    """The sidecar with the graph (empty if there is none), and a row per run of a node, with its ``step``."""

    sidecar: Sidecar
    executed: pd.DataFrame


def read_session(files: Sequence[Path]) -> SessionRuns | None:
    """Read the RunMetadata of runs, each as a step; return None if the files are of another kind.

    Raises
    ------
    BadProfileError
        As `files.read` and `run_metadata.parse_run_metadata`.
    """
    if not files or any(kind_of(file) != "run_metadata" for file in files):
        return None
    runs = [executed_nodes(parse_run_metadata(read(file), str(file))) for file in files]
    executed = pd.concat([run.assign(step=step) for step, run in enumerate(runs)], ignore_index=True)
    return SessionRuns(read_sidecar(files[0].with_name(SESSION_GRAPH)), executed)
