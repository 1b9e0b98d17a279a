"""Writes docs/advice and the table in docs/tools/advice.md from the rules and the programs of the benchmark.

``python docs/make_rules.py`` (``tests/test_docs.py`` tells when it is due).
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from benchmarks import advice_programs  # noqa: E402
from benchmarks.advice_programs import Program  # noqa: E402
from tfprof_nb.analysis.advice.catalogue import rules  # noqa: E402
from tfprof_nb.analysis.advice.rule import Rule  # noqa: E402

FOLDER, TOOL, TRUTH = DOCS / "advice", DOCS / "tools" / "advice.md", DOCS / "advice-truth.md"
BEGIN, END = "<!-- rules: made by docs/make_rules.py -->", "<!-- end of rules -->"
GROUPS = {
    "input": "How the program gets its data",
    "python": "Python in, between and beside the steps",
    "graph": "What the graph of a step computes",
    "tracing": "Functions that are traced again and again, or never",
    "devices": "How the program uses its devices",
    "memory": "Memory",
    "sessions": "Sessions of TensorFlow 1",
}
OF = {"steps": "step time", "training": "the training's time", "cell": "the cell's time"}
RESULTS = {
    "equal": "Results stay the same.",
    "close": "Results stay the same but for rounding.",
    "order": "Examples come in another order.",
    "batches": "Batches have another size, so the training takes another course.",
    "rows": "A function gets whole batches in the place of single examples: ops that mix rows give other results.",
    "dynamics": "The training takes another course.",
}


def main() -> None:
    """Write the pages and the table."""
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old not in made:
            old.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    TOOL.write_text(with_table(TOOL.read_text(encoding="utf-8")), encoding="utf-8")


def pages() -> dict[Path, str]:
    """Return the text of each rule's page."""
    programs = [program for name in advice_programs.names() if not (program := advice_programs.load(name)).is_healthy]
    found = {rule: [one for one in programs if one.rules[0] == rule] for rule in rules()}
    return {
        FOLDER / f"{name}.md": _page(rule, min(found[name], key=lambda one: len(one.cell), default=None))
        for name, rule in rules().items()
    }


def with_table(text: str) -> str:
    """Return the page of the tool with the table of all rules."""
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    lines = []
    for group, title in GROUPS.items():
        lines += ["", f"### {title}", "", "| rule | what is wrong | from |", "|---|---|---|"]
        own = [rule for rule in rules().values() if rule.group == group]
        lines += [f"| [`{rule.id}`](../advice/{rule.id}.md) | {rule.title} | {_from(rule)} |" for rule in own]
    return f"{text[:begin]}\n" + "\n".join(lines) + f"\n\n{text[end:]}"


def _page(rule: Rule, program: Program | None) -> str:
    parts = [f"# {rule.title}", f"`{rule.id}`", f"{rule.what}", "## Why", rule.why]
    if program:
        gain = _gain(program)
        measured = f"In this program, the change saves {gain}.\n\n" if gain else ""
        parts += ["## Slow", _code(_shown(program)), "## Instead", f"{measured}{_code(program.fixed)}"]
    parts += ["## In the advice", "\n".join(f"- {line}" for line in _facts(rule))]
    return "\n\n".join(parts) + "\n"


def _facts(rule: Rule) -> list[str]:
    facts = [f"Told from {told}." if (told := _from(rule)) else "Told whenever it applies."]
    if rule.results in RESULTS:
        facts.append(f"The code that it gives: {RESULTS[rule.results][:1].lower()}{RESULTS[rule.results][1:]}")
    if rule.part_of:
        facts.append(f"It says more than [`{rule.part_of}`]({rule.part_of}.md).")
    if rule.supersedes:
        others = ", ".join(f"[`{name}`]({name}.md)" for name in rule.supersedes)
        facts.append(f"Where it applies, findings of these rules go, which say less: {others}.")
    ignore = f"`%%tfprofile --ignore {rule.id}` leaves it out; so does [a project](../tools/advice.md#ignore-rules)."
    return [*facts, ignore]


def _from(rule: Rule) -> str:
    """Say from which share on a rule tells a case."""
    if not rule.moderate:
        return ""
    high = f" (high: {rule.high:g}%)" if rule.high < 100 else ""
    return f"{rule.moderate:g}% of {OF[rule.of]}{high}"


def _shown(program: Program) -> str:
    """Return the cell, behind the parts of the cells before it that have the fault."""
    lines = program.setup.splitlines()
    parts = [
        "\n".join(lines[_first(node) - 1 : node.end_lineno])
        for node in ast.parse(program.setup).body
        if any(_holds("\n".join(lines[_first(node) - 1 : node.end_lineno]), place) for place in program.places)
    ]
    in_cell = any(_holds(program.cell, place) for place in program.places)
    return "\n\n".join([*([] if in_cell else parts), program.cell])


def _first(node: ast.stmt) -> int:
    """Return the first line of a statement, which may be that of a decorator."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def _holds(code: str, place: str) -> bool:
    return bool(re.search(rf"\b{re.escape(place)}\b", code)) if place.isidentifier() else place in code


def _gain(program: Program) -> str:
    """Return the measured gain, as the page of measurements has it; empty if it is none there."""
    row = re.search(rf"^\| {program.name} \|(.*)\|$", TRUTH.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [cell.strip() for cell in row[1].split("|")] if row else []
    gain = cells[-2] if cells else ""
    return gain if re.match(r"[1-9]\d*%", gain) else ""


def _code(text: str) -> str:
    return f"```py\n{text.strip()}\n```"


if __name__ == "__main__":
    main()
