"""What a capture does while its cell runs: a line and a bar per step under the cell, where the dashboard will stand."""

import contextvars
import sys
import threading
import time
from itertools import chain, repeat
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from markupsafe import Markup

from tfprof_nb import _units
from tfprof_nb.api.session import Capture
from tfprof_nb.capture.step_times import StepTimes
from tfprof_nb.render.display import Place, in_notebook
from tfprof_nb.render.live import live_html

UPDATE_S, _LIVELY = 0.5, 10  # so many times; an update takes about 2 ms of processor time
_LATER_S = 1.0
_SOON_S = 2  # until then the first step may still be tracing
_WORTH_SAYING_BYTES = 10 << 20
_WAITING = "waiting for data"
_NO_STEP = "Steps appear once Keras trains; those of your own loop are looked for when the cell ends."


class Live:
    """The line of one capture.

    A thread sends it: the kernel is busy with the cell, and can send but not receive.
    """

    def __init__(self, shell: InteractiveShell, capture: Capture, place: Place, times: StepTimes) -> None:
        self._publisher: Any = shell.display_pub
        self._capture, self._times = capture, times
        self._place: Place | None = place
        self._after, self._since = "", time.monotonic()
        self._began = self._since
        self._sent, self._lock, self._ended = "", threading.Lock(), threading.Event()
        # The message that runs the cell, to which the outputs belong, is a variable of the context.
        self._thread = threading.Thread(target=contextvars.copy_context().run, args=(self._run,), daemon=True)

    def start(self) -> None:
        """Show the line from now on."""
        self._publisher.register_hook(self._hear)
        self._send()
        self._thread.start()

    def say(self, what: str) -> None:
        """Say from now on what follows the cell's own work, and for how long it has been going on."""
        self._after, self._since = what, time.monotonic()
        self._send()

    def end(self) -> Place | None:
        """End, and return the place for what comes instead; None if the cell has cleared its output."""
        self._ended.set()
        self._thread.join()
        self._publisher.unregister_hook(self._hear)
        place, self._place = self._place, None
        return place

    def vanish(self) -> None:
        """Leave the place empty, unless something came instead."""
        if not self._ended.is_set() and (place := self.end()):
            place.reserve(Markup(), "")

    def _run(self) -> None:
        for pause_s in chain(repeat(UPDATE_S, _LIVELY), repeat(_LATER_S)):
            if self._ended.wait(pause_s):
                return
            self._times.look()
            self._send()

    def _send(self) -> None:
        with self._lock:
            line, typical = self._line(), self._times.typical
            html = live_html(line, _WAITING, self._times.bars, typical.step)
            if self._place and html != self._sent:
                self._place.reserve(html, line)
                self._sent = html

    def _hear(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note that the cell clears its output: the place is gone."""
        if message["header"]["msg_type"] == "clear_output":
            self._place = None
        return message

    def _line(self) -> str:
        if self._after:
            waited = time.monotonic() - self._since
            after = self._after + (f" · {waited:.0f} s" if waited >= 1 else "")
            return f"{self._step_times()} · {after}" if self._times.count else after
        pacing = self._capture.pacing
        match pacing.phase:
            case "delayed":
                return "Recording begins after the delay."
            case "warming up":
                return f"Recording begins after the warm-up: {_steps(pacing.passed)} passed."
            case "over":
                return f"Recorded {_steps(pacing.recorded)}. The cell goes on unrecorded: {self._step_times()}"
            case "unmarked":
                return (
                    "Recording everything: no step has begun so far, so there is nothing to count. Keras' steps "
                    "are found by themselves; wrap those of your own loop in `with tfprof_nb.step(i):`."
                )
        what = "Recording" if self._capture.records_ops else "Timing steps (enough ops are recorded)"
        return f"{what}: {self._step_times()}{self._taken()}"

    def _taken(self) -> str:
        """Say what the events take in memory, once that is worth saying."""
        taken = self._capture.events_bytes
        return f" · events take about {_units.size(taken)} of memory" if taken >= _WORTH_SAYING_BYTES else ""

    def _step_times(self) -> str:
        if not self._times.count:
            waited = time.monotonic() - self._began
            return f"{waited:.0f} s, no step so far. {_NO_STEP}" if waited >= _SOON_S else "no step yet"
        typical = self._times.typical
        each = f"{_steps(self._times.count)}, typically {_units.milliseconds(1000 * typical.step)} each"
        waiting = typical.waiting / typical.step if typical.step else 0
        return each + (f", {waiting:.0%} {_WAITING}" if self._times.tells_waits else "")


def _steps(count: int) -> str:
    return f"{_units.count(count)} step{'' if count == 1 else 's'}"


def started_live(shell: InteractiveShell, capture: Capture, place: Place, times: StepTimes) -> Live | None:
    """Show the line of a capture in a notebook, a single line of text in a terminal, nothing in a file."""
    if not in_notebook():
        if sys.stdout.isatty():
            print("Recording this cell: the answer follows when it ends.", flush=True)  # noqa: T201
        return None
    if isinstance(shell.display_pub, CapturingDisplayPublisher):  # %%capture
        return None
    live = Live(shell, capture, place, times)
    live.start()
    return live
