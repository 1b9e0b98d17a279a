"""Write `docs/performance.md`, or run the benchmarks that are named: `python -m benchmarks analyses trace`."""

from __future__ import annotations

import subprocess
import sys


def main() -> None:
    """Run what the command line names; options are those of `benchmarks.performance`."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    if not names:
        subprocess.run([sys.executable, "-m", "benchmarks.performance", *sys.argv[1:]], check=True)
    for name in names:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
