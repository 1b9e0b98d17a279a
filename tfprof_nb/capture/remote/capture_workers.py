"""Capture other processes over gRPC: all workers at the same time, one file for each, in one run folder."""

import os
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from tfprof_nb._errors import CaptureError
from tfprof_nb._units import NS_PER_MS
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.remote.profiler_service import BUSY, grpc, open_channel, profile_method, profile_request
from tfprof_nb.capture.remote.workers import Worker, find_workers
from tfprof_nb.capture.run_folder import publish, staging_folder
from tfprof_nb.capture.window import check_number
from tfprof_nb.formats.files import RUN_TIME, RUNS_FOLDER, XSPACE, local_path

RETRY_PAUSE_S = 1.0
_TICK_S = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a remote capture is.

    Attributes
    ----------
    text
        One line for the user.
    share
        0 to 1 while the workers record; 1 while their data is awaited.
    """

    text: str
    share: float


@dataclass
class RemoteRun:
    """The result of a remote capture.

    Attributes
    ----------
    folder
        The run folder, with one file per worker that answered.
    problems
        What went wrong, by address, for workers without a file and those that recorded nothing.
    """

    folder: Path
    problems: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Order:
    """What to ask of every worker."""

    options: Options
    seconds: float
    retries: int
    delay_s: float
    starts_ns: int

    @property
    def deadline_s(self) -> float:
        """When to give up a worker that does not answer: saving can take several times as long as recording."""
        return 60 + self.delay_s + 20 * self.seconds


def capture_workers(
    addresses: str | Iterable[str],
    seconds: float,
    logdir: str | os.PathLike[str],
    options: Options,
    *,
    retries: int,
    report: Callable[[Progress], None],
    delay_ms: float = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> RemoteRun:
    """Capture all workers at the same time.

    Parameters
    ----------
    addresses
        See `find_workers`.
    logdir
        Where the run folder is written, on this machine.
    retries
        How often to ask a worker again that cannot be reached, is busy or recorded nothing.
    report
        Called with the progress several times a second.
    delay_ms
        How long the workers wait before they record.
    cancelled
        Called several times a second; whether to give up.

    Raises
    ------
    CaptureError
        If no worker answered with a profile, the capture was cancelled, or nothing can be written to ``logdir``.
    ValueError
        If an address is invalid, or ``seconds``, ``retries`` or ``delay_ms`` is out of range.
    MissingDependencyError
        If gRPC is not installed.
    """
    check_number("seconds", seconds, Real, 1e-6, "a number of seconds above 0")
    check_number("retries", retries, Integral, 0, "a whole number, 0 or more")
    grpc()
    check_number("delay_ms", delay_ms, Real, 0, "a number of milliseconds, 0 or more")
    folder = local_path(logdir).absolute()
    report(Progress("looking for the workers", 0.0))
    workers = find_workers(addresses)
    order = _Order(options, seconds, retries, delay_ms / 1000, time.time_ns() + round(delay_ms * NS_PER_MS))
    with ExitStack() as undo:
        staging = staging_folder(folder)
        undo.callback(shutil.rmtree, staging, ignore_errors=True)
        run = staging / RUNS_FOLDER / time.strftime(RUN_TIME)
        run.mkdir(parents=True)
        problems = _capture_all(workers, order, run, report, cancelled)
        if not any(run.iterdir()):
            raise CaptureError("No worker could be captured:" + _listed(problems))
        return RemoteRun(publish(run, staging, folder), problems)


def _listed(problems: dict[str, str]) -> str:
    return "".join(f"\n- {address} {problem}" for address, problem in problems.items())


def _capture_all(
    workers: list[Worker], order: _Order, run: Path, report: Callable[[Progress], None], cancelled: Callable[[], bool]
) -> dict[str, str]:
    """Capture every worker into its file, and return what went wrong by address."""
    with ExitStack() as undo:
        threads = undo.enter_context(ThreadPoolExecutor(len(workers), thread_name_prefix="tfprof_nb-capture"))
        channels = {worker: open_channel(worker.address) for worker in workers}
        for channel in channels.values():
            undo.callback(channel.close)  # ends pending requests, if an interrupt leaves this block
        jobs = {threads.submit(_capture_one, channels[worker], order, run, worker): worker for worker in workers}
        _follow(jobs, order, report, cancelled)
        return {worker.address: problem for job, worker in jobs.items() if (problem := job.result())}


def _follow(
    jobs: dict[Future[str], Worker], order: _Order, report: Callable[[Progress], None], cancelled: Callable[[], bool]
) -> None:
    """Report the progress until all jobs are done."""
    start = time.monotonic()
    pending = set(jobs)
    while pending:
        elapsed_s = time.monotonic() - start - order.delay_s
        report(_progress(elapsed_s, order.seconds, [jobs[job].address for job in pending], len(jobs)))
        if cancelled():
            raise CaptureError("The capture was cancelled, and nothing was saved.")
        _, pending = wait(pending, timeout=_TICK_S)


def _progress(elapsed_s: float, seconds: float, pending: list[str], count: int) -> Progress:
    if elapsed_s < 0:
        return Progress(f"waiting for {-elapsed_s:.1f} s before recording", 0.0)
    if elapsed_s < seconds:
        workers = f"{count} workers" if count > 1 else pending[0]
        return Progress(f"recording {workers}: {elapsed_s:.1f} of {seconds:g} s", elapsed_s / seconds)
    return Progress(f"waiting for the data of {', '.join(sorted(pending))} ({elapsed_s:.0f} s)", 1.0)


def _capture_one(channel: Any, order: _Order, run: Path, worker: Worker) -> str:
    """Capture one worker into its file, retrying where that can help, and return what went wrong."""
    for attempt in range(order.retries + 1):
        last = attempt == order.retries
        try:
            request = profile_request(order.options, order.seconds, order.starts_ns if order.delay_s else 0)
            response = profile_method(channel)(request, timeout=order.deadline_s)
        except grpc().RpcError as error:
            if last or not (error.details() == BUSY or _is_unreachable(error)):
                return _describe_error(error, order)
            time.sleep(RETRY_PAUSE_S)
        else:
            if last or not response.empty_trace:
                return _save(response, run / f"{worker.key}{XSPACE}")
    raise AssertionError


def _save(response: Any, file: Path) -> str:
    try:
        file.write_bytes(response.xspace)
    except OSError as error:
        return f"answered, but its profile cannot be written: {error.strerror or error}."
    return "recorded no events: the program did nothing in that time." if response.empty_trace else ""


def _describe_error(error: Any, order: _Order) -> str:
    code, details = error.code(), " ".join((error.details() or "").split())[:300].rstrip(".")
    status = grpc().StatusCode
    if error.details() == BUSY:
        return "is already being profiled: wait until that has ended, or raise retries."
    if _is_unreachable(error):
        return f"cannot be reached: is the program running there, with tfprof_nb.start_server(port)? ({details})."
    if code is status.UNAVAILABLE:
        return f"ended during the capture, or the connection to it broke ({details})."
    if code is status.DEADLINE_EXCEEDED:
        return f"did not answer within {order.deadline_s:.0f} s: it hangs, or recorded too much to send."
    if code is status.UNIMPLEMENTED:
        return "answers, but is not a profiler server: check the port."
    return f"failed: {details or code.name}."


def _is_unreachable(error: Any) -> bool:
    """Whether there was no connection to begin with."""
    words = ("connect to", "resolution", "resolving")
    return error.code() is grpc().StatusCode.UNAVAILABLE and any(word in (error.details() or "") for word in words)
