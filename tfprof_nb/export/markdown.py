"""A profile in brief, or a page of it, as Markdown: for an issue or an assistant."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import gain_in_words

_SOURCES = {
    "marked": "step markers tell where steps begin",
    "device": "steps are taken from the device's work",
    "inferred": "steps are inferred, as there are no step markers",
}
_PARTS = {"device_to_device_ms": "device copies", "compile_ms": "compilation"}
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
# What makes links, pictures, formulas, code and emphasis; underscores do so at the ends of words only.
_MARKS = re.compile(r"[\\`*\[\]$~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def to_markdown(digest: Mapping[str, Any]) -> str:
    """Write what `analysis.digest` returns as Markdown."""
    return _units.printable("\n".join(_lines(digest))) + "\n"


def page_to_markdown(page: Mapping[str, Any]) -> str:
    """Write what `page_dict` returns as Markdown."""
    summary = [f"- {_text(key)}: {_cell(value)}" for key, value in page["summary"].items()]
    notes = [f"- {_text(note)}" for note in page["notes"]]
    parts = [f"# {_text(page['page'])}", "\n".join(summary), table_to_markdown(page), "\n".join(notes)]
    return _units.printable("\n\n".join(filter(None, parts))) + "\n"


def table_to_markdown(table: Mapping[str, Any]) -> str:
    r"""Write what `table_dict` returns as a table.

    Examples
    --------
    >>> print(table_to_markdown({"rows": [{"op": "a|b", "ms": 1.5}], "row_count": 2}))
    | op | ms |
    | --- | --- |
    | a\|b | 1.5 |
    <BLANKLINE>
    1 of 2 rows
    """
    rows = table["rows"]
    if not rows:
        return "No rows."
    lines = [*_table([_text(name) for name in rows[0]], [[_cell(value) for value in row.values()] for row in rows])]
    shown = [] if len(rows) == table["row_count"] else ["", f"{len(rows)} of {table['row_count']} rows"]
    return _units.printable("\n".join([*lines, *shown]))


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _text(value)


def _lines(digest: Mapping[str, Any]) -> Iterator[str]:
    verdict, steps, time = digest["verdict"], digest["steps"], digest["time"]
    yield f"# {_text(digest['name'])}"
    yield ""
    yield f"**{_text(verdict['answer'])}**"
    yield ""
    version = f"TensorFlow {_text(digest['tensorflow'])}" if digest["tensorflow"] else ""
    hosts = f"{digest['hosts']} hosts" if digest["hosts"] > 1 else ""
    captured = f"{_milliseconds(digest['capture_ms'])} captured"
    yield " · ".join(filter(None, [digest["device"], hosts, version, captured]))
    yield from _section("Findings", _findings(digest["findings"]))
    yield from _section("Steps", _steps(steps, time))
    ops = [
        (
            *(_text(op[column]) for column in ("op_name", "op_type", "side", "occurrences")),
            _milliseconds(op["self_ms"]),
            _percent(op),
        )
        for op in digest["top_ops"]
    ]
    yield from _section("Top ops by self time", _table(("op", "type", "runs on", "runs", "self time", "share"), ops))
    lines = [
        (
            _text(f"{line['file']}:{line['line']}"),
            _code(line["code"]),
            _milliseconds(line["self_ms"]),
            _milliseconds(line["op_ms"]),
        )
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
        low, high = (finding[f"gain_{end}_percent"] or 0.0 for end in ("low", "high"))
        gain = gain_in_words(low, high, finding["gain_of"])
        yield (
            f"{number}. **{_text(finding['finding'])}**{place}, {finding['severity']}. {_text(finding['evidence'])} "
            f"Fix: {_text(finding['fix'])} {gain}".rstrip()
        )
        if finding["change"]:
            fence = _fence(finding["change"], 3)
            yield from (f"   {fence}python", *(f"   {line}" for line in finding["change"].splitlines()), f"   {fence}")


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


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        for row in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _text(value: object) -> str:
    r"""Return text in one line, that Markdown shows as it is: names are no links, pictures or formulas.

    Examples
    --------
    >>> print(_text("<a> ![b](c) $d$ _e f_g `h[0] < 1`"))
    &lt;a> !\[b\](c) \$d\$ \_e f_g `h[0] < 1`
    """
    if value is None:
        return _units.MISSING
    line, parts, at = _one_line(str(value)), list[str](), 0
    for code in _CODE.finditer(line):
        parts += [_escaped(line[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _escaped(line[at:])])


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", text.replace("&", "&amp;").replace("<", "&lt;"))


def _code(text: str | None) -> str:
    line = _one_line(text or "")
    fence = _fence(line, 1)
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}" if line else ""


def _fence(code: str, least: int) -> str:
    """Return more backticks than the code has in a row."""
    return "`" * max(least, *(len(run) + 1 for run in re.findall("`+", code)), 1)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _milliseconds(ms: float | None) -> str:
    return _units.MISSING if ms is None else _units.milliseconds(ms)


def _percent(op: Mapping[str, Any]) -> str:
    return _units.MISSING if op["self_percent"] is None else _units.percent(op["self_percent"])
