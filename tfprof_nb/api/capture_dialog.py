"""The dialog that captures running programs: addresses, duration, levels, a button, and the dashboard below."""

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

import ipywidgets

from tfprof_nb._errors import TfprofError
from tfprof_nb.api.capture_remote import problems_text, profile_of
from tfprof_nb.api.session import LOGDIR, folder_for, send_run
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.remote import Progress, RemoteRun, capture_workers
from tfprof_nb.profiles import Profile
from tfprof_nb.render import display
from tfprof_nb.render.browser_widgets import HeadWidget
from tfprof_nb.render.html import draw
from tfprof_nb.render.panels import Note
from tfprof_nb.render.static_form import static_view
from tfprof_nb.storage import is_url

_TITLE = "Capture a profile of running programs"
_NO_DIALOG = (
    "This dialog works in a notebook with a running kernel: run its cell there. Elsewhere, "
    "`tfprof_nb.capture_remote(addresses)` does the same."
)
_HOST_LEVELS = [("nothing", 0), ("only the main events", 1), ("ops too", 2), ("everything", 3)]
_OFF_ON = [("off", 0), ("on", 1)]
_LABEL = {"description_width": "11em"}
_WIDE = {"width": "100%", "min_width": "0"}


class CaptureDialog(ipywidgets.VBox):  # type: ignore[misc]
    """A form that captures running programs and shows the dashboard below.

    Parameters
    ----------
    addresses
        The first content of the field for workers: see `capture_remote`.
    seconds
        How long the workers record.
    logdir
        Folder on this machine for the files. None is ``tfprof_logs`` in the working folder.

    Attributes
    ----------
    profile
        The newest profile that the dialog captured; None before the first. ``tfprof_nb.last()`` returns it too.

    Notes
    -----
    The workers call ``tfprof_nb.start_server(port)`` before they train. The button works only while no
    cell of this notebook runs: train in other processes.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> dialog = tp.CaptureDialog("127.0.0.1:6009")
    >>> dialog.profile is None
    True
    """

    def __init__(
        self, addresses: str | Iterable[str] = "", seconds: float = 2.0, *, logdir: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__(layout=_WIDE)
        display.colab_metadata()
        self.profile: Profile | None = None
        self._logdir = LOGDIR if logdir is None else logdir
        self._cancelled = threading.Event()
        self._make_fields(addresses if isinstance(addresses, str) else ", ".join(addresses), seconds)
        self._status = ipywidgets.HTML(layout=_WIDE)
        self._bar = ipywidgets.FloatProgress(min=0, max=1, layout={"width": "12em", "visibility": "hidden"})
        self._below = ipywidgets.VBox(layout=_WIDE)
        buttons = ipywidgets.HBox([self.capture_button, self.cancel_button, self._bar])
        self._head = HeadWidget(title=_TITLE)
        self.children = (self._head, *self._fields, buttons, self._status, self._below)

    def _ipython_display_(self, **_: Any) -> None:
        if not display.in_notebook():
            print(_NO_DIALOG)  # noqa: T201 - a terminal's way to show something
            return
        self._head.static_id = f"tfp-static-{uuid4().hex[:12]}"
        display.publish_static(static_view(_TITLE, [Note(_NO_DIALOG)]), _NO_DIALOG, self._head.static_id)
        display.publish_widget(self.model_id)

    def _make_fields(self, addresses: str, seconds: float) -> None:
        wide, narrow = {"width": "100%", "max_width": "46em"}, {"width": "23em"}
        self.addresses = ipywidgets.Text(
            addresses,
            description="Workers",
            placeholder="host:port, host:port, ... or a TPU's name",
            style=_LABEL,
            layout=wide,
        )
        self.seconds = ipywidgets.BoundedFloatText(
            seconds, min=0.1, max=3600, step=0.5, description="Duration (s)", style=_LABEL, layout=narrow
        )
        self.delay_ms = ipywidgets.BoundedFloatText(
            0, min=0, max=3_600_000, step=100, description="Delay (ms)", style=_LABEL, layout=narrow
        )
        self.retries = ipywidgets.BoundedIntText(3, min=0, max=100, description="Retries", style=_LABEL, layout=narrow)
        self.host_level = _choice("Record on hosts", _HOST_LEVELS, 2)
        self.device_level = _choice("GPUs and TPUs", _OFF_ON, 1)
        self.python_level = _choice("Python calls", _OFF_ON, 0)
        self.capture_button = ipywidgets.Button(description="Capture", button_style="primary")
        self.cancel_button = ipywidgets.Button(description="Cancel", disabled=True)
        self.capture_button.on_click(lambda _: self.capture())
        self.cancel_button.on_click(lambda _: self._cancelled.set())
        rows = ((self.seconds, self.delay_ms), (self.host_level, self.device_level), (self.python_level, self.retries))
        wrapped = {"flex_flow": "row wrap"}
        self._fields = [self.addresses, *(ipywidgets.HBox(row, layout=wrapped) for row in rows)]

    def capture(self) -> threading.Thread:
        """Do what the button does: capture in the background, then show the dashboard. Return the thread."""
        self._cancelled.clear()
        self._busy(now=True)
        options = Options(self.host_level.value, self.device_level.value, self.python_level.value)
        addresses, seconds = self.addresses.value, self.seconds.value
        when = {"retries": self.retries.value, "delay_ms": self.delay_ms.value}

        def run() -> RemoteRun:
            folder = folder_for(self._logdir)
            return capture_workers(
                addresses, seconds, folder, options, **when, report=self._report, cancelled=self._cancelled.is_set
            )

        thread = threading.Thread(target=self._run, args=(run,), name="tfprof_nb-dialog", daemon=True)
        thread.start()
        return thread

    def _run(self, capture: Callable[[], RemoteRun]) -> None:
        try:
            self._show(capture())
        except (TfprofError, ValueError) as error:
            self._say(str(error), "warning")
        except Exception as error:  # noqa: BLE001  (in a thread nobody else would see it)
            self._say(f"The capture failed: {type(error).__name__}: {error}", "warning")
        finally:
            self._busy(now=False)

    def _show(self, run: RemoteRun) -> None:
        self._say("reading the profile ...")
        self.profile = profile_of(run)
        unsent = send_run(run.folder, self._logdir)
        try:
            earlier, self._below.children = self._below.children, (self.profile.dashboard(),)
        except Exception as error:  # noqa: BLE001  (the capture itself worked)
            reason = f"{type(error).__name__}: {error}"
            self._say(f"The profile cannot be shown ({reason}). It is saved in {run.folder}.", "warning")
            return
        for view in earlier:
            view.close()
        if problems := " ".join(filter(None, [problems_text(run) if run.problems else "", unsent])):
            self._say(problems, "warning")
        else:
            self._say(f"Saved in {self._logdir if is_url(self._logdir) else run.folder}.")

    def _report(self, progress: Progress) -> None:
        self._bar.value = progress.share
        self._say(progress.text)

    def _say(self, text: str, kind: Any = "info") -> None:
        self._status.value = draw(Note(text, kind))

    def _busy(self, *, now: bool) -> None:
        self.capture_button.disabled, self.cancel_button.disabled = now, not now
        self._bar.value, self._bar.layout.visibility = 0.0, "visible" if now else "hidden"


def _choice(label: str, choices: list[tuple[str, int]], value: int) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(options=choices, value=value, description=label, style=_LABEL, layout={"width": "23em"})
