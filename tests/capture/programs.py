"""Programs that train in processes of their own, and how to end what they are asked for."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tfprof_nb.capture.remote import profiler_service as rpc

PROGRAM = Path(__file__).with_name("training_worker.py")


@dataclass
class Program:
    """A process that trains, and the addresses of the profiler servers in it."""

    process: subprocess.Popen
    addresses: list[str]
    log: Path

    @classmethod
    def start(cls, kind, ports, log, **environment):
        command = [sys.executable, str(PROGRAM), kind, *map(str, ports)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env=os.environ | environment,
        )
        return cls(process, [f"127.0.0.1:{port}" for port in ports], log)

    def wait_until_it_trains(self):
        assert self.process.stdout.readline() == "training\n", self.log.read_text()

    def is_connected(self):
        """Whether somebody is connected to its first server."""
        port = int(self.addresses[0].rpartition(":")[2])
        found = psutil.Process(self.process.pid).net_connections("tcp")
        return any(one.laddr.port == port and one.status == psutil.CONN_ESTABLISHED for one in found)

    def end(self):
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def terminate(channel, session_id):
    """Ask the server at the other end to end a capture early."""
    messages = rpc.MESSAGES
    method = channel.unary_unary(
        f"/{rpc.SERVICE}/Terminate",
        request_serializer=messages["TerminateRequest"].SerializeToString,
        response_deserializer=messages["TerminateResponse"].FromString,
    )
    method(messages["TerminateRequest"](session_id=session_id))
