"""The workers to capture: addresses as people write them, and names of Cloud TPUs."""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from queue import Empty, Queue

from tfprof_nb._errors import CaptureError
from tfprof_nb.capture.tensorflow import tensorflow

TPU_PROFILER_PORT = 8466
_TPU_LOOKUP_S = 15.0
_ADDRESS = re.compile(r"(?:grpc://)?(?P<host>\[[0-9a-fA-F:.%]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})/?")
_TPU_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True)
class Worker:
    """A process with a profiler server."""

    address: str

    @property
    def key(self) -> str:
        """The stem of its profile's file: workers on one machine share a host name, but not an address."""
        return re.sub(r"[^\w.-]+", "_", self.address).strip("_")


def find_workers(addresses: object) -> list[Worker]:
    """Return the workers at some addresses, each once.

    Parameters
    ----------
    addresses
        ``host:port`` or ``grpc://host:port``, several in a list or separated by commas; or the name of a Cloud TPU,
        which stands for all its hosts.

    Raises
    ------
    ValueError
        If there is no address, or a text is neither an address nor a name.
    CaptureError
        If a TPU's name cannot be looked up.
    """
    texts = list(addresses) if isinstance(addresses, Iterable) and not isinstance(addresses, str) else [addresses]
    parts = [part.strip() for text in texts for part in str(text or "").split(",") if part.strip()]
    if not parts:
        raise ValueError('No address was given. Give that of each worker, such as "10.0.0.2:6009,10.0.0.3:6009".')
    found = [Worker(address) for part in parts for address in _addresses(part)]
    return list(dict.fromkeys(found))


def _addresses(text: str) -> list[str]:
    address = _ADDRESS.fullmatch(text)
    if address and 1 <= int(address["port"]) <= 65535:
        return [f"{address['host']}:{address['port']}"]
    if _TPU_NAME.fullmatch(text):
        return _tpu_addresses(text)
    raise ValueError(
        f"{text!r} is not the address of a worker. Write host:port or grpc://host:port, with the server's port."
    )


def _tpu_addresses(name: str) -> list[str]:
    """Ask Google Cloud for the hosts of a TPU."""
    answer: Queue[list[str] | Exception] = Queue()

    def look_up() -> None:
        try:
            answer.put(_tpu_hosts(name))
        except Exception as error:  # noqa: BLE001  (raised below)
            answer.put(error)

    # Outside Google Cloud, TensorFlow tries for minutes: hence a thread that can be abandoned.
    threading.Thread(target=look_up, daemon=True).start()
    try:
        hosts = answer.get(timeout=_TPU_LOOKUP_S)
    except Empty:
        hosts = TimeoutError("Google Cloud does not answer")
    if isinstance(hosts, Exception):
        raise CaptureError(
            f"{name!r} has no port, so it was taken for the name of a Cloud TPU, which could not be looked up: "
            f"{_first_line(hosts)}. Run this in the TPU's Google Cloud project, or write the address of each of its "
            f"hosts, host:{TPU_PROFILER_PORT}. For a worker that is not a TPU, write host:port."
        ) from hosts
    return [f"{host}:{TPU_PROFILER_PORT}" for host in hosts]


def _tpu_hosts(name: str) -> list[str]:
    resolver = tensorflow().distribute.cluster_resolver.TPUClusterResolver(name)
    tasks = resolver.cluster_spec().as_dict()["worker"]
    return [task.rpartition(":")[0] for task in tasks]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
