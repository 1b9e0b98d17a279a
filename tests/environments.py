"""Environments as users have them: the built wheel and what it needs, nothing else."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


def interpreter(version):
    """The command of a Python of that version, from the PATH or pyenv's folder; without one the test is skipped."""
    candidates = [f"python{version}", *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for python in candidates:
        try:
            subprocess.run([python, "-c", "import venv"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):  # pyenv's own commands answer also for what is not there
            continue
        return python
    pytest.skip(f"there is no Python {version} here")


@contextmanager
def environment(wheel, *packages, python=sys.executable):
    """Give the Python of a new environment with these packages and the wheel, and remove it afterwards."""
    with TemporaryDirectory(prefix="tfprof_nb_") as folder:
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        inside = str(Path(folder, "bin", "python"))
        install(inside, *(packages or [str(wheel)]))
        if packages:
            install(inside, "--no-deps", str(wheel))
        yield inside


def install(python, *packages):
    """Install packages by uv, or by pip, which takes far longer but may know of an index that uv does not."""
    tools = ["uv", "pip", "install", "--python", python], ["pip", "--python", python, "install"]
    options = ["--quiet", "--only-binary", ":all:", *packages]
    for tool in tools:
        done = subprocess.run([sys.executable, "-m", *tool, *options], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    reason = f"these cannot be installed: {' '.join(packages)}: {done.stderr[-500:]}"
    pytest.fail(reason) if "CI" in os.environ else pytest.skip(reason)
