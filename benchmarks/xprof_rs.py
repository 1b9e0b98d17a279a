"""xprof-rs, an XProf server in Rust by others: fetched once from PyPI into build/bench, apart from our environment."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.metadata import distributions

from benchmarks.recorded import KEPT

_FOLDER = KEPT / "xprof-rs"
START = f"""
import os, pathlib, socket, subprocess, time, urllib.error, urllib.request
logs = pathlib.Path(path).parent / "logs"
(run := logs / "plugins/profile/run").mkdir(parents=True)
os.link(path, run / "host.xplane.pb")
with socket.create_server(("127.0.0.1", 0)) as probe:
    port = str(probe.getsockname()[1])
command = [{str(_FOLDER / "bin" / "xprof-rs")!r}, "--logdir", str(logs), "--port", port]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def ask(question):
    return len(urllib.request.urlopen(f"http://127.0.0.1:{{port}}/data/plugin/profile/{{question}}").read())
def end():
    server.kill(); server.wait()
while True:
    try:
        ask("runs"); break
    except urllib.error.URLError:
        time.sleep(0.01)
"""
"""Starts the server on the run of one file; then ``ask`` asks it, and ``end`` ends it."""


@cache
def version() -> str:
    """Return the installed version, installing the newest first if there is none; empty if that cannot be."""
    if not (_FOLDER / "bin" / "xprof-rs").exists():
        command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--target", str(_FOLDER), "xprof-rs"], capture_output=True, check=False)
    return next((found.version for found in distributions(name="xprof-rs", path=[str(_FOLDER)])), "")


def asked(tool: str, more: str = "") -> str:
    """Return code that asks for a tool of the run."""
    return f"ask('data?run=run&tag={tool}&host=host{more}')"
