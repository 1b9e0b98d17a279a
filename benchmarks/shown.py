"""Memory of a kernel after captures were shown, one cell after another: what stays of each.

    python -m benchmarks.shown [--times 20]

A kernel of its own runs `%%tfprofile` on a small Keras fit so many times, each in a cell of its own, so that all stay
shown. What TensorFlow itself keeps of a capture counts too.
"""

from __future__ import annotations

import argparse
import tempfile

SETUP = """
%load_ext tfprof_nb
import gc, psutil, numpy as np, keras
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
x, y = np.random.rand(3200, 16), np.zeros(3200)
model.compile("sgd", "mse")
_ = model.fit(x, y, verbose=0)
def used():
    gc.collect()
    print(psutil.Process().memory_info().rss)
"""
CELL = "%%tfprofile\n_ = model.fit(x, y, verbose=0)"


def main() -> None:
    """Run a kernel, and print its memory after one capture and after all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    used = measured(times)
    each = (used[-1] - used[1]) / max(times - 1, 1)
    before, first, last = (f"{bytes_ / 1e6:.0f} MB" for bytes_ in (used[0], used[1], used[-1]))
    print(f"before {before}, after one capture {first}, after {times} {last}")
    print(f"each of the later ones leaves {each / 1e6:.1f} MB")


def measured(times: int) -> list[int]:
    """Return the kernel's resident bytes before any capture and after each."""
    from jupyter_client.manager import start_new_kernel

    used = []
    with tempfile.TemporaryDirectory() as folder:
        manager, client = start_new_kernel(kernel_name="python3", cwd=folder)

        def run(code: str) -> str:
            printed: list[str] = []

            def hear(message: dict) -> None:
                if message["msg_type"] == "error":
                    raise RuntimeError("\n".join(message["content"]["traceback"]))
                printed.append(message["content"].get("text", ""))

            client.execute_interactive(code, timeout=600, output_hook=hear)
            return "".join(printed)

        try:
            run(SETUP)
            used.append(int(run("used()")))
            for _ in range(times):
                run(CELL)
                used.append(int(run("used()")))
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    return used


if __name__ == "__main__":
    main()
