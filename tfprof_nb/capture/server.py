"""A profiler server inside a training program: clients ask it for captures while the program runs.

It speaks TensorFlow's own protocol, so that `capture_remote`, TensorBoard's capture button and
``tf.profiler.experimental.client.trace`` all work with it.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tfprof_nb._errors import CaptureActiveError, CaptureError
from tfprof_nb.capture.keras import keras_steps
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.remote.profiler_service import BUSY, MESSAGES, SERVICE, grpc, requested_options
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.capture.window import Window
from tfprof_nb.formats.files import RUNS_FOLDER, XSPACE

T = TypeVar("T")

_MAX_EMPTY_BYTES = 1 << 24  # a profile without events still holds the programs that XLA compiled

_starting, _capturing = threading.Lock(), threading.Lock()
_running: list[ProfilerServer] = []


class ProfilerServer:
    """A running profiler server, as `start_server` returns it.

    Attributes
    ----------
    address
        Where it listens: ``host:port``.
    """

    def __init__(self, host: str, port: int) -> None:
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._undo = ExitStack()

    def _start(self) -> None:
        tensorflow()  # import it now, not when a capture is due
        self._server = _listening(self.address)
        # Keras is patched between captures too: a mark must be closed on the thread and in the step that opened it.
        self._undo.enter_context(keras_steps())
        self._server.start()
        _running.append(self)

    def stop(self) -> None:
        """Stop listening, and abandon a capture that is running. Stopping twice has no effect."""
        if self in _running:
            _running.remove(self)
            self._server.stop(grace=None).wait()
            with _capturing:  # wait until an abandoned capture has ended
                self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "listening on" if self in _running else "stopped, was on"
        return f"<ProfilerServer {state} {self.address}>"


def start_server(port: int, *, host: str = "127.0.0.1") -> ProfilerServer:
    """Let clients capture profiles of this program while it runs.

    Parameters
    ----------
    port
        The port to listen on, from 1 to 65535.
    host
        The address to listen on. The default can be reached only from this machine; ``"0.0.0.0"`` opens the server to
        every machine that can reach this one. There is no password: anyone who reaches the server can start captures,
        read them, and have them written to any folder that this program can write to.

    Returns
    -------
    ProfilerServer
        It listens until ``stop()``, the end of its ``with`` block, or the end of the program.

    Raises
    ------
    CaptureError
        If the port is in use, or this program has a server already.
    MissingDependencyError
        If TensorFlow or gRPC is not installed.

    Notes
    -----
    Capture with ``tfprof_nb.capture_remote``, ``tfprof_nb.CaptureDialog``, TensorBoard's capture button or
    ``tf.profiler.experimental.client.trace``. Steps of Keras models are marked while the server is up; mark the steps
    of your own loop with ``tfprof_nb.step``. While another profiler runs in the program, requests are refused.
    TensorFlow 2.21 itself can crash a program that runs collectives (``MultiWorkerMirroredStrategy``) when a capture
    ends. This happened a few times in several hundred captures, with TensorFlow's own server and with this one. Keep
    checkpoints.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.start_server(16_009) as server:  # then train
    ...     server.address
    '127.0.0.1:16009'
    """
    if port not in range(1, 65536):
        raise ValueError(f"port must be a whole number from 1 to 65535, not {port!r}.")
    with _starting:
        if _running:
            raise CaptureError(
                f"This program already has a profiler server, on {_running[0].address}: use it, or stop() it first."
            )
        server = ProfilerServer(host, port)
        server._start()  # noqa: SLF001
        return server


class _DaemonThreads(Executor):
    """Runs each call in a thread that, unlike those of the standard library, does not keep a program from ending."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future = Future[T]()

        def run() -> None:
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  (raised to whoever asks for the result)
                future.set_exception(error)

        threading.Thread(target=run, name="tfprof_nb-server", daemon=True).start()
        return future


def _listening(address: str) -> Any:
    """Return a server that holds its port but does not answer yet."""
    names = {"Profile": _profile, "Terminate": _terminate}
    methods = {
        name: grpc().unary_unary_rpc_method_handler(
            answer,
            request_deserializer=MESSAGES[f"{name}Request"].FromString,
            response_serializer=MESSAGES[f"{name}Response"].SerializeToString,
        )
        for name, answer in names.items()
    }
    server = grpc().server(
        _DaemonThreads(),
        handlers=[grpc().method_handlers_generic_handler(SERVICE, methods)],
        # By gRPC's default two processes can share a port, and either may get a request.
        options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)],
    )
    try:
        server.add_insecure_port(address)
    except RuntimeError as error:
        raise CaptureError(
            f"The profiler server cannot listen on {address}: the port is in use, or the address is not one of this "
            "machine. Choose another port, or stop the program that uses it."
        ) from error
    return server


_stops: dict[str, threading.Event] = {}  # by session: ends a running capture early


def _profile(request: Any, context: Any) -> Any:
    """Answer a request for a capture."""
    ended = threading.Event()
    context.add_callback(ended.set)  # the client gave up
    try:
        with tempfile.TemporaryDirectory(prefix="tfprof_nb-") as folder:
            return _response(request, _captured(request, ended, Path(folder)))
    except CaptureActiveError:
        return context.abort(grpc().StatusCode.INTERNAL, BUSY)
    except (CaptureError, OSError) as error:
        return context.abort(grpc().StatusCode.INTERNAL, str(error))


def _terminate(request: Any, _: Any) -> Any:
    """End a capture early; it answers with what it has recorded."""
    if request.session_id in _stops:
        _stops[request.session_id].set()
    return MESSAGES["TerminateResponse"]()


def _captured(request: Any, ended: threading.Event, folder: Path) -> bytes:
    """Capture for as long as the request asks, and return the profile's bytes."""
    ended.wait(max(0.0, request.opts.start_timestamp_ns / 1e9 - time.time()))
    recording = Recording(folder, requested_options(request), window=Window(record_all=True)).start()
    with _capturing:
        _stops[request.session_id] = ended
        try:
            ended.wait((request.opts.duration_ms or request.duration_ms) / 1000)
        finally:
            del _stops[request.session_id]
            run = recording.stop()
    (file,) = run.glob(f"*{XSPACE}")
    return file.read_bytes()


def _response(request: Any, xspace: bytes) -> Any:
    """Put a profile into the response, or into the folder that the request names."""
    response = MESSAGES["ProfileResponse"](empty_trace=_is_empty(xspace))
    if request.emit_xspace:
        response.xspace = xspace
    if request.repository_root:
        run = Path(request.repository_root) / RUNS_FOLDER / request.session_id
        run.mkdir(parents=True, exist_ok=True)
        (run / f"{request.host_name.replace(':', '_')}{XSPACE}").write_bytes(xspace)
    return response


def _is_empty(xspace: bytes) -> bool:
    """Whether a profile has no events; large profiles are assumed to have some."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    if len(xspace) > _MAX_EMPTY_BYTES:
        return False
    return not any(line.events for plane in XSpace.FromString(xspace).planes for line in plane.lines)
