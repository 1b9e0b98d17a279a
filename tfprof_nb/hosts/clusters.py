"""Hosts reduced by the workers of a Dask cluster, each of which reads the files of its hosts itself."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfprof_nb._errors import MissingDependencyError, TfprofError
from tfprof_nb.hosts.processes import Outcome, attempt
from tfprof_nb.storage import StoredFile, fetch

_WAIT_S = 1.0
_WITHOUT_WORKERS_S = 30.0
_LOST = "The worker that read it ended ({})."
_NO_WORKERS = "The cluster has no workers any more."


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
