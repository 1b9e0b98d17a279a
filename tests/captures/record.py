"""Record programs: ``make captures [NAMES="repeated retracing/late_batch benchmark"]``, all by default.

Each module of tests/programs runs in a process of its own, each program of cells in one of its own.
"""

import argparse
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from captures import archive, sources  # noqa: E402

SECONDS = "seconds.json"  # what the program took by the clock
MIN_SECRET = 4  # characters: shorter names of a machine are words that anything may have
# As for tests (tests/conftest.py): on a CPU, where TensorFlow records allocations only with oneDNN.
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "1"}


def main():
    """Record what the command line names, or, in a process that this one started, run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="modules, or programs as module/program")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        run(given.names)
        return
    known = sources.names()
    unknown = [name for name in given.names if not any(name in (one, one.partition("/")[0]) for one in known)]
    if unknown:
        parser.error(f"there is no program {', '.join(unknown)}: choose modules of tests/programs, or benchmark")
    wanted = [one for one in known if not given.names or {one, one.partition("/")[0]} & {*given.names}]
    failed = [one for together in _processes(wanted) for one in record(together)]
    for name in sorted({*_stored()} - {*known}):
        archive.file_of(name).unlink()
        print(f"{name}: removed, there is no such program")
    if failed:
        sys.exit(f"not recorded: {' '.join(failed)}")


def record(names):
    """Record programs in one new process; return those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        surroundings = sources.environment(names[0].partition("/")[0]) | {"IPYTHONDIR": folder}
        command = [sys.executable, __file__, "--here", *names]
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | ENVIRONMENT | surroundings,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print(done.stderr)
        left = []
        for name in names:
            logdir = Path(folder, "runs", name)
            if not (logdir / SECONDS).is_file():
                left.append(name)
                continue
            (run_folder,) = logdir.glob("plugins/profile/*")
            about = _about(name) | {"seconds": json.loads((logdir / SECONDS).read_text(encoding="utf-8"))}
            size = archive.write(name, run_folder, about, ROOT)
            if secrets := _told(name, folder):
                archive.file_of(name).unlink()
                left.append(name)
                print(f"{name}: the capture names {', '.join(secrets)}")
            else:
                print(f"{name}: {size / 1000:.0f} kB", flush=True)
    return left


def _processes(names):
    """Group programs by the process that they share."""
    for module, of_module in groupby(names, key=lambda name: name.partition("/")[0]):
        own = list(of_module)
        apart = module == sources.BENCHMARK or sources.cells_of(own[0])
        yield from ([name] for name in own) if apart else [own]


def run(names):
    """Run programs of one module in this process, and save each one's profile."""
    for name in names:
        cells = sources.cells_of(name)
        profile, seconds = _of_cells(cells) if cells else _of_function(*name.split("/"))
        folder = Path("runs", name).absolute()
        profile.save(folder)
        (folder / SECONDS).write_text(json.dumps(seconds), encoding="utf-8")


def _of_function(module, name):
    import importlib

    import tfprof_nb as tp

    function = getattr(importlib.import_module(f"programs.{module}"), name)
    returned = function()
    runs = returned if callable(returned) else function
    if callable(returned) and function.warm_up:
        runs()
    with tp.profile(name) as profile:
        begun = time.perf_counter()
        runs()
        seconds = time.perf_counter() - begun
    return profile, seconds


def _of_cells(cells):
    import keras
    import numpy as np
    import tensorflow as tf
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "tfprof_nb")
    shell.push({"tf": tf, "np": np, "keras": keras})
    for text in (cells.setup, cells.cell, f"%%tfprofile recorded_profile --quiet\n{cells.cell}"):
        shell.run_cell(text, store_history=True).raise_error()
    return shell.user_ns["recorded_profile"], None


def _about(name):
    return {
        "program": name,
        "digest": sources.digest(name),
        "recorded": date.today().isoformat(),  # noqa: DTZ011  (a day is enough)
        "python": platform.python_version(),
        **{package: version(package) for package in ("tensorflow-cpu", "keras", "numpy", "tfprof_nb")},
    }


def _told(name, folder):
    """Return what a capture tells of this machine."""
    told = archive.parts(name).values()
    secrets = [one for one in (str(ROOT), folder, str(Path.home()), socket.gethostname()) if len(one) > MIN_SECRET]
    return [secret for secret in secrets if any(secret.encode() in data for data in told)]


def _stored():
    return [
        file.relative_to(archive.FOLDER).as_posix().removesuffix(archive.ENDING)
        for file in archive.FOLDER.rglob(f"*{archive.ENDING}")
    ]


if __name__ == "__main__":
    main()
