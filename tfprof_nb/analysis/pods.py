"""The hosts of one program side by side: the same step on each, and the host that delays the others.

Each host has its own numbers of steps and its own start of the capture, so steps are matched by the time when they ran,
as in XProf (`step_intersection.cc`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb._units import PS_PER_MS, PS_PER_NS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.steps import Steps, measured_steps

_NO_CLOCK = (
    "The files do not record when each capture began, or the times are not plausible: steps are matched as if all "
    "began at the same time."
)
_MAX_APART_NS = 10**15  # 11 days: captures that began farther apart are not one run
# Waiting for other hosts appears in these: more of them does not delay other hosts.
_WAITING = {"host_compute_ms", "device_collectives_ms", "other_ms"}


@dataclass(eq=False, kw_only=True)
class Pods(Result):
    """Steps by host; ``table`` is indexed by ``step`` and ``host``.

    Attributes
    ----------
    hosts
        The average step of each host: ``host steps``, the ``_ms`` columns of steps, ``bottleneck``.
    """

    hosts: pd.DataFrame

    @property
    def typical_hosts(self) -> list[str]:
        """The slowest host, the median one and the fastest; fewer if there are fewer."""
        in_order = self.hosts.sort_values("step_ms", ascending=False, kind="stable")["host"].tolist()
        return list(dict.fromkeys(in_order[place] for place in (0, len(in_order) // 2, -1))) if in_order else []


def pods(forests: Sequence[Forest], steps: Steps) -> Pods:
    """Compare the hosts of a profile, step by step.

    Returns
    -------
    Pods
        ``table`` has the steps that all hosts captured, numbered from 0, with the columns of ``steps`` (``start_ms``
        counts from the host's own start) and ``bottleneck``, the largest category. ``summary["slowest_host"]`` has the
        longest steps on average; ``slower_percent`` is the excess over the other hosts' average. Hosts that exchange
        gradients in every step take equally long, since they wait for each other: ``uneven_host`` spends more than the
        others on ``uneven_in``, a category other than waiting, by ``uneven_in_ms``.
    """
    by_host = {str(host): rows for host, rows in steps.table.groupby("host", sort=False)}
    origins = _origins_ps(forests)
    spans = {host: _spans(rows, origins.get(host, 0)) for host, rows in by_host.items()}
    firsts, count = align(spans)
    common = {host: slice(first, first + count) for host, first in firsts.items()}
    table = _by_step_and_host([rows.iloc[common[host]] for host, rows in by_host.items()] or [steps.table])
    hosts = _averages(table if count else steps.table)
    notes = _notes(forests, steps, hosts, count)
    if len(by_host) > 1:
        notes += _clock_notes(bool(origins), [(s[common[h]], e[common[h]]) for h, (s, e) in spans.items()])
    return Pods(table, _summary(forests, hosts, count), notes, hosts=hosts)


def align(spans: dict[str, tuple[Int64, Int64]]) -> tuple[dict[str, int], int]:
    """Match the steps of several hosts by time.

    The host whose steps span the shortest time leads. The steps of every other host are shifted against its steps, by
    the number of steps that maximises the overlap of matched steps; only steps that all hosts have are kept.

    Parameters
    ----------
    spans
        Each host's step starts and ends, ascending, in picoseconds of one clock.

    Returns
    -------
    tuple
        The position of the first common step on each host, and the number of common steps.

    Examples
    --------
    >>> a, b = np.arange(0, 50, 10), np.arange(20, 70, 10)
    >>> align({"a": (a, a + 10), "b": (b, b + 10)})
    ({'a': 2, 'b': 0}, 3)
    """
    if not spans:
        return {}, 0
    lead = min(spans, key=lambda host: int(np.ptp(np.concatenate(spans[host]))) if len(spans[host][0]) else 0)
    shifts = {host: 0 if host == lead else _best_shift(spans[host], spans[lead]) for host in spans}
    first = max(0, *shifts.values())
    last = min(shifts[host] + len(start) for host, (start, _) in spans.items())
    return {host: first - shift for host, shift in shifts.items()}, max(0, last - first)


def _best_shift(steps: tuple[Int64, Int64], lead: tuple[Int64, Int64]) -> int:
    """Return the number of steps of the leading host before the other host's first step.

    Of shifts with equal overlap it is the first of 0, 1, 2, ..., -1, -2, ..., as in XProf. Both arguments are the
    starts and ends of a host's steps, in picoseconds.
    """
    (start, end), (lead_start, lead_end) = steps, lead
    if not len(start) or not len(lead_start):
        return 0
    # For each step, the range of the leading host's steps that may overlap it.
    low = np.searchsorted(np.maximum.accumulate(lead_end), start, side="right")
    high = np.maximum(np.searchsorted(lead_start, end, side="left"), low)
    mine = np.repeat(np.arange(len(start)), high - low)
    theirs = np.arange(len(mine)) - np.repeat(np.cumsum(high - low) - high, high - low)
    overlap = np.minimum(end[mine], lead_end[theirs]) - np.maximum(start[mine], lead_start[theirs])
    shared = np.zeros(len(start) + len(lead_start) - 1, dtype=np.int64)
    np.add.at(shared, theirs - mine, np.maximum(overlap, 0))  # a negative shift counts from the end
    candidates = np.concatenate([np.arange(len(lead_start)), -np.arange(1, len(start))])
    return int(candidates[np.argmax(shared[candidates])])


def _origins_ps(forests: Sequence[Forest]) -> dict[str, int]:
    """Return each host's time 0, after the first host's; empty if that is not recorded, or not plausible."""
    began_ns = {forest.host.name: forest.host.began_ns for forest in forests}
    if not all(began_ns.values()) or max(began_ns.values()) - min(began_ns.values()) > _MAX_APART_NS:
        return {}
    return {host: (began - min(began_ns.values())) * PS_PER_NS for host, began in began_ns.items()}


def _spans(rows: pd.DataFrame, origin_ps: int) -> tuple[Int64, Int64]:
    """Return starts and ends (ps) of one host's steps on the common clock."""
    start, length = (np.rint(rows[name].to_numpy() * PS_PER_MS).astype(np.int64) for name in ("start_ms", "step_ms"))
    return start + origin_ps, start + origin_ps + length


def _by_step_and_host(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    table = pd.concat([rows.reset_index(drop=True) for rows in parts]).rename_axis("step").sort_index(kind="stable")
    return table.assign(bottleneck=_largest_part(table)).set_index("host", append=True)


def _averages(table: pd.DataFrame) -> pd.DataFrame:
    by_host = measured_steps(table).groupby("host", sort=False)
    means = by_host[["step_ms", *PARTS]].mean()
    return means.assign(steps=by_host.size(), bottleneck=_largest_part(means)).reset_index()


def _largest_part(times: pd.DataFrame) -> Objects:
    """Name the part of each row that takes most of its time."""
    largest: Objects = np.array(PARTS, dtype=object)[times[PARTS].to_numpy().argmax(axis=1)]
    return largest


def _summary(forests: Sequence[Forest], hosts: pd.DataFrame, count: int) -> dict[str, object]:
    """Name the slowest host, and the category on which it spends more time than the others on average."""
    summary: dict[str, object] = {"host_count": len(forests), "steps": count, "slowest_host": None}
    if not len(hosts):
        return summary
    is_slowest = hosts.index == hosts["step_ms"].idxmax()
    summary["slowest_host"] = hosts.loc[is_slowest, "host"].iloc[0]
    if len(hosts) == 1:
        return summary
    slowest, others = (hosts.loc[rows, ["step_ms", *PARTS]].mean() for rows in (is_slowest, ~is_slowest))
    excess = slowest - others
    slower_in = str(excess[PARTS].idxmax())
    return summary | {
        "slower_percent": float(100 * excess["step_ms"] / others["step_ms"]),
        "slower_in": slower_in,
        "slower_in_ms": float(excess[slower_in]),
        **_uneven(hosts),
    }


def _uneven(hosts: pd.DataFrame) -> dict[str, object]:
    """Name the host with the largest excess over the others' average, in a category other than waiting for them."""
    own = hosts[[part for part in PARTS if part not in _WAITING]]
    excess = own - (own.sum() - own) / (len(hosts) - 1)
    row, column = divmod(int(excess.to_numpy().argmax()), excess.shape[1])
    return {
        "uneven_host": hosts["host"].iloc[row],
        "uneven_in": own.columns[column],
        "uneven_in_ms": float(excess.to_numpy()[row, column]),
    }


def _notes(forests: Sequence[Forest], steps: Steps, hosts: pd.DataFrame, count: int) -> list[str]:
    if not len(steps.table):
        return list(steps.notes)
    if len(forests) == 1:
        return ["This profile has only one host: there is nothing to compare."]
    without = [forest.host.name for forest in forests if forest.host.name not in set(hosts["host"])]
    notes = [f"No steps to compare on {', '.join(without)}."] if without else []
    longest = int(steps.table.groupby("host").size().max())
    if not count:
        notes.append("No step was captured on all hosts: averages are over each host's own steps.")
    elif count < longest:
        notes.append(f"The {count} steps that all hosts captured are compared; one host captured {longest}.")
    return notes


def _clock_notes(absolute: bool, matched: Sequence[tuple[Int64, Int64]]) -> list[str]:
    """Say why matching by time may be unreliable."""
    if not absolute:
        return [_NO_CLOCK]
    shared = np.min([end for _, end in matched], axis=0) > np.max([start for start, _ in matched], axis=0)
    if len(shared) and not shared.any():
        return ["Matched steps do not overlap in time: the hosts' clocks differ, and steps are matched by their order."]
    return []
