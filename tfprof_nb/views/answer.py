"""The first screen: the answer in one sentence, what to change, and where the time went, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.advice.findings import usual_gain
from tfprof_nb.analysis.answer import MODEL_KINDS, ONCE_KINDS, Answer, Diff
from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.render.panels import Change, Composition, Figure, Headline, KeyFigures, Offer, Panel, Part
from tfprof_nb.views import advice as advice_view
from tfprof_nb.views import overview as overview_view
from tfprof_nb.views.categories import COMPILATION, HOST_COMPUTE, INPUT, OTHER
from tfprof_nb.views.pages import links_of

_MIN_SPEEDUP = 1.5  # smaller ones are said in percent
_MIN_SAVED, _MAX_SPEEDUP = 0.01, 10.0
_TRY = "The cell runs as it is and changed, in turns, on copies, for a minute: it says what the change gains and keeps."
_MAX_PARTS, _MIN_PART = 10, 0.005
_MOSTLY = 0.5  # of the model's own work: the op or layer that takes so much of it is named
_MAX_UNEXPLAINED = 0.5
_MUCH_PERCENT = 20.0  # of the cell
_MIN_STEP_SHARE = 0.2  # of the cell, for what a step is made of
_COLORS = {
    **dict.fromkeys(MODEL_KINDS, HOST_COMPUTE),
    **dict.fromkeys(("wait", "start"), INPUT),
    **dict.fromkeys(ONCE_KINDS, COMPILATION),
}
_PHASES = {"validation": "Validation", "train": "Training"}
_VERDICTS = {"highly": "highly input-bound", "moderately": "moderately input-bound"}


# Tries the change of a rule, and returns what came out.
Try = Callable[[str], Sequence[Panel]]


def panels(
    answer: Answer, advice: Advice, tree: Breakdown, overview: Overview, steps: Steps, try_change: Try | None = None
) -> list[Panel]:
    """Show the answer, the changes, the facts, and what the cell and a step are made of."""
    known = bool(overview.summary["largest_category"])
    without_tree = [] if _tells(tree) and known else overview_view.step(overview, steps)
    return [
        lead(answer, advice, tree, overview),
        *_changes(answer, advice, try_change),
        KeyFigures(_facts(overview, steps)),
        *(_compositions(tree) if _tells(tree) else ()),
        *without_tree,
    ]


def lead(answer: Answer, advice: Advice, tree: Breakdown, overview: Overview) -> Headline:
    """Say what takes the time; where that is not known, how far waiting for data limits the program."""
    if overview.summary["unrecorded_gpus"] or not (_tells(tree) or answer.kind == "finding"):
        return Headline(overview_view.verdict(overview))
    return headline(answer, advice)


def _tells(tree: Breakdown) -> bool:
    """Whether the tree explains most of the time."""
    return bool(tree.summary["cell_ms"] > 0 and tree.summary["unexplained_share"] < _MAX_UNEXPLAINED)


def headline(answer: Answer, advice: Advice) -> Headline:
    """Say what takes the time, and what a change could gain."""
    if answer.kind == "finding" and answer.finding is not None:
        row = advice.table.iloc[answer.finding].to_dict()
        share, says = row["cell_percent"], "%" in row["finding"]
        of_cell = "" if says or math.isnan(share) else f" That is {_units.percent(share)} of the {answer.whole}'s time."
        return Headline(f"{row['finding']}.{of_cell}", *_gain(row))
    return Headline(sentence(answer, calm=_is_calm(advice)))


def _is_calm(advice: Advice) -> bool:
    """Whether no finding is severe, none gives code, and none of the input, harmless in other runs, is about much."""
    table = advice.table
    of_input = table["rule"].map(lambda rule: rules()[rule].group == "input").astype(bool)
    waits = of_input & (table["cell_percent"] >= _MUCH_PERCENT)
    return bool((table["severity"] == "info").all() and (table["change"] == "").all() and not waits.any())


def sentence(answer: Answer, *, calm: bool) -> str:
    """Name the largest cost of a cell, its place, its size and how often it came; ``calm`` if no finding matters."""
    node, whole = answer.node, answer.whole
    if node is None:
        return f"Nothing is known of the {whole}'s time: no event was recorded."
    share = _units.share(node["share"])
    match answer.kind:
        case "healthy":
            mostly = node["share"] >= _MOSTLY * answer.model_share
            model = _units.share(answer.model_share)
            of_it = f", all of it {_name(node)}" if share == model else f", {_name(node)} alone {share}"
            takes = f"he model itself takes {model} of the {whole}'s time{of_it * mostly}."
            return f"Nothing to change: t{takes}" if calm else f"T{takes}"
        case "once":
            once = f"{node['name']} takes {share} of the {whole}'s time, once"
            return f"{once[:1].upper()}{once[1:]}. Longer training hides it."
        case "spread":
            return f"No part stands out: the largest, {_name(node)}, takes {share} of the {whole}'s time."
    name = _name(node)
    return f"{name[:1].upper()}{name[1:]} takes {share} of the {whole}'s time{_counted(node)}."


def _name(node: Mapping[Any, Any]) -> str:
    """Name a part of the cell with its place."""
    name, kind, place = str(node["name"]), str(node["kind"]), str(node["place"])
    if kind == "phase":
        name = _PHASES.get(name, f"`{name}`")
    elif kind == "callback":
        name = f"the callback `{name}`"
    elif kind in ("load", "save", "session", "copy", "layer"):
        name = f"`{name}`"
    elif kind == "python":
        name = f"`{node['code']}`" if node.get("code") else f"`{name}`" if name else "Python"
    return f"{name} ({place})" if place else name


def _counted(node: Mapping[Any, Any]) -> str:
    count = int(node["count"])
    return f": {_units.count(count)} times {_units.milliseconds(node['total_ms'] / count)}" if count > 1 else ""


def _gain(row: Mapping[Any, Any]) -> tuple[str, str]:
    """Say what a change could gain for the cell as one number, and what that rests on."""
    percent = row["estimated_gain_percent"]
    of_cell = row["cell_percent"] / percent if percent > 0 and row["cell_percent"] > 0 else 1.0
    low, high = (min(of_cell * row[f"gain_{end}_percent"] / 100, 0.99) for end in ("low", "high"))
    if not high >= _MIN_SAVED:
        return "", ""
    low = max(low, 0.0)
    usual = usual_gain(low, high)
    faster, least, most = (1 / (1 - part) for part in (usual, low, high))
    if faster < _MIN_SPEEDUP:
        return f"≈ {100 * usual:.0f}% less time", f"estimated {100 * low:.0f}% to {100 * high:.0f}%"
    between = f"{least:.1f}× and more" if most > _MAX_SPEEDUP else f"{least:.1f} to {most:.1f}×"
    return f"≈ {faster:.1f}× faster", f"estimated {between}"


def _changes(answer: Answer, advice: Advice, try_change: Try | None) -> Iterable[Panel]:
    """Show the finding that leads as an open card, the others as lines that open."""
    for number, row in enumerate(advice.table.to_dict("records")):
        leads, diff = answer.kind == "finding" and number == answer.finding, answer.diffs.get(number, Diff())
        yield _card(row, diff, leads=leads)
        if leads and diff.text and try_change:
            rule = str(row["rule"])
            yield Offer("Try it", _TRY, f"p.try_change({rule!r})", partial(try_change, rule))
        if leads:
            yield from advice_view.measure(advice, row)


def _card(row: dict[Any, Any], diff: Diff, *, leads: bool) -> Change:
    gain, _ = _gain(row)
    return Change(
        place=row["place"],
        action="" if leads else f"{row['finding']}.",
        text=f"{row['evidence']} {advice_view.fix(row)}",
        old=diff.old,
        new=diff.new,
        apply=(lambda: diff.text) if diff.text and line_at(row["place"])[0].startswith(("cell", "In[")) else None,
        links=links_of(row),
        gain=gain,
        folded=not leads,
    )


def _facts(overview: Overview, steps: Steps) -> list[Figure]:
    """Give the headline numbers."""
    numbers, measured = overview.summary, steps.timed["step_ms"]
    figures = []
    if len(measured):
        low, middle, high = measured.quantile([0.25, 0.5, 0.75])
        spread = f"median step (half: {_units.milliseconds(low)} to {_units.milliseconds(high)})"
        figures.append(Figure(spread, _units.milliseconds(middle)))
    if not math.isnan(numbers["input_percent"]):
        verdict = _VERDICTS.get(str(numbers["verdict"]), "")
        about = f"of each step waits for data{verdict and f': {verdict}'}"
        figures.append(Figure(about, _units.percent(numbers["input_percent"])))
    if not math.isnan(numbers["cores_busy"]):
        busy = f"{_units.number(numbers['cores_busy'])} of {_units.count(numbers['cores'])}"
        figures.append(Figure("cores busy", busy, "of the processors that the program may use"))
    alone = ["hosts"] if numbers["host_count"] == 1 else []
    others = [figure for figure in overview_view.figures(overview) if figure.label not in alone]
    return [*figures, *[figure for figure in others if figure.value != _units.MISSING]]


def _compositions(tree: Breakdown) -> Iterable[Panel]:
    """Show what the cell is made of, and what its longest kind of step is made of."""
    cell_ms = float(tree.summary["cell_ms"])
    if not cell_ms > 0:
        return
    about = f"{_units.milliseconds(cell_ms)}, parts by name"
    yield Composition("Where the time went", about, _parts(tree.largest(_MAX_PARTS), cell_ms), cell_ms)
    steps = tree.table[(tree.table["kind"] == "step") & (tree.table["count"] > 1)]
    if steps.empty or steps["share"].max() < _MIN_STEP_SHARE:
        return
    step = steps.iloc[int(steps["total_ms"].to_numpy().argmax())]
    inside = tree.table[(tree.table["parent"] == step["id"]) & ~tree.table["kind"].isin(ONCE_KINDS)]
    per_step = inside.assign(total_ms=inside["total_ms"] / step["count"]).sort_values("total_ms", ascending=False)
    whole = float(per_step["total_ms"].sum())
    about = (
        f"{_units.milliseconds(whole)}, the mean of {_units.count(step['count'])} steps, without tracing and compiling"
    )
    yield Composition("What a step is made of", about, _parts(per_step.head(_MAX_PARTS), whole), whole)


def _parts(nodes: pd.DataFrame, whole_ms: float) -> Sequence[Part]:
    """Return a part per name, the largest first, and one for all that is left."""
    rows = nodes[nodes["total_ms"] >= _MIN_PART * whole_ms].to_dict("records")
    named: dict[str, Part] = {}
    for row in rows:  # the same may lie in steps, between them, and in the first batch of a pass
        name, color = _name(row), _COLORS.get(row["kind"], OTHER)
        before = named.setdefault(name, Part(name, 0.0, color))
        named[name] = replace(before, value=before.value + row["total_ms"])
    parts = sorted(named.values(), key=lambda part: -part.value)
    rest = whole_ms - sum(part.value for part in parts)
    return [*parts, Part("the rest", rest, OTHER)] if rest >= _MIN_PART * whole_ms else parts
