"""Read a run of many hosts, each reduced to what pages on all hosts need: here, or by the workers of a Dask cluster."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfprof_nb._errors import BadProfileError, MissingDependencyError, TfprofError
from tfprof_nb.formats.files import sidecar_of
from tfprof_nb.hosts.processes import Outcome, attempt, reduced_in_processes
from tfprof_nb.hosts.reduction import ReducedHost, Reduction
from tfprof_nb.render.progress import progress_line
from tfprof_nb.runs import Run
from tfprof_nb.storage import StoredFile, fetch

# From one of these on, reading all events of all hosts takes too long, or too much memory.
MANY_HOSTS = 64
SEVERAL_HOSTS, MANY_BYTES = 4, 100_000_000
_SHOWN_AFTER_S = 1.0
_WAIT_S = 1.0
_WITHOUT_WORKERS_S = 30.0
_LOST = "The worker that read it ended ({})."
_NO_WORKERS = "The cluster has no workers any more."


def has_many_hosts(run: Run) -> bool:
    """Whether the hosts of a run are reduced one by one; runs of one host, shown one after another, never are."""
    if run.parts or len(run.files) < SEVERAL_HOSTS:
        return False
    return len(run.files) >= MANY_HOSTS or sum(map(_size, run.files)) >= MANY_BYTES


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def load_reduced(run: Run, client: Any = None) -> tuple[Run, list[ReducedHost]]:
    """Reduce the hosts of a run, on this machine or by a Dask client.

    Hosts that cannot be read are left out: the run that is returned lacks them, and notes it.

    Raises
    ------
    BadProfileError
        None of the hosts can be read.
    """
    reduced, errors = dict[int, Reduction](), dict[int, str]()
    began = time.monotonic()
    with progress_line() as show:
        for place, outcome in _outcomes(run, client):
            if isinstance(outcome, Reduction):
                reduced[place] = outcome
            else:
                errors[place] = outcome
            if time.monotonic() - began > _SHOWN_AFTER_S:
                show(f"read {len(reduced) + len(errors)} of {len(run.files)} hosts")
    if errors and not reduced:
        raise BadProfileError(errors[min(errors)])
    left_out = {place: f"{run.files[place].name} was left out. {errors[place]}" for place in sorted(errors)}
    hosts = [ReducedHost(reduced[place], run.files[place], _stored(run, place, client)) for place in sorted(reduced)]
    return run.without(left_out), hosts


def _outcomes(run: Run, client: Any) -> Iterator[tuple[int, Outcome]]:
    if client is None:
        return reduced_in_processes([(file.absolute(), name) for file, name in zip(run.files, run.hosts, strict=True)])
    stored = [_stored(run, place, client) for place in range(len(run.files))]
    return reduced_by_client(client, list(zip(run.files, run.hosts, stored, strict=True)))


def _stored(run: Run, place: int, client: Any) -> tuple[StoredFile, ...]:
    """Return where a host's files come from, if only the workers of a client have fetched them."""
    if client is None:
        return ()
    own = {run.files[place], sidecar_of(run.files[place])}
    return tuple(file for file in run.stored if file.copy in own)


def reduced_by_client(
    client: Any, hosts: Sequence[tuple[Path, str, tuple[StoredFile, ...]]]
) -> Iterator[tuple[int, Outcome]]:
    """Yield the place of each host and its outcome, in the order in which they end.

    Parameters
    ----------
    client
        A `distributed.Client`; its workers have this package.
    hosts
        Each host's file, its name, and what is to be fetched first.

    Raises
    ------
    MissingDependencyError
        Dask is not installed.
    """
    try:
        from distributed import wait
    except ImportError:
        raise MissingDependencyError("client=... needs Dask: pip install 'tfprof_nb[dask]'.") from None
    running = {
        client.submit(reduce_on_worker, file.absolute(), name, stored, pure=False): place
        for place, (file, name, stored) in enumerate(hosts)
    }
    seen = time.monotonic()
    try:
        while running:
            try:
                ended = wait(list(running), timeout=_WAIT_S, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                ended = set()
            for future in ended:
                yield running.pop(future), _outcome(future)
            if ended or client.scheduler_info()["workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > _WITHOUT_WORKERS_S:
                yield from ((place, _NO_WORKERS) for place in running.values())
                return
    finally:
        client.cancel(list(running))


def _outcome(future: Any) -> Outcome:
    if future.status == "finished":
        outcome: Outcome = future.result()
        return outcome
    error = future.exception() if future.status == "error" else None
    if isinstance(error, TfprofError):
        return str(error)
    return _LOST.format(type(error).__name__ if error else future.status)


def reduce_on_worker(file: Path, name: str, stored: tuple[StoredFile, ...]) -> Outcome:
    """Reduce one host where this runs, files at a URL from copies that are removed again."""
    if not stored:
        return attempt(file, name)
    with tempfile.TemporaryDirectory() as folder:
        copies = [replace(one, copy=Path(folder) / one.copy.name) for one in stored]
        if error := fetch(copies, lambda _text: None).get(Path(folder) / file.name):
            return str(error)
        return attempt(Path(folder) / file.name, name)
