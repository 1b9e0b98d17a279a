"""All rules of advice: where they are found, and what is done with their cases.

A rule only looks for cases. Whether a case is told, how severe it is, what it gains, what it says more about than other
cases, and in which order they stand, is the same for all.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from graphlib import TopologicalSorter
from types import ModuleType
from typing import get_args

from tfprof_nb.analysis import advice
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import finding_of
from tfprof_nb.analysis.advice.rule import Cases, Earlier, Finding, Order, Rule

_SEVERITIES = ("high", "medium", "info")
_LEADING = ("first", "usual")  # of `Order`: the other findings lead only without these
_NEAR = 0.75  # of what the most severe are about
_CLEARLY_MORE = 1.2
_OF_ANY_MODEL = ("input", "python", "memory")  # groups that do not look at what runs the model


@cache
def rules() -> Mapping[str, Rule]:
    """Return the rules that the modules of this package declare, by id; the folder of a module is the rule's group."""
    own = [module for module in modules("rules") if hasattr(module, "RULE")]
    declared = [replace(module.RULE, group=module.__name__.split(".")[-2]) for module in own]
    return {rule.id: rule for rule in sorted(declared, key=lambda rule: (rule.group, rule.id))}


def belongs_to(rule: str, whole: str) -> bool:
    """Whether a rule is another one, or says more about it.

    Examples
    --------
    >>> belongs_to("no-prefetch", "input-bound"), belongs_to("small-steps", "input-bound")
    (True, False)
    """
    return whole in (rule, rules()[rule].part_of)


def known(ids: Iterable[str], said_by: str = "") -> frozenset[str]:
    """Return ids of rules, once they are known to be some; ``said_by`` names where they stand.

    Raises
    ------
    ValueError
        If one is not the id of a rule.

    Examples
    --------
    >>> known(["slow-callbacks"])
    Traceback (most recent call last):
    ValueError: There is no rule 'slow-callbacks'. Did you mean slow-callback? tfprof_nb.rules() lists all.
    """
    given = frozenset(ids)
    if wrong := sorted(given - set(rules())) if given else []:
        close = get_close_matches(wrong[0], rules(), 1)
        meant = f"Did you mean {close[0]}? " if close else ""
        place = f"{said_by}: there" if said_by else "There"
        raise ValueError(f"{place} is no rule {wrong[0]!r}. {meant}tfprof_nb.rules() lists all.")
    return given


def findings(evidence: Evidence) -> tuple[list[Finding], list[str]]:
    """Return what the rules find, and a note on each rule that failed: its fault takes nothing from the others."""
    failed = list[str]()
    found: dict[str, Sequence[Finding]] = {}
    for name, check in _checks():
        rule = rules()[name]
        if evidence.framework in rule.frameworks and not (evidence.steps_are_elsewhere and _is_of_steps(rule)):
            earlier = {name: found.get(name, ()) for name in rule.after}
            try:
                cases = [case for case in check(evidence, earlier) if not case.percent < rule.moderate]
            except Exception as error:  # noqa: BLE001
                failed.append(_failure(rule, error))
                cases = []
            own = [finding_of(rule, case, evidence) for case in cases]
            explained = _CLEARLY_MORE * sum(
                one.estimated_gain_percent for name in rule.within for one in found.get(name, ())
            )
            found[rule.id] = [one for one in own if not rule.within or one.estimated_gain_percent > explained]
    return [finding for of_rule in found.values() for finding in of_rule], failed


def _failure(rule: Rule, error: Exception) -> str:
    return (
        f"The rule {rule.id} failed ({type(error).__name__}: {error}), and the others were applied. Please report it, "
        "with this program."
    )


def _is_of_steps(rule: Rule) -> bool:
    """Whether a rule holds only where TensorFlow runs the model."""
    return rule.of_tensorflows_steps or rule.group not in _OF_ANY_MODEL


def standing(all_findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings but those of which others say more."""
    known = rules()
    less = {(rule, "") for finding in all_findings for rule in known[finding.rule].supersedes}
    less |= {case for finding in all_findings for case in finding.instead_of}
    return [finding for finding in all_findings if not _is_any(finding, less)]


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Order findings by severity; then as the rules say, those without a place as vague ones; then by the gain.

    Of the most severe, the first that is about nearly as much of the cell as any of them comes first. Those that are
    vague, or come by chance, do only without others.
    """
    findings = sorted(findings, key=lambda one: (_SEVERITIES.index(one.severity), _rank(one), -one.cell_gain_percent))
    severe = [one for one in findings if one.severity == findings[0].severity and rules()[one.rule].order in _LEADING]
    severe = severe or findings[:1]
    most = max((one.cell_percent for one in severe if one.cell_percent > 0), default=0.0)
    first = next((one for one in severe if not one.cell_percent < _NEAR * most), None)
    return [*filter(None, [first]), *(one for one in findings if one is not first)]


def _rank(finding: Finding) -> int:
    order = rules()[finding.rule].order
    return get_args(Order).index(order if finding.place or order != "usual" else "vague")


def _is_any(finding: Finding, cases: Collection[tuple[str, str]]) -> bool:
    """Whether a finding is a case of some rules, and about the place or subject where there is one."""
    names = ("", finding.place, finding.subject)
    return any(about in names and belongs_to(finding.rule, rule) for rule, about in cases)


@cache
def _checks() -> Sequence[tuple[str, Callable[[Evidence, Earlier], Cases]]]:
    """Return the check of each rule, by its id, behind those of the rules that it reads."""
    checks = {module.RULE.id: module.check for module in modules("rules") if hasattr(module, "check")}
    reads = {name: sorted({*rules()[name].after, *rules()[name].within}) for name in sorted(checks)}
    return [(name, checks[name]) for name in TopologicalSorter(reads).static_order()]


def modules(folder: str) -> list[ModuleType]:
    """Return the modules of a folder of this package, ``rules`` or one below it."""
    package = importlib.import_module(f"{advice.__name__}.{folder}")
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [importlib.import_module(module.name) for module in found]
