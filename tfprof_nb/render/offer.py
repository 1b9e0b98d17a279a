"""A button that runs something in the kernel, once, and shows in its place what came out.

It runs in a thread of its own: JupyterLab has messages of widgets handled beside the cells, where the kernel's
interrupt does not reach them. So it has a button of its own that interrupts it.
"""

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from tfprof_nb.render.html import draw
from tfprof_nb.render.idle import someone_waits
from tfprof_nb.render.markup import element, with_code
from tfprof_nb.render.panels import Note, Offer, Panel
from tfprof_nb.render.progress import progress_shown_by
from tfprof_nb.render.widget_tree import close_all, whole

_WIDE = {"width": "100%", "min_width": "0", "margin": "0"}
_BUTTON = {"width": "auto", "flex": "none", "margin": "0 8px 0 0"}
_HIDDEN = "none"
# A second click of the same hand, which arrives when the first has already ended in an error.
_SECOND_CLICK_S = 0.5


class OfferWidget(ipywidgets.VBox):  # type: ignore[misc]
    """The button, with a line for progress and errors; after the run the panels that it returned.

    With ``in_head``, a style puts the button into the head of the card above.
    """

    def __init__(
        self, offer: Offer, build: Callable[[Sequence[Panel]], Sequence[ipywidgets.Widget]], *, in_head: bool = False
    ) -> None:
        self._offer, self._build = offer, build
        self._lock, self._thread, self._ended = threading.Lock(), threading.Thread(), 0.0
        self._runs = self._has_run = False
        text = f"{offer.text.rstrip(':.')}."
        self._start = ipywidgets.Button(description=offer.label, tooltip=text, layout=_BUTTON)
        self._stop = ipywidgets.Button(description="Stop", layout=_BUTTON)
        self._line = ipywidgets.HTML(layout={**_WIDE, "flex": "1 1 240px"})
        row = {**_WIDE, "flex_flow": "row wrap", "align_items": "center"}
        buttons = ipywidgets.HBox([self._start, self._stop], layout={"flex": "none"}, _dom_classes=("tfp-buttons",))
        self._above = ipywidgets.HBox([buttons, self._line], layout=row)
        super().__init__([self._above], layout=_WIDE)
        self.add_class("tfp-offer")
        self._start.on_click(self._clicked)
        self._stop.on_click(self._stopped)
        self._allow(start=True)
        if not in_head:
            self._say(text)

    def _clicked(self, _: Any) -> None:
        with self._lock:
            if self._runs or self._has_run or time.monotonic() - self._ended < _SECOND_CLICK_S:
                return
            self._runs = True
        self._allow(start=False)
        self._say("Starting …")
        self._thread = threading.Thread(target=self._run, name="tfprof_nb offer", daemon=True)
        self._thread.start()

    def _stopped(self, _: Any) -> None:
        if self._runs and self._thread.ident is not None:
            self._stop.disabled = True
            interrupt = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), interrupt)

    def _run(self) -> None:
        try:
            with progress_shown_by(self._say), someone_waits():
                panels = self._offer.run()
            self._runs = False
        except KeyboardInterrupt:
            self._give_back(Note("It was interrupted before anything was measured."))
        except Exception as error:  # noqa: BLE001 - whatever it is, the reader sees it here
            self._give_back(Note(str(error) or type(error).__name__, "warning"))
        else:
            self._has_run = True
            self.children = tuple(self._build(panels))
            close_all(whole(self._above))

    def _say(self, text: str) -> None:
        self._line.value = str(element("div", *with_code(text), style="font-size:12px;opacity:.8"))

    def _give_back(self, note: Note) -> None:
        """Say what happened, and let the button be pressed again."""
        self._line.value = str(draw(note))
        self._ended = time.monotonic()
        self._runs = False
        self._allow(start=True)

    def _allow(self, *, start: bool) -> None:
        """Let one of the buttons be pressed; only that one is seen."""
        self._start.disabled, self._stop.disabled = not start, start
        self._start.layout.display, self._stop.layout.display = (None, _HIDDEN) if start else (_HIDDEN, None)
