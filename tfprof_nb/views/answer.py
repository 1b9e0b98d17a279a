"""The first screen: the answer in one sentence, what to change, and where the time went, by name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.advice import Advice
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.advice.claims import leaves_out_tracing
from tfprof_nb.analysis.advice.rule import usual_gain
from tfprof_nb.analysis.answer import MODEL_KINDS, Answer, Diff
from tfprof_nb.analysis.breakdown.breakdown import ONCE_KINDS, Breakdown
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.trial import acts_between_epochs, whole_cells_s
from tfprof_nb.render import theme
from tfprof_nb.render.diff import diff as changed_lines
from tfprof_nb.render.panels import Bar, Change, Composition, Figure, Headline, KeyFigures, Offer, Panel, Part, Split
from tfprof_nb.views import advice as advice_view
from tfprof_nb.views import overview as overview_view
from tfprof_nb.views.categories import COMPILATION, HOST_COMPUTE, INPUT, OTHER
from tfprof_nb.views.pages import PAGES, links_of

_MIN_SPEEDUP = 1.5  # smaller ones are said in percent
_MIN_SAVED, _MAX_SPEEDUP = 0.01, 10.0
_ABOVE = 1.2  # times the share that a finding is about: a change that saves more says so instead
_TRY_S = 60  # as `Profile.try_change` takes by default
_TRY = "Runs the cell as it is and changed, in turns, on copies, for {} s, and says what the change gains:"
_MAX_PARTS, _MIN_PART = 10, 0.005
_MOSTLY = 0.5  # of the model's own work: the op or layer that takes so much of it is named
_MAX_UNEXPLAINED = 0.5
_MUCH_PERCENT, _WORTH_SAYING_PERCENT = 20.0, 15.0  # of the cell
_SOME_ONCE = 0.05  # of a part's time: tracing that is said to be left out of it
_MIN_STEP_SHARE = 0.2  # of the cell, for what a step is made of
_MIN_STRIP = 0.02  # of the cell, for a part of the bar of the whole
_LEAST = 0.0005  # of a whole: less is not written
_NEARLY = 0.05
_MAX_TO_DO = 48
_MOSTLY_STEADY = 0.9
_WHOLE_FROM = 100.0
_MOSTLY_EAGER = 50.0  # percent
_BETWEEN = "TensorFlow between ops"
_REST = theme.SILVER
_KERAS_STEP = re.compile(r"\b(?:multi|one)_step_on_(?:iterator|data)\b")  # names of its functions
_COLORS = {
    **dict.fromkeys(MODEL_KINDS, HOST_COMPUTE),
    **dict.fromkeys(("wait", "start"), INPUT),
    **dict.fromkeys(ONCE_KINDS, COMPILATION),
}
# The results that say more about the parts of a kind, the best first.
_TELL_MORE = {
    **dict.fromkeys(("layer", "optimizer"), ("layers", "ops")),
    **dict.fromkeys(("op", "copy", "session"), ("ops",)),
    **dict.fromkeys(("python", "callback", "keras", "load", "save"), ("python",)),
    "wait": ("input_pipeline", "tf_data"),
    "start": ("tf_data", "input_pipeline"),
    **dict.fromkeys(ONCE_KINDS, ("functions",)),
}
_PHASES = {"validation": "Validation", "train": "Training"}
_VERDICTS = {"highly": "highly input-bound", "moderately": "moderately input-bound"}


# Tries the change of a rule, and returns what came out.
Try = Callable[[str], Sequence[Panel]]


def panels(
    answer: Answer,
    advice: Advice,
    tree: Breakdown,
    overview: Overview,
    steps: Steps,
    pages: Collection[str] = (),
    try_change: Try | None = None,
) -> list[Panel]:
    """Show the answer, the changes, the facts, and what the cell and a step are made of.

    ``pages`` are the results whose pages parts can lead to.
    """
    known = bool(overview.summary["largest_category"])
    without_tree = [] if _tells(tree) and known else overview_view.step(overview, steps)
    return [
        lead(answer, advice, tree, overview),
        *_changes(answer, advice, tree, try_change),
        KeyFigures(facts(overview, steps)),
        *(_compositions(answer, tree, steps, pages) if _tells(tree) else ()),
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
        steady = _steady(answer, row)
        share, says = steady * row["cell_percent"], "%" in row["finding"]
        saved = _saved(row, steady)
        little = not share >= _WORTH_SAYING_PERCENT or bool(saved and 100 * saved[1] > _ABOVE * share)
        of_cell = "" if says or little else f" That is {_units.percent(share)} of the {answer.whole}'s time."
        return Headline(f"{row['finding']}.{of_cell}", *_gain(row, steady))
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
            count, place = int(node["count"]), str(node["place"])
            times = f"in {_units.count(count)} calls{place and f', most at {place}'}" if count > 1 else "once"
            name = _title(node) if count > 1 else _name(node)
            name = f"{name[:1].upper()}{name[1:]}"
            return f"{name} takes {share} of the {whole}'s time, {times}. Longer training hides it."
        case "spread":
            part = f"the largest, {_name(node)}, takes {share} of the {whole}'s time"
            return f"No part stands out: {part}{_line(answer.line)}."
    name = _name(node)
    traced = ", without its tracing," * (node.get("once_ms", 0.0) > _SOME_ONCE * node["total_ms"])
    return f"{name[:1].upper()}{name[1:]}{traced} takes {share} of the {whole}'s time{_counted(node)}."


def _line(line: Mapping[Any, Any] | None) -> str:
    """Name the line of the program with the most time, as the end of a sentence."""
    if line is None:
        return ""
    code = f"`{line['code']}` ({line['place']})" if line["code"] else line["place"]
    return f". The line with the most is {code}: {_units.share(line['share'])}"


def _name(node: Mapping[Any, Any]) -> str:
    """Name a part of the cell with its place."""
    name, place = _title(node), str(node["place"])
    return f"{name} ({place})" if place else name


def _title(node: Mapping[Any, Any]) -> str:
    """Name a part of the cell."""
    name, kind = str(node["name"]), str(node["kind"])
    if kind == "phase":
        name = _PHASES.get(name, f"`{name}`")
    elif kind == "callback":
        name = f"the callback `{name}`"
    elif kind in ("load", "save", "session", "copy", "layer"):
        name = f"`{name}`"
    elif kind == "python":
        name = f"`{node['code']}`" if node.get("code") else f"`{name}`" if name else "Python"
    elif kind == "start" and name.endswith("Dataset"):
        name = f"creating the iterator of {name}"
    elif kind in ONCE_KINDS:
        name = _KERAS_STEP.sub("Keras' step function", name)
    return name


def _counted(node: Mapping[Any, Any]) -> str:
    count = int(node["count"])
    return f": {_units.count(count)} times {_units.milliseconds(node['total_ms'] / count)}" if count > 1 else ""


def _steady(answer: Answer, row: Mapping[Any, Any]) -> float:
    """Return of which share of the cell a finding's shares are: most leave out the steps that trace."""
    return answer.steady_share if leaves_out_tracing(rules()[row["rule"]]) else 1.0


def _gain(row: Mapping[Any, Any], steady: float) -> tuple[str, str]:
    """Say what a change could gain for the cell as one number, and what that rests on."""
    if not (saved := _saved(row, steady)):
        return "", ""
    low, usual, high = saved
    faster, least, most = (1 / (1 - part) for part in (usual, low, high))
    without = min(usual / steady, 0.99) if steady < _MOSTLY_STEADY else 0.0
    longer = f"; {1 / (1 - without):.1f}× where nothing is traced" if without else ""
    if low < _MIN_SAVED:
        return f"up to {100 * high:.0f}% less time", ""
    if faster < _MIN_SPEEDUP:
        return f"≈ {100 * usual:.0f}% less time", f"estimated {100 * low:.0f}% to {100 * high:.0f}%{longer}"
    between = f"{least:.1f}× and more" if most > _MAX_SPEEDUP else f"{least:.1f} to {most:.1f}×"
    return f"≈ {faster:.1f}× faster", f"estimated {between}{longer}"


def _saved(row: Mapping[Any, Any], steady: float) -> tuple[float, float, float] | None:
    """Return the least, the usual and the most part of the cell, 0 to 1, that a change could save; None if unknown."""
    percent = row["estimated_gain_percent"]
    of_cell = steady * (row["cell_percent"] / percent if percent > 0 and row["cell_percent"] > 0 else 1.0)
    low, high = (min(of_cell * row[f"gain_{end}_percent"] / 100, 0.99) for end in ("low", "high"))
    low = max(low, 0.0)
    return (low, usual_gain(low, high), high) if high >= _MIN_SAVED else None


def _changes(answer: Answer, advice: Advice, tree: Breakdown, try_change: Try | None) -> Iterable[Panel]:
    """Show the finding that leads as an open card, the others as lines that open."""
    for number, row in enumerate(advice.table.to_dict("records")):
        leads, diff = answer.kind == "finding" and number == answer.finding, answer.diffs.get(number, Diff())
        yield _card(row, diff, tree, try_change, _steady(answer, row), leads=leads)
        if leads:
            yield from advice_view.measure(advice, row)


def _card(
    row: dict[Any, Any], diff: Diff, tree: Breakdown, try_change: Try | None, steady: float, *, leads: bool
) -> Change:
    gain, rule = _gain(row, steady)[0], str(row["rule"])
    in_cell = line_at(row["place"])[0].startswith(("cell", "In["))
    return Change(
        place=row["place"],
        action=_to_do(diff) or rules()[rule].action if leads else f"{row['finding']}.",
        text=f"{row['evidence']} {row['fix'] if gain else advice_view.fix(row)}".rstrip(),
        old=diff.old,
        new=diff.new,
        bars=_now_and_then(row, tree, steady),
        apply=(lambda: diff.text.rstrip("\n")) if diff.text and in_cell else None,
        links=links_of(row),
        gain=gain,
        folded=not leads,
        offer=_offer(row, tree, try_change) if leads and diff.text and try_change else None,
    )


def _offer(row: Mapping[Any, Any], tree: Breakdown, try_change: Try) -> Offer:
    rule, cell_s = str(row["rule"]), float(tree.summary["cell_ms"]) / 1000
    seconds = max(_TRY_S, whole_cells_s(cell_s)) if acts_between_epochs(row["node"]) else _TRY_S
    return Offer(f"Try it · {seconds} s", _TRY.format(seconds), f"p.try_change({rule!r})", partial(try_change, rule))


def _to_do(diff: Diff) -> str:
    """Say in a few words what a diff does, if it does one thing."""
    lines = [line for line in changed_lines(diff.old, diff.new) if line.sign != " "] if diff.new else []
    added, removed = ([line.changed.strip(" ,") for line in lines if line.sign == sign] for sign in "+-")
    if len(added) != 1 or len(removed) != 1 or max(map(len, added + removed)) > _MAX_TO_DO:
        return ""
    if not all(text.count("(") == text.count(")") for text in added + removed):  # it begins or ends within a call
        return ""
    if not removed[0]:
        return f"Add `{added[0]}`" if added[0] else ""
    return f"Replace `{removed[0]}` with `{added[0]}`" if added[0] else f"Remove `{removed[0]}`"


def _now_and_then(row: dict[Any, Any], tree: Breakdown, steady: float) -> Sequence[Bar]:
    """Compare what the whole takes now with what it could take: what the finding is about, and the rest."""
    whole, saved = float(tree.summary["cell_ms"]), _saved(row, steady)
    if not (whole > 0 and saved):
        return ()
    least, usual, most = (whole * part for part in saved)
    node = tree.table[tree.table["id"] == row["node"]]
    color = _COLORS.get(node["kind"].iloc[0], OTHER) if len(node) else INPUT
    about = min(max(steady * whole * row["cell_percent"] / 100, usual), whole) if row["cell_percent"] > 0 else whole
    parts = [("what it is about", about, color), ("the rest", whole - about, OTHER)]
    left = [("what it is about", about - usual, color), *parts[1:]]
    now, then = ([Part(*part) for part in one if part[1] > 0] for one in (parts, left))
    between = f"{_units.milliseconds(whole - most)} to {_units.milliseconds(whole - least)}"
    return (
        Bar("now", now, _units.milliseconds(whole)),
        Bar("then", then, f"≈ {_units.milliseconds(whole - usual)} ({between})", estimated=True),
    )


def facts(overview: Overview, steps: Steps) -> list[Figure]:
    """Give the headline numbers: how long, how many, and how busy."""
    numbers, times = overview.summary, steps.timed["step_ms"]
    steps_ms = sum(time for name in ("measured_steps_ms", "warm_up_steps_ms") if (time := numbers[name]) > 0)
    are_little = steps_ms < _MIN_STEP_SHARE * numbers["capture_ms"]  # of all that the cell does
    figures = []
    if len(times):
        low, middle, high = (float(time) for time in times.quantile([0.25, 0.5, 0.75]))
        half = f" ({_between(low, high)} in half)" if len(times) > 1 else ""
        figures.append(Figure(f"median step{half}", _units.milliseconds(middle), "of the steps in the averages"))
        per_second = 1000 * numbers["examples_per_step"] / middle if middle > 0 else math.nan
        if numbers["host_count"] == 1 and per_second > 0 and not are_little:
            each = f"batches of {_units.count(numbers['examples_per_step'])}, at the median step"
            figures.append(Figure("examples a second", _few_digits(per_second), each))
    if not math.isnan(numbers["cores_busy"]):
        busy = f"{numbers['cores_busy']:.1f} of {_units.count(numbers['cores'])}"
        figures.append(Figure("cores busy", busy, "of the processors that the program may use"))
    if not math.isnan(waiting := numbers["waiting_percent"]) and numbers["verdict"] != "unknown" and not are_little:
        verdict = _VERDICTS.get(str(numbers["verdict"]), "")
        about = f"of a step waits for data{verdict and f': {verdict}'}"
        figures.append(Figure(about, _units.percent(waiting)))
    if numbers["process_peak_bytes"] > 0:
        figures.append(Figure("peak memory of the process", _units.size(numbers["process_peak_bytes"])))
    return [*figures, *_of_hardware(overview)]


def _between(low_ms: float, high_ms: float) -> str:
    """Write a range of times, with one unit where both have the same."""
    low, high = _units.milliseconds(low_ms), _units.milliseconds(high_ms)
    (number, _, unit), other = low.partition(" "), high.partition(" ")[2]
    return f"{number if unit == other else low}\u2013{high}"


def _few_digits(value: float) -> str:
    return _units.count(value) if value >= _WHOLE_FROM else _units.number(value)


def _of_hardware(overview: Overview) -> list[Figure]:
    """Say what the program ran on and how it used that, where that is not just this machine's processors."""
    numbers = overview.summary
    plain = {"hosts"} if numbers["host_count"] == 1 else set()
    plain |= {"ran on"} if numbers["device_type"] == "CPU" and not numbers["drawn_by"] else set()
    plain |= set() if numbers["eager_percent"] >= _MOSTLY_EAGER else {"eager ops"}
    figures = overview_view.figures(overview)
    return [figure for figure in figures if figure.label not in plain and figure.value != _units.MISSING]


def _compositions(answer: Answer, tree: Breakdown, steps: Steps, pages: Collection[str]) -> Iterable[Panel]:
    """Show what the cell is made of, and by name what its longest kind of step is made of."""
    cell_ms = float(tree.summary["cell_ms"])
    if not cell_ms > 0:
        return
    table = tree.table
    step, inside = tree.longest_step()
    if step is None or step["share"] < _MIN_STEP_SHARE:
        about = f"{_units.milliseconds(cell_ms)}, parts by name"
        yield Composition("Where the time went", about, _parts(_with_unexplained(tree), cell_ms, pages), cell_ms)
        return
    inside_ms = float(inside["total_ms"].sum())
    yield _whole(tree, step, inside_ms, answer.whole)
    if inside_ms >= _LEAST * step["total_ms"]:
        yield _one_step(table, step, inside, steps, pages)


def _with_unexplained(tree: Breakdown) -> pd.DataFrame:
    """Return the largest parts of the cell, and what lies in none of them and has no explanation."""
    largest, table = tree.largest(_MAX_PARTS), tree.table
    inside = tuple(f"{node}/" for node in largest["id"])
    unknown = table[(table["kind"] == "unexplained") & ~table["id"].str.startswith(inside)]
    return pd.concat([largest, unknown])


def _whole(tree: Breakdown, step: pd.Series[Any], steps_ms: float, whole: str) -> Split:
    """Divide the whole into its steps, what happens once, and the largest other parts."""
    cell_ms = float(tree.summary["cell_ms"])
    parts = {f"{_units.count(step['count'])} steps": Part("", steps_ms, HOST_COMPUTE)}
    largest = tree.largest(_MAX_PARTS).to_dict("records")
    inside = f"{step['id']}/"
    for row in largest:
        once = row["kind"] in ONCE_KINDS
        if row["total_ms"] >= _MIN_STRIP * cell_ms and (once or not row["id"].startswith(inside)):
            before = parts.setdefault(_name(row), Part("", 0.0, _COLORS.get(row["kind"], OTHER)))
            parts[_name(row)] = replace(before, value=before.value + row["total_ms"])
    shown = [replace(part, label=label) for label, part in parts.items()]
    rest = cell_ms - sum(part.value for part in shown)
    shown = sorted(shown, key=lambda part: -part.value)
    shown += [Part("the rest", rest, _REST)] if rest >= _MIN_PART * cell_ms else []
    return Split(f"The {whole}: {_units.milliseconds(cell_ms)}", shown)


def _one_step(
    table: pd.DataFrame, step: pd.Series[Any], inside: pd.DataFrame, steps: Steps, pages: Collection[str]
) -> Composition:
    """Say what a step is made of: the median step, if these are the measured steps, else the mean one."""
    mean, count = float(inside["total_ms"].sum() / step["count"]), _units.count(step["count"])
    times, phases = steps.timed["step_ms"], set(steps.measured["phase"])
    same = abs(steps.table["phase"].isin(phases).sum() - step["count"]) <= _NEARLY * step["count"]
    whole = float(times.median()) if same and len(set(steps.table["host"])) == 1 else mean
    kind = "median" if whole is not mean else "mean"
    once = ", without tracing and compiling" if inside["total_ms"].sum() < (1 - _LEAST) * step["total_ms"] else ""
    about = f"{_units.milliseconds(whole)}, the {kind} of {count} steps{once}; parts by name"
    named = inside.assign(total_ms=inside["total_ms"] * (whole / inside["total_ms"].sum()))
    waits = named["kind"] == "wait"
    for at, row in named[waits].iterrows():
        named.loc[at, ["name", "place"]] = _waited_for(table, row)
    return Composition("What a step is made of", about, _parts(named, whole, pages), whole)


def _waited_for(table: pd.DataFrame, wait: pd.Series[Any]) -> tuple[str, str]:
    """Name the stage that a wait is mostly for, and its place."""
    stages = table[(table["parent"] == wait["id"]) & (table["kind"] != "other")]
    if stages.empty:
        return str(wait["name"]), str(wait["place"])
    largest = stages.iloc[int(stages["total_ms"].to_numpy().argmax())]
    return f"{wait['name']} · {largest['name']}", str(largest["place"])


def _parts(nodes: pd.DataFrame, whole_ms: float, pages: Collection[str]) -> Sequence[Part]:
    """Return a part per name, the largest first; then those that are smaller, and what has no explanation."""
    unexplained = nodes["kind"] == "unexplained"
    rows = nodes[~unexplained & (nodes["kind"] != "other") | (nodes["name"] == _BETWEEN)]
    prefix = _model(rows)
    named: dict[tuple[str, str], Part] = {}
    for row in rows.to_dict("records"):  # the same may lie in steps, between them, and in the first batch of a pass
        name, place = _title({**row, "name": str(row["name"]).removeprefix(prefix)}), str(row["place"])
        result = next((one for one in _TELL_MORE.get(row["kind"], ()) if one in pages), "")
        empty = Part(name, 0.0, _COLORS.get(row["kind"], OTHER), place, PAGES.get(result, ""))
        before = named.setdefault((name, place), empty)
        named[name, place] = replace(before, value=before.value + row["total_ms"])
    parts = sorted(named.values(), key=lambda part: -part.value)[:_MAX_PARTS]
    parts = [part for part in parts if part.value >= _MIN_PART * whole_ms]
    unknown = float(nodes.loc[unexplained, "total_ms"].sum())
    rest = whole_ms - unknown - sum(part.value for part in parts)
    left = [Part("smaller parts", rest, _REST), Part("not explained", unknown, _REST)]
    return [*parts, *(part for part in left if part.value >= _LEAST * whole_ms)]


def _model(rows: pd.DataFrame) -> str:
    """Return what the names of all layers begin with: the name of the model."""
    layers = rows.loc[rows["kind"] == "layer", "name"].astype(str)
    heads = {name.partition("/")[0] for name in layers if "/" in name}
    return f"{heads.pop()}/" if len(heads) == 1 and len(layers) > 1 else ""
