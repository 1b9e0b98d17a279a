"""A table in a report: its data, for the script that also draws the widget."""

from markupsafe import Markup

from tfprof_nb.render.markup import base64_of, element, embedded
from tfprof_nb.render.panels import Table
from tfprof_nb.render.table.encoding import encode_table
from tfprof_nb.render.table.format import columns_of, cut_notice, flat

# More rows make a report slow to open.
_MAX_ROWS = 5000


def embedded_table(panel: Table) -> Markup:
    """Put a table's rows into a script element that browsers don't run; the report's script draws them.

    Parameters
    ----------
    panel
        The table; of more than 5,000 rows only the first are embedded, with a notice.
    """
    panel = flat(panel)
    columns = columns_of(panel)
    headers, buffers, depths = encode_table(panel.frame.head(_MAX_ROWS), columns, panel.depth)
    data = {
        "title": panel.title,
        "rows": min(len(panel.frame), _MAX_ROWS),
        "columns": headers,
        "buffers": [base64_of(values) for values in buffers],
        "depths": base64_of(depths),
        "selected_row": None,
    }
    script = embedded(data, "tfp-table-data")
    notice = cut_notice(min(len(panel.frame), _MAX_ROWS), len(panel.frame), "rows", panel)
    return script + element("p", f"The first {notice}") if notice else script
