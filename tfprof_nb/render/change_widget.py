"""A change as a card with buttons, as a widget; its JavaScript is built from ``js/src/change``."""

from typing import Any

import anywidget
import traitlets
from markupsafe import Markup

from tfprof_nb.render.bundle import source
from tfprof_nb.render.panels import Change


class ChangeWidget(anywidget.AnyWidget):
    """The card of a change: one button copies the new code, the other puts the changed cell below the current one."""

    _esm, _css = source("change")

    html = traitlets.Unicode().tag(sync=True)
    code = traitlets.Unicode().tag(sync=True)

    def __init__(self, panel: Change, html: Markup, **traits: Any) -> None:
        super().__init__(html=str(html), code=panel.new, **traits)
        self._apply = panel.apply
        self.on_msg(self._asked)

    def _asked(self, _: object, content: dict[str, Any], __: object) -> None:
        if content.get("type") == "apply" and self._apply:
            self.send({"type": "cell", "text": self._apply()})
