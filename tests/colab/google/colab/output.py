"""What of Colab's own module a widget depends on.

Colab shows a widget of another library by the manager whose address stands in that output's metadata. It adds the
address itself to what one thread displays; here it does not, so that only what we add is seen.
"""

from types import SimpleNamespace

MANAGER = "https://colab.example/manager.js"
_widgets = SimpleNamespace(_installed_url=None)


def enable_custom_widget_manager():
    _widgets._installed_url = MANAGER
