"""Free ports of this machine."""

import socket
from contextlib import ExitStack


def free_ports(count):
    """Ports that were all free at one time."""
    with ExitStack() as open_sockets:
        probes = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
