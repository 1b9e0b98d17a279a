"""Preflight: what to fix before a capture, then all checks."""

from tfprof_nb.analysis.result import Result
from tfprof_nb.render.content import Content
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (Column("check", "check"), Column("status", "status"), Column("detail", "result"))


def content(preflight: Result) -> Content:
    """Return the content that shows the preflight; as plain HTML, since widgets may not work here."""
    return Content("tfprof_nb · preflight", panels(preflight), static=True)


def panels(preflight: Result) -> list[Panel]:
    """Show the verdict, a line for each thing to fix, and a table of all checks."""
    todo = preflight.table[preflight.table["status"] != "fine"]
    cures = [
        Note(f"{row.check}: {row.detail}. {row.cure}", "warning" if row.status == "problem" else "advice")
        for row in todo.itertuples()
    ]
    return [Note(_verdict(preflight), "answer"), *cures, Table("Checks", preflight.table, _COLUMNS)]


def _verdict(preflight: Result) -> str:
    problems, others = preflight.summary["problem"], preflight.summary["attention"]
    if problems:
        return f"{problems} {'problem' if problems == 1 else 'problems'} to solve before profiles are complete."
    if others:
        return f"Captures work here; {others} {'check needs' if others == 1 else 'checks need'} attention."
    return "Captures work here."
