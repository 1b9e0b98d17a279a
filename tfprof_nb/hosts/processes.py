"""Hosts reduced in processes of their own: several at a time, as many as the processors and the memory allow.

The processes are started anew rather than forked, since a notebook's process has threads and devices, and without
`multiprocessing`, which would import the user's script again. They end with their input: nothing outlives the kernel.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tfprof_nb._errors import BadProfileError
from tfprof_nb._memory import free_bytes
from tfprof_nb.capture.interrupts import interrupts_wait
from tfprof_nb.hosts.reduction import Reduction, reduce_host

Task = tuple[Path, str]
"""A host's file and its name."""
Outcome = Reduction | str
"""A reduced host, or why it cannot be read."""

_MOST, _PROCESS_BYTES, _BYTES_PER_BYTE = 8, 300_000_000, 12
_WAIT_S = 0.5  # so often, waiting lets an interrupt through everywhere
_ENDED = "The process that read it ended ({}): its memory may have run short."
_RUN = "from tfprof_nb.hosts.processes import serve; serve()"


def attempt(file: Path, name: str) -> Outcome:
    """Reduce one host, or say why that cannot be."""
    try:
        return reduce_host(file, name)
    except BadProfileError as error:
        return str(error)


def reduced_in_processes(tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
    """Yield the place of each task and its outcome, in the order in which they end."""
    count = _processes(tasks)
    if count < 2:
        yield from enumerate(attempt(*task) for task in tasks)
        return
    waiting: SimpleQueue[int] = SimpleQueue()
    for place in range(len(tasks)):
        waiting.put(place)
    done: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
    readers: list[_Reader] = []
    try:
        for _ in range(count):
            with interrupts_wait():  # else a process can start that nobody knows to end
                readers.append(_Reader())
                readers[-1].start(tasks, waiting, done)
        for _ in tasks:
            yield _next(done)
    finally:
        for reader in readers:
            reader.end()


def _next(done: SimpleQueue[tuple[int, Outcome]]) -> tuple[int, Outcome]:
    while True:
        with suppress(Empty):
            return done.get(timeout=_WAIT_S)


def _processes(tasks: Sequence[Task]) -> int:
    """Return how many processes the processors, the memory and the tasks are enough for."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    largest = max(file.stat().st_size if file.is_file() else 0 for file, _ in tasks)
    by_memory = free_bytes() // (_PROCESS_BYTES + _BYTES_PER_BYTE * largest)
    return min(usable, _MOST, len(tasks), by_memory)


class _Reader:
    """A process that reduces hosts, and is replaced if it ends."""

    def __init__(self) -> None:
        self._ended = False
        self._process = _started()

    def start(self, *work: Any) -> None:
        """Begin to do the waiting tasks, given by their places, and to hand on what comes out."""
        self._thread = threading.Thread(target=self._work, args=work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._ended = True
        self._process.kill()
        self._thread.join()
        _end(self._process)

    def _work(self, tasks: Sequence[Task], waiting: SimpleQueue[int], done: SimpleQueue[tuple[int, Outcome]]) -> None:
        with suppress(Empty):
            while not self._ended:
                place = waiting.get_nowait()
                done.put((place, self._outcome(tasks[place])))

    def _outcome(self, task: Task) -> Outcome:
        """Let the process do a task; if it ends meanwhile, the next task starts another one."""
        try:
            if self._process.poll() is not None:
                self._process = _started()
            pickle.dump(task, _pipe(self._process.stdin))
            _pipe(self._process.stdin).flush()
            outcome: Outcome = pickle.load(_pipe(self._process.stdout))  # noqa: S301  (our own process wrote it)
        except Exception as error:  # noqa: BLE001  (whatever it is, it costs this host only)
            why = f"exit status {_end(self._process)}" if isinstance(error, EOFError | BrokenPipeError) else error
            return _ENDED.format(why)
        return outcome


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a process, close the pipes to it and return its exit status."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            _pipe(pipe).close()
    return process.wait()


def _started() -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path or "." for path in sys.path)
    return subprocess.Popen(  # noqa: S603  (our own code)
        [sys.executable, "-P", "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,  # Ctrl+C is for the process that shows the profile, which ends these
    )


def _pipe(pipe: Any) -> Any:
    return pipe


def serve() -> None:
    """Reduce the hosts that come in, until the process that sends them has ended."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no outcome
    with suppress(EOFError, BrokenPipeError):
        while True:
            outcome = attempt(*pickle.load(sys.stdin.buffer))  # noqa: S301  (from the process that started this one)
            pickle.dump(outcome, out, protocol=pickle.HIGHEST_PROTOCOL)
            out.flush()
