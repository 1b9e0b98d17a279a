"""The gRPC service of TensorFlow's profiler servers: its messages, methods and channels.

TensorFlow's Python package has no classes for these messages, so the fields that we use are declared here:
https://github.com/openxla/xla/blob/main/third_party/tsl/tsl/profiler/protobuf/profiler_service.proto. The XSpace is
declared as bytes, which is the same on the wire, and goes into its file unchanged.
"""

from typing import Any

from tfprof_nb._errors import MissingDependencyError
from tfprof_nb.capture.options import Options
from tfprof_nb.formats.protobuf import Messages

SERVICE = "tensorflow.ProfilerService"
BUSY = "Another profiling session active."  # TensorFlow's words, with the status INTERNAL

MESSAGES = Messages("""
message ProfileOptions {
    uint32 version = 5;
    bool include_dataset_ops = 1;
    uint32 host_tracer_level = 2;
    uint32 device_tracer_level = 3;
    uint32 python_tracer_level = 4;
    bool enable_hlo_proto = 7;
    uint64 start_timestamp_ns = 8;
    uint64 duration_ms = 9;
}
message ProfileRequest {
    uint64 duration_ms = 1;
    ProfileOptions opts = 4;
    string repository_root = 5;
    string session_id = 6;
    string host_name = 7;
    bool emit_xspace = 9;
}
message ProfileResponse {
    bool empty_trace = 7;
    bytes xspace = 8;
}
message TerminateRequest {
    string session_id = 1;
}
message TerminateResponse {}
""")


def grpc() -> Any:
    """Import gRPC, or raise an error that says how to install it."""
    try:
        import grpc as module
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "Capturing other processes needs gRPC, which is not installed here: pip install grpcio."
        ) from error
    return module


def profile_request(options: Options, seconds: float, starts_ns: int = 0) -> Any:
    """Return the request for a capture whose data is sent in the response.

    It starts at a time in nanoseconds since 1970; at once if that is 0 or past.
    """
    duration_ms = max(1, round(seconds * 1000))
    opts = MESSAGES["ProfileOptions"](
        version=1,  # without a version a server uses its defaults
        include_dataset_ops=True,
        host_tracer_level=options.host_level,
        device_tracer_level=options.device_level,
        python_tracer_level=options.python_level,
        enable_hlo_proto=True,
        start_timestamp_ns=starts_ns,
        duration_ms=duration_ms,
    )
    return MESSAGES["ProfileRequest"](duration_ms=duration_ms, opts=opts, emit_xspace=True)


def requested_options(request: Any) -> Options:
    """Return the options that a request asks for."""
    if not request.opts.version:
        return Options()
    return Options(
        min(request.opts.host_tracer_level, 3),
        min(request.opts.device_tracer_level, 1),
        min(request.opts.python_tracer_level, 1),
    )


def open_channel(address: str) -> Any:
    """Return a channel to a worker, without sending anything."""
    options = [
        ("grpc.max_receive_message_length", -1),  # a profile can exceed the default of 4 MB
        ("grpc.enable_http_proxy", 0),  # a proxy leads to the web, not to workers
        ("grpc.initial_reconnect_backoff_ms", 500),  # whoever asks again has waited already
        ("grpc.max_reconnect_backoff_ms", 500),
    ]
    return grpc().insecure_channel(address, options)


def profile_method(channel: Any) -> Any:
    """Return the method that sends a `profile_request` over a channel."""
    return channel.unary_unary(
        f"/{SERVICE}/Profile",
        request_serializer=MESSAGES["ProfileRequest"].SerializeToString,
        response_deserializer=MESSAGES["ProfileResponse"].FromString,
    )
