"""Refuse files that do not fit into the free memory: the system would kill the process."""

from tfprof_nb._errors import BadProfileError
from tfprof_nb._memory import free_bytes
from tfprof_nb._units import size

_ALWAYS_BYTES = 64 << 20


def check_room(needed_bytes: int, source: str) -> None:
    """Raise `BadProfileError` if reading takes more memory than is free; the message calls the file ``source``."""
    if needed_bytes > _ALWAYS_BYTES and needed_bytes > (free := free_bytes()):
        raise BadProfileError(
            f"{source}: to read this file takes about {size(needed_bytes)} of memory, and {size(free)} are free. Shut "
            "down other kernels, open the file on a larger machine, or record fewer steps."
        )
