"""Read ``local.trace``, which TensorFlow 2.0 and 2.1 wrote: a `Trace` message with the ops of each device."""

from typing import Any

import pandas as pd

from tfprof_nb._errors import BadProfileError
from tfprof_nb.decode.files import check_room
from tfprof_nb.decode.host import Host
from tfprof_nb.decode.run_metadata import described
from tfprof_nb.decode.session_runs import NODE_COLUMNS, TENSOR_COLUMNS, arrange
from tfprof_nb.formats.protobuf import Messages

_MEMORY_PER_BYTE = 20
_MAX_PS = 10**18
_NO_STEPS = "TensorFlow 2.0 and 2.1 recorded ops alone in local.trace: neither steps nor memory."

# Fields of the messages in tensorflow/core/profiler/protobuf/trace_events.proto; entries of maps are messages.
_MESSAGES = Messages(
    """
message Trace {
    repeated DeviceEntry devices = 1;
    repeated TraceEvent trace_events = 4;
}
message DeviceEntry {
    uint32 key = 1;
    Device value = 2;
}
message Device {
    string name = 1;
    repeated ResourceEntry resources = 3;
}
message ResourceEntry {
    uint32 key = 1;
    Resource value = 2;
}
message Resource {
    string name = 1;
}
message TraceEvent {
    uint32 device_id = 1;
    uint32 resource_id = 2;
    string name = 3;
    uint64 timestamp_ps = 9;
    uint64 duration_ps = 10;
    repeated Argument args = 11;
}
message Argument {
    string key = 1;
    string value = 2;
}
"""
)


def read_local_trace(data: bytes, name: str, source: str = "") -> Host:
    """Decode a `Trace` message.

    Raises
    ------
    BadProfileError
        It is cut short, or has no events.
    """
    from google.protobuf.message import DecodeError

    check_room(len(data) * _MEMORY_PER_BYTE, source or name)
    try:
        trace = _MESSAGES["Trace"].FromString(data)
    except DecodeError:
        raise BadProfileError(f"{source or name}: this trace of TensorFlow 2.0 is cut short. Copy it again.") from None
    devices = {entry.key: entry.value for entry in trace.devices}
    threads = {
        (device, resource.key): resource.value.name for device in devices for resource in devices[device].resources
    }
    rows = [
        _node(event, devices[event.device_id].name, threads.get((event.device_id, event.resource_id)))
        for event in trace.trace_events
        if event.device_id in devices
    ]
    if not rows:
        raise BadProfileError(f"{source or name}: this trace of TensorFlow 2.0 has no events. Profile a longer part.")
    nodes = pd.DataFrame(rows, columns=NODE_COLUMNS)
    if int((nodes["start_ps"] + nodes["duration_ps"]).max()) > _MAX_PS:
        raise BadProfileError(f"{source or name}: the events' times span more than 11 days: the file is damaged.")
    return arrange(name, nodes, pd.DataFrame(columns=TENSOR_COLUMNS), 0, [_NO_STEPS], in_session=False)


def _node(event: Any, device: str, thread: str | None) -> dict[str, Any]:
    args = {argument.key: argument.value for argument in event.args}
    label = "@@".join(args[part] for part in ("label", "annotation") if part in args)
    node, op, kernel, inputs = described(device, args.get("long name", event.name), label)
    return {
        "device": device,
        "thread": thread or event.resource_id,
        "node": node,
        "op": op,
        "kernel": kernel,
        "start_ps": min(event.timestamp_ps, _MAX_PS + 1),
        "duration_ps": min(event.duration_ps, _MAX_PS + 1),
        "args": {f"input{number}": name for number, name in enumerate(inputs)},
    }
