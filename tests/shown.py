"""What of panels a static form shows, without the choosers around it."""

from tfprof_nb.render.panels import Tabs


def shown(panels):
    for panel in panels:
        if isinstance(panel, Tabs):
            for tab in panel.tabs[: panel.shown]:
                yield from shown(tab.open())
        else:
            yield panel


def pages(panels):
    """Names of all pages, those of the pages shown inside of pages too."""
    for panel in panels:
        if isinstance(panel, Tabs):
            yield from (tab.name for tab in panel.tabs)
            for tab in panel.tabs[: panel.shown]:
                yield from pages(tab.open())
