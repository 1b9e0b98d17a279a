"""Read RunMetadata, what a `session.run` of TensorFlow 1 tells of itself: binary or as protobuf's text.

`read_run_metadata` makes a `Host` of one. What tfprof's views need beyond is in the message: `parse_run_metadata`
returns it, and `executed_nodes` gives its nodes as a frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pandas as pd

from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_NS, PS_PER_US
from tfprof_nb.decode import data_types
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.session_runs import NODE_COLUMNS, TENSOR_COLUMNS, arrange

_OP_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")  # name = op(input, input)
_KERNEL_LABEL = re.compile(r"(.*?)@@([^#]+)#")  # kernel@@name:op#details
_RECEIVED = re.compile(r"/_[^/]*$")
_LONGEST_PS = 9 * 10**18  # what int64 holds

# The fields that are read, of the messages in tensorflow/core/framework (step_stats, tensor_description,
# allocation_description, tensor_shape, graph, node_def) and tensorflow/core/protobuf/config.proto: number, name, type.
_SCHEMA = """
RunMetadata: 1 step_stats StepStats, 3* partition_graphs GraphDef
StepStats: 1* dev_stats DeviceStepStats
DeviceStepStats: 1 device string, 2* node_stats NodeExecStats, 3* thread_names ThreadName
ThreadName: 1 key uint32, 2 value string
NodeExecStats: 1 node_name string, 2 all_start_micros int64, 3 op_start_rel_micros int64, 4 op_end_rel_micros int64, \
5 all_end_rel_micros int64, 6* memory AllocatorMemoryUsed, 7* output NodeOutput, 8 timeline_label string, \
9 scheduled_micros int64, 10 thread_id uint32, 12 memory_stats MemoryStats, 13 all_start_nanos int64, \
14 op_start_rel_nanos int64, 15 op_end_rel_nanos int64, 16 all_end_rel_nanos int64, 17 scheduled_nanos int64
AllocatorMemoryUsed: 1 allocator_name string, 2 total_bytes int64, 3 peak_bytes int64, 4 live_bytes int64, \
5 allocator_bytes_in_use int64, 6* allocation_records AllocationRecord
AllocationRecord: 1 alloc_micros int64, 2 alloc_bytes int64
MemoryStats: 1 temp_memory_size int64, 3 persistent_memory_size int64, 5* persistent_tensor_alloc_ids int64
NodeOutput: 1 slot int32, 3 tensor_description TensorDescription
TensorDescription: 1 dtype DataType, 2 shape TensorShapeProto, 4 allocation_description AllocationDescription
TensorShapeProto: 2* dim Dim, 3 unknown_rank bool
Dim: 1 size int64, 2 name string
AllocationDescription: 1 requested_bytes int64, 2 allocated_bytes int64, 3 allocator_name string, \
4 allocation_id int64, 5 has_single_reference bool, 6 ptr uint64
GraphDef: 1* node NodeDef
NodeDef: 1 name string, 2 op string, 3* input string, 4 device string
"""


def read_run_metadata(data: bytes, name: str, source: str = "") -> Host:
    """Decode one run: its ops, its kernels where a GPU was traced, and the lives of its tensors.

    Parameters
    ----------
    data
        The message, binary or as protobuf's text.
    name
        The host's key.
    source
        What messages call the file; ``name`` when not given.

    Raises
    ------
    BadProfileError
        It is no RunMetadata, or was collected without ``trace_level=FULL_TRACE``.
    """
    nodes = executed_nodes(parse_run_metadata(data, source or name))
    zero_ps = int(nodes["start_ps"].min())
    if int((nodes["start_ps"] + nodes["duration_ps"]).max()) - zero_ps > _LONGEST_PS:
        raise BadProfileError(f"{source or name}: the nodes' times lie more than 100 days apart: the file is damaged.")
    nodes = nodes.assign(start_ps=(nodes["start_ps"] - zero_ps).astype("int64"))
    return arrange(name, nodes[NODE_COLUMNS], _tensors(nodes), zero_ps // PS_PER_NS)


def parse_run_metadata(data: bytes, source: str) -> Any:
    """Parse a RunMetadata message, binary or text; fields that are not read are passed over.

    Raises
    ------
    BadProfileError
        As for `read_run_metadata`; ``source`` is what the message calls the file.
    """
    from google.protobuf.message import DecodeError

    if not data:
        raise BadProfileError(f"{source}: the file is empty. Write the RunMetadata again.")
    message = _message_type()()
    try:
        message.ParseFromString(data)
        binary = True
    except DecodeError:
        binary = False
    if binary and _has_nodes(message):
        return message
    message = _from_text(data, source)
    if not _has_nodes(message):
        raise BadProfileError(
            f"{source}: this RunMetadata traced nothing. Run the session with "
            "options=tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)."
        )
    return message


def executed_nodes(message: Any) -> pd.DataFrame:
    """Return one row per node that ran, in the order of the message.

    Returns
    -------
    DataFrame
        `NODE_COLUMNS`, with ``start_ps`` since 1970; ``inputs`` (names of tensors); the op's own time within,
        ``op_start_ps`` and ``op_end_ps`` since ``start_ps``, and ``op_end_micros`` as it was written;
        ``requested_bytes peak_bytes residual_bytes`` summed over
        allocators, ``temp_bytes persistent_bytes``; and ``outputs``, the `NodeOutput` messages.
    """
    rows = [_node(device, stats) for device in message.step_stats.dev_stats for stats in device.node_stats]
    return pd.DataFrame(rows)


def _node(device: Any, stats: Any) -> dict[str, Any]:
    node, op, kernel, inputs = _described(device.device, stats)
    threads = {thread.key: thread.value for thread in device.thread_names}
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
    }


def _described(device: str, stats: Any) -> tuple[str, str, str, list[str]]:
    """Return node, op, kernel and inputs, as far as the label tells; on devices it names the kernel and its op."""
    if "/stream:" in device or "/memcpy" in device:
        label = _KERNEL_LABEL.match(stats.timeline_label)
        node, _, op = (label[2] if label else stats.node_name).partition(":")
        op = op.partition(":")[0] or "unknown"
        return node, op, (label[1].strip() if label else "") or op, []
    label = _OP_LABEL.match(stats.timeline_label)
    if label is None:
        return stats.node_name, "RecvTensor" if stats.node_name == "RecvTensor" else "unknown", "", []
    return stats.node_name, label[2], "", [name for name in label[3].split(", ") if name]


def _tensors(nodes: pd.DataFrame) -> pd.DataFrame:
    """Return the outputs: each lives from its node's start to the end of the last that takes it, as in timelines."""
    ends = nodes["start_ps"] + nodes["duration_ps"]
    rows = [
        {"name": f"{node}:{slot}" if slot else node, "start_ps": start, "end_ps": end, **_allocation(output)}
        for node, outputs, start, end in zip(nodes["node"], nodes["outputs"], nodes["start_ps"], ends, strict=True)
        for slot, output in enumerate(outputs)
    ]
    tensors = pd.DataFrame(rows, columns=TENSOR_COLUMNS).drop_duplicates("name", keep="last", ignore_index=True)
    uses = nodes.assign(end_ps=ends - PS_PER_US).explode("inputs").dropna(subset="inputs")
    known = uses["inputs"].isin(tensors["name"])
    # What another device sends arrives under a name with a number behind it.
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

    message = _message_type()()
    try:
        return text_format.Parse(data.decode(), message, allow_unknown_field=True)
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise BadProfileError(
            f"{source}: this kind of file is not supported, or it is cut short. Supported are XSpace profiles "
            "(*.xplane.pb), Chrome traces (*.json) and RunMetadata, binary or text, plain or compressed with gzip. As "
            f"text, it fails at {error}."
        ) from None


@cache
def _message_type() -> Any:
    """Build the message's class, in a pool of its own: TensorFlow has one of the same name."""
    from google.protobuf import descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tfprof_nb.RunMetadata"))


def _file() -> Any:
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="tfprof_nb/run_metadata.proto", package="tfprof_nb", syntax="proto3")
    data_type = file.enum_type.add(name="DataType")
    for name, code in data_types.NUMBERS.items():
        data_type.value.add(name=name, number=code)
    for message, fields in _messages():
        described = file.message_type.add(name=message)
        for number, name, kind in fields:
            field = described.field.add(name=name, number=int(number.rstrip("*")))
            field.label = field.LABEL_REPEATED if number.endswith("*") else field.LABEL_OPTIONAL
            if kind in _SCALARS:
                field.type = getattr(field, f"TYPE_{kind.upper()}")
            else:
                field.type = field.TYPE_ENUM if kind == "DataType" else field.TYPE_MESSAGE
                field.type_name = f".tfprof_nb.{kind}"
    return file


def _messages() -> Iterator[tuple[str, list[list[str]]]]:
    for line in _SCHEMA.strip().splitlines():
        message, _, fields = line.partition(": ")
        yield message, [field.split() for field in fields.split(", ")]


_SCALARS = ("string", "int32", "int64", "uint32", "uint64", "bool")
