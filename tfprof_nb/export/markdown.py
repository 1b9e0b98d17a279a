"""A profile in brief as Markdown, for an issue or an assistant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import gain_in_words

_SOURCES = {
    "marked": "marks tell where steps begin",
    "device": "steps are taken from the device's work",
    "inferred": "steps are inferred, as nothing marks them",
}
_PARTS = {"device_to_device_ms": "device copies", "compile_ms": "compilation"}


def to_markdown(digest: Mapping[str, Any]) -> str:
    """Write what `analysis.digest` returns as Markdown."""
    return _units.printable("\n".join(_lines(digest))) + "\n"


def _lines(digest: Mapping[str, Any]) -> Iterator[str]:
    verdict, steps, time = digest["verdict"], digest["steps"], digest["time"]
    yield f"# {_text(digest['name'])}"
    yield ""
    yield f"**{_text(verdict['answer'])}**"
    yield ""
    version = f"TensorFlow {digest['tensorflow']}" if digest["tensorflow"] else ""
    hosts = f"{digest['hosts']} hosts" if digest["hosts"] > 1 else ""
    captured = f"{_milliseconds(digest['capture_ms'])} captured"
    yield " · ".join(filter(None, [digest["device"], hosts, version, captured]))
    yield from _section("Findings", _findings(digest["findings"]))
    yield from _section("Steps", _steps(steps, time))
    ops = [
        (op["op_name"], op["op_type"], op["side"], op["occurrences"], _milliseconds(op["self_ms"]), _percent(op))
        for op in digest["top_ops"]
    ]
    yield from _section("Top ops by self time", _table(("op", "type", "runs on", "runs", "self time", "share"), ops))
    lines = [
        (f"{line['file']}:{line['line']}", line["code"], _milliseconds(line["self_ms"]), _milliseconds(line["op_ms"]))
        for line in digest["lines"]
    ]
    yield from _section("Lines that take most", _table(("line", "code", "own time", "its ops"), lines))
    yield from _section("Notes", [f"- {_text(note)}" for note in digest["notes"]])


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a section, unless it is empty."""
    if found := list(lines):
        yield from ("", f"## {title}", "", *found)


def _findings(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for number, finding in enumerate(findings, 1):
        place = (
            f" ({_text(finding['place'])})" if finding["place"] and finding["place"] not in finding["finding"] else ""
        )
        gain = gain_in_words(*(finding[f"gain_{end}_percent"] or 0.0 for end in ("low", "high")))
        yield (
            f"{number}. **{_text(finding['finding'])}**{place}, {finding['severity']}. {_text(finding['evidence'])} "
            f"Fix: {_text(finding['fix'])} {gain}".rstrip()
        )
        if finding["change"]:
            yield from ("   ```python", *(f"   {line}" for line in finding["change"].splitlines()), "   ```")


def _steps(steps: Mapping[str, Any], time: Mapping[str, Any]) -> Iterator[str]:
    if not steps["measured"]:
        return
    source = _SOURCES.get(steps["source"], steps["source"])
    if steps["captured"] == 1:
        yield f"- One step was captured: {_milliseconds(steps['median_ms'])} ({source})."
    else:
        yield from _times_of_steps(steps, time, source)
    parts = ", ".join(
        f"{_PARTS.get(name) or name.removesuffix('_ms').replace('_', ' ')} {_milliseconds(ms)}"
        for name, ms in steps["parts_ms"].items()
    )
    yield f"- {'This' if steps['captured'] == 1 else 'Average'} step: {parts}."
    if time["other_programs_percent"]:
        yield f"- Other programs took {_units.percent(time['other_programs_percent'])} of the processors."


def _times_of_steps(steps: Mapping[str, Any], time: Mapping[str, Any], source: str) -> Iterator[str]:
    if time["per"] != "capture":
        batch = f"; batches of {time['batch']}" if time["batch"] else ""
        yield f"- Time per {time['per']}, with time that is not in the averages: {_milliseconds(time['ms'])}{batch}."
    least, most = _milliseconds(steps["min_ms"]), _milliseconds(steps["max_ms"])
    yield (
        f"- Median step: {_milliseconds(steps['median_ms'])} ({least} to {most}). {steps['measured']} of "
        f"{steps['captured']} steps are measured; {source}."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if rows:
        for row in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(_text(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _text(value: object) -> str:
    """Return text in one line, that Markdown shows as it is."""
    return " ".join(str(value).replace("<", "&lt;").split()) if value is not None else _units.MISSING


def _milliseconds(ms: float | None) -> str:
    return _units.MISSING if ms is None else _units.milliseconds(ms)


def _percent(op: Mapping[str, Any]) -> str:
    return _units.MISSING if op["self_percent"] is None else _units.percent(op["self_percent"])
