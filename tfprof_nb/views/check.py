"""Preflight: what to do before a capture, then everything that was looked at."""

from __future__ import annotations

from tfprof_nb.analysis.result import Result
from tfprof_nb.render.content import Content
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (Column("check", "what"), Column("status", "status"), Column("detail", "found"))


def content(preflight: Result) -> Content:
    """Return what shows the preflight; as plain HTML, since widgets may be what does not work."""
    return Content("tfprof_nb · preflight", panels(preflight), static=True)


def panels(preflight: Result) -> list[Panel]:
    """Show the verdict, a line for each thing to do, and a table of all that was looked at."""
    todo = preflight.table[preflight.table["status"] != "fine"]
    cures = [
        Note(f"{row.check}: {row.detail}. {row.cure}", "warning" if row.status == "problem" else "advice")
        for row in todo.itertuples()
    ]
    return [Note(_verdict(preflight), "answer"), *cures, Table("What was looked at", preflight.table, _COLUMNS)]


def _verdict(preflight: Result) -> str:
    problems, others = preflight.summary["problem"], preflight.summary["attention"]
    if problems:
        return f"{problems} {'problem' if problems == 1 else 'problems'} to solve before profiles are whole."
    if others:
        return f"Captures work here; {others} {'thing is' if others == 1 else 'things are'} worth a look."
    return "Captures work here."
