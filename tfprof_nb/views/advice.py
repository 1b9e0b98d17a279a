"""Advice: what to change, with the evidence and the estimated gain."""

from __future__ import annotations

from typing import Any

from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.input_advice import WAITING
from tfprof_nb.render.panels import Column, Note, Panel, Table
from tfprof_nb.views.columns import OP
from tfprof_nb.views.pages import links_of

_MAX_LEADING = 2
_COLUMNS = (
    Column("severity", "severity"),
    Column("finding", "finding"),
    Column("place", "place"),
    Column("estimated_gain_percent", "could save about", "percent", meaning="of a step's time, if it can be estimated"),
)


def panels(advice: Advice) -> list[Panel]:
    """Show every finding."""
    if not len(advice.table):
        return [Note(note, "empty") for note in advice.notes]
    return [
        *(
            Note(f"{row['finding']}. {row['evidence']} {row['fix']}", "advice", links_of(row), _code(row))
            for row in advice.table.to_dict("records")
        ),
        Table("Findings", advice.table, _COLUMNS, selects=OP),
    ]


def leading(advice: Advice, evidence_shown: bool = False) -> list[Panel]:
    """Show the most severe findings, the first without its evidence if that is shown already; or say that none is."""
    if not len(advice.table):
        return [Note(note, "info") for note in advice.notes]
    severe = advice.table[advice.table["severity"] != "info"].head(_MAX_LEADING)
    if severe.empty:
        minor = advice.table.iloc[0]
        text = f"{minor['finding']}. {minor['evidence']} {minor['fix']}"
        return [Note(text, "info", links_of(minor.to_dict()), _code(minor.to_dict()))]
    return [
        Note(_told(row, evidence_shown and not k), "advice", links_of(row), _code(row))
        for k, row in enumerate(severe.to_dict("records"))
    ]


def _told(row: dict[Any, Any], evidence_shown: bool) -> str:
    if evidence_shown:
        return str(row["fix"])
    finding = "" if row["finding"].startswith(WAITING) else f"{row['finding']}. "  # the verdict says that
    return f"{finding}{row['evidence']} {row['fix']}"


def _code(row: dict[Any, Any]) -> str:
    """Return the change as code, with its place above it."""
    place = f"# {row['place']}\n" if row["place"] else ""
    return f"{place}{row['change']}" if row["change"] else ""
