"""Programs that train in processes of their own."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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

    def end(self):
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
