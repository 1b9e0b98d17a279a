"""Every link of every finding leads to what it names: an event or a time of the trace, or a row of a table."""

import pytest

from captures import archive, sources
from tfprof_nb.render.panels import Link
from tfprof_nb.views.pages import PAGES, links_of

RECORDED = [name for name in sources.names() if archive.file_of(name).is_file()]
OF_PAGES = {page: name for name, page in PAGES.items()}


@pytest.mark.parametrize("name", RECORDED)
def test_links_lead_to_what_they_name(captured, name):
    p = captured(name)
    for finding in p.advice.table.to_dict("records"):
        for link in links_of(finding):
            assert leads_somewhere(p, link), (finding["rule"], link)


def leads_somewhere(profile, link: Link):
    """Whether the page of a link has what the link is about."""
    if link.page == PAGES["trace"] and link.time_range is None:  # all of it, where a finding is about no single event
        return link.text == "Open the trace"
    if link.page == PAGES["trace"]:
        found = (
            profile.trace.event_of(link.op, *link.time_range) if link.op else profile.trace.query(*link.time_range, 9)
        )
        return found is not None and len(found) > 0
    table = getattr(profile, OF_PAGES[link.page]).table
    return not link.op or link.op in set(table["op_name"])
