"""Advice: what to change, with the evidence and the estimated gain."""

from typing import Any

from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import belongs_to
from tfprof_nb.analysis.advice.findings import gain_in_words
from tfprof_nb.analysis.source.changed_text import split_imports
from tfprof_nb.render.panels import Column, Note, Offer, Panel, Table
from tfprof_nb.views import benchmark_input as benchmark_input_view
from tfprof_nb.views.columns import OP
from tfprof_nb.views.pages import links_of

_COLUMNS = (
    Column("gain_low_percent", "could save, from", "percent", meaning="if it can be estimated"),
    Column("gain_high_percent", "to", "percent", meaning="if it can be estimated"),
    Column("gain_of", "of"),
    Column("finding", "finding"),
    Column("place", "place"),
    Column("severity", "severity"),
)


def panels(advice: Advice) -> list[Panel]:
    """Show every finding; several also as a table."""
    if not len(advice.table):
        return [Note(note, "empty") for note in advice.notes]
    return [
        *(panel for row in advice.table.to_dict("records") for panel in (_in_full(row), *measure(advice, row))),
        *([Table("Findings", advice.table, _COLUMNS, selects=OP)] if len(advice.table) > 1 else []),
    ]


def on_input(advice: Advice) -> Note | None:
    """Say what to change about how the program gets its data; None if no finding is about that."""
    rows = advice.table[advice.table["rule"].map(_is_about_input).astype(bool)]
    return Note(fix(first := rows.iloc[0].to_dict()), "advice", (), _code(first)) if len(rows) else None


def _is_about_input(rule: str) -> bool:
    return belongs_to(rule, "input-bound") or rule == "input-outside-steps"


def measure(advice: Advice, row: dict[Any, Any]) -> list[Panel]:
    """Offer to measure the pipeline that makes steps wait, if the program's dataset is known."""
    offered = advice.measurement
    if offered is None or not _is_about_input(row["rule"]):
        return []
    text = f"Measures in half a minute what each stage of `{offered.dataset}` costs and what changing it would gain:"
    return [Offer("Measure it", text, offered.code, lambda: benchmark_input_view.panels(offered.run()))]


def _in_full(row: dict[Any, Any]) -> Note:
    text = f"{row['finding']}. {row['evidence']} {fix(row)}"
    return Note(text, "advice", links_of(row), _code(row))


def fix(row: dict[Any, Any]) -> str:
    """Say what to change, and what that could save."""
    return f"{row['fix']} {gain_in_words(row['gain_low_percent'], row['gain_high_percent'], row['gain_of'])}".rstrip()


def _code(row: dict[Any, Any]) -> str:
    """Return the change as code, with its place above it; its imports have another place."""
    imports, code = split_imports(row["change"])
    top = f"# top of {row['place'].rpartition(' line ')[0]}\n{imports}\n" if imports else ""
    place = f"# {row['place']}\n" if row["place"] else ""
    return f"{top}{place}{code}" if row["change"] else ""
