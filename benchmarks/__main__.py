"""Run all benchmarks, each in a process of its own, or those named: `python -m benchmarks analyses trace`."""

from __future__ import annotations

import subprocess
import sys

ALL = ("decode", "analyses", "trace", "dashboard", "capture", "seat")


def main() -> None:
    """Run what the command line names."""
    for name in sys.argv[1:] or ALL:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
