"""The service that TensorFlow's profiler servers offer over gRPC: its messages, methods and channels.

TensorFlow's Python package has no classes for these messages, so they are declared here, with the fields that are used:
https://github.com/openxla/xla/blob/main/third_party/tsl/tsl/profiler/protobuf/profiler_service.proto. The XSpace is
declared as bytes, which is the same on the wire: it goes to its file as it came.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tfprof_nb._errors import MissingDependencyError
from tfprof_nb.capture.options import Options

SERVICE = "tensorflow.ProfilerService"
BUSY = "Another profiling session active."  # TensorFlow's words, with the status INTERNAL

_PACKAGE = "tfprof_nb"
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "ProfileOptions": {
        "version": (5, "uint32"),
        "include_dataset_ops": (1, "bool"),
        "host_tracer_level": (2, "uint32"),
        "device_tracer_level": (3, "uint32"),
        "python_tracer_level": (4, "uint32"),
        "enable_hlo_proto": (7, "bool"),
        "start_timestamp_ns": (8, "uint64"),
        "duration_ms": (9, "uint64"),
    },
    "ProfileRequest": {
        "duration_ms": (1, "uint64"),
        "opts": (4, "ProfileOptions"),
        "repository_root": (5, "string"),
        "session_id": (6, "string"),
        "host_name": (7, "string"),
        "emit_xspace": (9, "bool"),
    },
    "ProfileResponse": {"empty_trace": (7, "bool"), "xspace": (8, "bytes")},
    "TerminateRequest": {"session_id": (1, "string")},
    "TerminateResponse": {},
}


def grpc() -> Any:
    """Import gRPC, or say how to get it."""
    try:
        import grpc as module
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "Capturing from other processes needs gRPC, which is not installed here: pip install grpcio."
        ) from error
    return module


@cache
def messages() -> dict[str, type[Any]]:
    """Return the classes of the messages by name."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    file = FileDescriptorProto(name="profiler_service.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            _add_field(message, field, number, kind)
    pool = DescriptorPool()  # of our own: TensorFlow's messages have the same names
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES}


def _add_field(message: Any, name: str, number: int, kind: str) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    added = message.field.add(name=name, number=number, label=Field.LABEL_OPTIONAL)
    if kind in _MESSAGES:
        added.type, added.type_name = Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    else:
        added.type = Field.Type.Value(f"TYPE_{kind.upper()}")


def profile_request(options: Options, seconds: float) -> Any:
    """Return the request for a capture whose data comes back in the answer."""
    duration_ms = max(1, round(seconds * 1000))
    opts = messages()["ProfileOptions"](
        version=1,  # without it a server takes its defaults
        include_dataset_ops=True,
        host_tracer_level=options.host_level,
        device_tracer_level=options.device_level,
        python_tracer_level=options.python_level,
        enable_hlo_proto=True,
        duration_ms=duration_ms,
    )
    return messages()["ProfileRequest"](duration_ms=duration_ms, opts=opts, emit_xspace=True)


def requested_options(request: Any) -> Options:
    """Return what a request asks to record."""
    if not request.opts.version:
        return Options()
    return Options(
        min(request.opts.host_tracer_level, 3),
        min(request.opts.device_tracer_level, 1),
        min(request.opts.python_tracer_level, 1),
    )


def open_channel(address: str) -> Any:
    """Return a channel to a worker; nothing is sent yet."""
    options = [
        ("grpc.max_receive_message_length", -1),  # a profile is larger than the usual 4 MB
        ("grpc.enable_http_proxy", 0),  # a proxy leads out into the web, not to workers
    ]
    return grpc().insecure_channel(address, options)


def profile_method(channel: Any) -> Any:
    """Return what sends a `profile_request` over a channel."""
    return channel.unary_unary(
        f"/{SERVICE}/Profile",
        request_serializer=messages()["ProfileRequest"].SerializeToString,
        response_deserializer=messages()["ProfileResponse"].FromString,
    )
