"""The tree of one cell, put together: each piece of the main thread's time goes to a node, or is shared among nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.breakdown.activities import Doing, activities
from tfprof_nb.analysis.breakdown.code_of_samples import NEAR, SampledCode
from tfprof_nb.analysis.breakdown.functions import Part, Work, place_of_frame, stage_in_words, work
from tfprof_nb.analysis.breakdown.main_thread import MainThread
from tfprof_nb.analysis.breakdown.phases import (
    VALIDATION,
    call_places,
    keras_phases,
    loop_phases,
    loop_places,
    span_at,
    step_spans,
)
from tfprof_nb.analysis.breakdown.sharing import shared
from tfprof_nb.analysis.breakdown.tree import ROOT, Tree
from tfprof_nb.analysis.events.intervals import covered_at
from tfprof_nb.analysis.events.names import function_name
from tfprof_nb.analysis.events.op_labels import on_device_timeline
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.steps.activities import tracing_spans
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.steps.unrecorded import stand_for_others, waits_of_first
from tfprof_nb.analysis.tf_data.tf_data import host_stages
from tfprof_nb.decode.sections.cell import Cell
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.marks import CALLBACK, CELL_LINE, KERAS_CALL, MODEL_FILE
from tfprof_nb.formats.xspace import DISPATCH

_NO_OWNER = -1
_LEAST_PS = 1.0  # what sums of parts of moments leave by rounding
_MOST_PER_SAMPLE = 10  # intervals of Python that one sample tells of: where fewer tell more, Python kept the lock
_MIN_PLACED = 0.02  # of the time of functions: an op whose line is looked for in the samples
_MOST = 0.5  # of the samples in which an op runs: they tell its line
_PARTS = {
    Doing.CALLING: ("calls", "calls of ops", "op"),
    Doing.WAITING: ("wait", "waiting for data", "wait"),
    Doing.STARTING: ("start", "creating an iterator", "start"),
    Doing.ENDING: ("end", "deleting an iterator", "start"),
    Doing.COMPILING: ("compile", "compiling by XLA", "compile"),
    Doing.PROFILING: ("profiler", "tfprof_nb", "other"),
}
_MARKED = (Doing.TRACING, Doing.COMPILING, Doing.STORING, Doing.WAITING)
_FILES = ("load", "save")
_ONCE = ("trace", "compile", *_FILES, "start", "callback")
_STEADY = "\0"  # ends the part of an id that stands for the recorded steady steps, until these are counted for all
_NOT_RECORDED = ("unrecorded", "ops that were not recorded", "other")
_FIRST_BATCH = ("first_batch", "first batch of a pass", "start")
_EAGER = ("eager", "eager ops", "op")
_OPTIMIZER = ("optimizer", "optimizer", "optimizer")
_BETWEEN = ("between_ops", "TensorFlow between ops", "other")
_UNEXPLAINED = ("unexplained", "unexplained", "unexplained")


class Assembly:
    """Puts the tree of one cell together. Columns have an entry per piece of the main thread's time."""

    def __init__(
        self,
        thread: MainThread,
        code: SampledCode,
        text: Code,
        steps: Steps,
        graphs: Graphs,
        cell: Cell,
        labels: Mapping[str, str],
    ) -> None:
        self._thread, self._code, self._text, self._cell = thread, code, text, cell
        self._graphs, self._labels = graphs, labels
        self._tree, self._hits = Tree(), dict[str, int]()
        forest = thread.forest
        table = steps.table[steps.table["host"] == forest.host.name].sort_values("start_ms", kind="stable")
        self._steps, self._step_spans = table, step_spans(table)
        self._devices = bool(on_device_timeline(forest).any())
        self._work = work(forest, graphs, devices=False)
        self._device_work = work(forest, graphs, devices=True) if self._devices else None
        self._cut()
        self._find_phases()
        self._name_owners()

    def tree(self) -> Tree:
        """Return the tree: each piece is given to one of its nodes, or shared among several."""
        self._add_code()
        self._add_activities()
        self._join_files()
        self._add_work()
        self._add_unrecorded()
        self._count_lines()
        self._count_steps()
        return self._tree

    def line(self) -> tuple[str, float]:
        """Return the line in which most time passes, with what it calls of libraries, and its share of the cell."""
        places = np.append(self._code.codes["place"].to_numpy(dtype=object), "")
        rows = np.append(self._code.code, -1)[self._sample]
        of_row = np.bincount(rows + 1, weights=self._pieces.length_ps, minlength=len(places))
        times = pd.Series(of_row).groupby(np.roll(places, 1)).sum().drop("")
        if times.empty or not times.max() > 0:
            return "", 0.0
        return str(times.idxmax()), float(times.max() / of_row.sum())

    # What goes on in each piece

    def _cut(self) -> None:
        """Cut the time where anything changes, and say what the thread did in each piece."""
        thread = self._thread
        doing, anchor = activities(thread)
        traced, start, end = tracing_spans(thread.forest)
        mine = np.isin(traced, thread.events)
        traced, start, end = traced[mine], start[mine], end[mine]
        # Other events change nothing: they are parts of what is known of those around them.
        names = thread.starts_with(KERAS_CALL, CALLBACK, CELL_LINE, "MakeIterator::")
        names[np.searchsorted(thread.events, traced)] = True
        changing = names | (anchor == np.arange(len(anchor)))
        place = np.append(np.cumsum(changing) - 1, -1)
        doing, anchor = doing[changing], place[anchor[changing]]
        self._thread = thread = thread.only(changing)
        self._traced_call = thread.outermost_of(np.isin(thread.events, traced))
        busy_from, busy_to = self._busy()
        pieces = thread.pieces().cut(np.concatenate([*self._step_spans, start, end, busy_from, busy_to]))
        event = pieces.event
        self._doing = np.where(event >= 0, np.append(doing, 0)[event], Doing.PYTHON)
        self._anchor = np.append(anchor, -1)[event]
        if not len(thread.events) and not len(self._code.at_ps):
            self._doing[:] = Doing.FUNCTION
        tracing = covered_at(start, end, pieces.middle_ps)
        self._doing[tracing & (self._doing != Doing.COMPILING)] = Doing.TRACING
        python = self._doing == Doing.PYTHON
        samples = self._code.at_ps
        middles = np.concatenate([samples[:-1] + np.diff(samples) // 2, self._code.ends_ps()])
        in_python = python[np.clip(np.searchsorted(pieces.bounds, middles, side="right") - 1, 0, len(python) - 1)]
        whole = pieces
        self._pieces = pieces = whole.cut(middles[in_python])
        before_cut = np.searchsorted(whole.bounds, pieces.start_ps, side="right") - 1
        self._from = np.minimum(before_cut, len(self._doing) - 1)  # the piece before this cut; one, of no time at all
        self._doing, self._anchor = self._doing[self._from], self._anchor[self._from]
        self._busy_now = covered_at(busy_from, busy_to, pieces.middle_ps)
        self._whole_length = whole.length_ps[self._from]
        self._sample = self._code.nearest(pieces.middle_ps)
        place = np.searchsorted(pieces.bounds, samples, side="right") - 1
        self._sampled_piece = np.where((place >= 0) & (place < len(self._doing)), place, -1)  # of each sample

    def _busy(self) -> tuple[Int64, Int64]:
        """Return when any device is busy: stretches in order that do not overlap."""
        if self._device_work is None or not len(self._device_work.claims.key):
            none = np.zeros(0, dtype=np.int64)
            return none, none
        claims = self._device_work.claims
        order = np.argsort(claims.start_ps, kind="stable")
        start, reach = claims.start_ps[order], np.maximum.accumulate(claims.end_ps[order])
        begins = np.flatnonzero(np.append(True, start[1:] > reach[:-1]))
        return start[begins], reach[np.append(begins[1:], len(start)) - 1]

    # Where each piece belongs

    def _find_phases(self) -> None:
        """Say for each piece which phase, step and callback it is in."""
        thread, pieces, event = self._thread, self._pieces, self._pieces.event
        call, callback, call_names = keras_phases(thread)
        call, callback = np.append(call, -1)[event], np.append(callback, -1)[event]
        start, end = self._step_spans
        step = span_at(start, end, pieces.middle_ps)
        calls = np.unique(call[call >= 0])
        places = call_places(thread, calls, self._code)
        names = [*zip(call_names[calls], places, strict=True)]
        phase = np.where(call >= 0, np.searchsorted(calls, call), -1)
        middle = start + (end - start) // 2
        of_call = np.append(call, -1)[np.searchsorted(pieces.bounds, middle, side="right").clip(1, len(call)) - 1]
        loops = loop_phases(self._steps, start, end, np.append(call_names, "")[of_call])
        loop = span_at(loops["start_ps"].to_numpy(np.int64), loops["end_ps"].to_numpy(np.int64), pieces.middle_ps)
        validates = np.append(loops["name"].to_numpy(dtype=object) == VALIDATION, False)[loop]
        in_loop = (loop >= 0) & ((call < 0) | validates)
        phase[in_loop] = len(calls) + loop[in_loop]
        heads = loop_places(loops, self._code, self._text)
        first = np.searchsorted(pieces.bounds, loops["start_ps"].to_numpy(np.int64), side="right") - 1
        around = np.append(call, -1)[first]
        within = np.append(places, "")[np.where(around >= 0, np.searchsorted(calls, around), -1)]
        names += [*zip(loops["name"], np.where(within != "", within, heads), strict=True)]
        # A step inside a callback is the callback's.
        began = np.append(thread.start_ps, 0)[callback]
        inside = (callback >= 0) & (step >= 0) & (began < np.append(start, 0)[step])
        self._step = np.where(inside | (phase < 0), -1, step)
        self._callback = callback
        # What goes on in steps whose ops were not recorded is known only as far as it leaves marks, as fetches from
        # Python do: what is outside of the calls of ops and sessions, if these are among a step's marks, is Python.
        recorded = np.append(self._steps["ops_recorded"].to_numpy(dtype=bool), True)[self._step]
        told = np.isin(self._step, self._step[np.isin(self._doing, (Doing.CALLING, Doing.FUNCTION))])
        known = np.isin(self._doing, _MARKED) | (told & (self._doing == Doing.PYTHON))
        self._unrecorded = ~recorded & (callback < 0) & ~known
        self._fetching = ~recorded & (self._doing == Doing.WAITING)
        self._is_steady = np.append(stand_for_others(self._steps), False)[self._step]
        nodes = self._phase_nodes(names)
        self._phase = np.append(np.array(nodes, dtype=object), ROOT)[phase]
        for number in range(len(calls)):
            self._tree.nodes[nodes[number]].count += 1
        for node in dict.fromkeys(nodes[len(calls) :]):
            self._tree.nodes[node].count += 1

    def _phase_nodes(self, names: list[tuple[str, str]]) -> list[str]:
        """Return the node of each phase: those of one name at one place are one."""
        places: dict[str, set[str]] = {}
        for name, place in names:
            places.setdefault(name, set()).add(place)
        several = {name for name, its in places.items() if len(its) > 1}
        return [
            self._tree.child(ROOT, f"{name}@{_short(place)}" if name in several else name, name, "phase", place)
            for name, place in names
        ]

    def _name_owners(self) -> None:
        """Make the nodes under which the parts of pieces hang, and number them."""
        in_step = self._step >= 0
        callback = np.where(self._callback >= 0, np.append(self._thread.name, 0)[self._callback], -1)
        phases, _ = pd.factorize(self._phase)
        number = (phases * 3 + in_step + self._is_steady) * (int(callback.max(initial=0)) + 2) + callback + 1
        self._owner, self._owners = _numbered(number, self._owner_node)

    def _owner_node(self, piece: int) -> str:
        node = str(self._phase[piece])
        if self._step[piece] >= 0:
            step = self._tree.child(node, "step", "step", "step")
            node = self._tree.child(node, f"step{_STEADY}", "step", "step") if self._is_steady[piece] else step
        if (callback := int(self._callback[piece])) >= 0:
            name = str(self._thread.names[self._thread.name[callback]]).removeprefix(CALLBACK)
            node = self._tree.child(node, f"callback:{name}", name, "callback")
        return node

    def _count_lines(self) -> None:
        """Count how often lines of the cell ran, which is known of all steps."""
        for node in self._hits.keys() & self._tree.nodes.keys():
            self._tree.nodes[node].count = self._hits[node]

    def _count_steps(self) -> None:
        tree = self._tree
        for events in (self._step, self._callback):
            pairs = pd.DataFrame({"owner": self._owner, "event": events})[events >= 0].drop_duplicates()
            for owner in pairs["owner"]:
                node = tree.nodes[self._owners[owner]]
                node.count += node.kind == ("callback" if events is self._callback else "step")

    # What each piece is given to

    def _add_code(self) -> None:
        """Give the time of Python to the user's lines, and what TensorFlow does for calls with names to these."""
        code, length = self._code, self._pieces.length_ps
        rows = np.append(code.code, -1)[self._sample]
        kinds = np.append(code.codes["kind"].to_numpy(dtype=object), "")[rows]
        whole = np.append(code.codes["whole"].to_numpy(bool), False)[rows]
        inside, piece_of = self._sampled_piece >= 0, np.maximum(self._sampled_piece, 0)
        # The nearest sample may be of the reading or writing of a file that follows: that tells of no other owner.
        sampled_owner = np.append(np.where(inside, self._owner[piece_of], -1), -1)[self._sample]
        elsewhere = np.isin(kinds, _FILES) & (sampled_owner != self._owner)
        rows, whole = np.where(elsewhere, -1, rows), whole & ~elsewhere
        stored = whole & np.isin(kinds, _FILES)
        one_by_one = np.isin(self._doing, (Doing.CALLING, Doing.OP, Doing.COPYING, Doing.PYTHON))
        calling = (stored & (self._doing != Doing.STORING)) | (whole & one_by_one)
        calling &= ~self._busy_now & ~self._unrecorded
        python = (self._doing == Doing.PYTHON) & ~calling & ~self._busy_now & ~self._unrecorded
        near = np.append(self._from[piece_of], -2)[self._sample]
        direct = python & (self._sample >= 0) & (near == self._from) & np.append(inside, False)[self._sample]
        amounts, calls = np.zeros((2, len(self._owners), len(code.codes) + 1))
        np.add.at(amounts, (self._owner[direct], rows[direct]), length[direct])
        np.add.at(calls, (self._owner[calling], rows[calling]), length[calling])
        brief = self._whole_length <= NEAR * code.interval_ps
        shares = python & ~direct & brief
        alone = python & ~direct & ~brief  # long, and not near a sample of its own
        np.add.at(amounts, (self._owner[alone], np.full(alone.sum(), len(code.codes))), length[alone])
        pooled = np.bincount(self._owner[shares], weights=length[shares], minlength=len(self._owners))
        in_python = inside & python[piece_of]
        for owner in np.flatnonzero(pooled).tolist():
            mine = in_python & (self._owner[piece_of] == owner)
            voters = mine & brief[piece_of] if (mine & brief[piece_of]).any() else mine
            if pooled[owner] > _MOST_PER_SAMPLE * voters.sum() * code.interval_ps:
                voters = inside & (self._owner[piece_of] == owner)
            if voters.any():
                weights = np.bincount(code.code[voters], minlength=amounts.shape[1]).astype(float)
                amounts[owner] += pooled[owner] * weights / weights.sum()
            else:
                these = shares & (self._owner == owner)
                np.add.at(amounts[owner], rows[these], length[these])  # the nearest sample, or none: the last column
        hits = self._cell.times["occurrences"] if len(self._cell.times) else pd.Series(dtype=np.int64)
        # Where Python is known in all steps, that of steady steps stands for no others.
        if not (self._unrecorded & (self._doing == Doing.PYTHON)).any():
            owners = [owner.replace(_STEADY, "") for owner in self._owners]
        else:
            owners = self._owners
        for mine, of_owner in ((owners, amounts), (self._owners, calls)):
            owner_of, row_of = np.nonzero(of_owner)
            largest_first = np.argsort(-of_owner[owner_of, row_of], kind="stable")  # a line is named by what takes most
            for owner, row in zip(owner_of[largest_first].tolist(), row_of[largest_first].tolist(), strict=True):
                self._tree.add(self._code_node(mine[owner], row, hits), of_owner[owner, row])
        self._left = ~python & ~calling & ~self._unrecorded

    def _code_node(self, owner: str, row: int, hits: pd.Series[int]) -> str:
        if row == len(self._code.codes):
            return self._tree.child(owner, *_UNEXPLAINED)
        kind, name, place, _whole = self._code.codes.iloc[row]
        if kind == "unexplained":
            return self._tree.child(owner, *_UNEXPLAINED)
        if kind == "keras" and self._tree.nodes[owner].kind == "callback":
            return owner
        part = name if kind in ("load", "save", "session", "other") else kind
        node = self._tree.child(owner, f"{part}:{_short(place)}", name, kind, place)
        file, line = line_at(place)
        if file == "cell" and line in hits.index:
            self._hits[node.replace(_STEADY, "")] = int(hits[line])
        return node

    def _add_activities(self) -> None:
        """Give time to what the events of the main thread name."""
        chosen = self._left & ~self._busy_now & (self._doing != Doing.FUNCTION) & (self._doing != Doing.WAITING)
        pieces = np.flatnonzero(chosen)
        name = np.append(self._thread.name, 0)[np.where(self._anchor >= 0, self._anchor, -1)][pieces]
        inner = np.append(self._thread.name, 0)[self._pieces.event][pieces]
        detail = np.where(self._doing[pieces] == Doing.STARTING, inner, name)
        call = np.append(self._traced_call, -1)[self._pieces.event[pieces]]
        tracing = self._doing[pieces] == Doing.TRACING
        detail[tracing] = np.where(call >= 0, np.append(self._thread.name, 0)[call], len(self._thread.names) - 1)[
            tracing
        ]
        names = len(self._thread.names) + 1
        stored = self._doing[pieces] == Doing.STORING
        detail = np.where(stored, names + self._anchor[pieces], detail)  # each by itself: it has a line of its own
        number = (self._owner[pieces] * (len(Doing) + 1) + self._doing[pieces]) * (
            names + len(self._thread.events)
        ) + detail
        detail = np.where(stored, name, detail)
        group, nodes = _numbered(number, lambda place: self._activity_node(int(pieces[place]), int(detail[place])))
        time = np.bincount(group, weights=self._pieces.length_ps[pieces], minlength=len(nodes))
        # A function is traced once with all that it calls.
        anchor = np.where(tracing & (call >= 0), len(self._thread.events) + call, self._anchor[pieces])
        _, once = np.unique(anchor, return_index=True)
        counts = np.bincount(group[once], minlength=len(nodes))
        for node, spent, count in zip(nodes, time.tolist(), counts.tolist(), strict=True):
            self._tree.add(node, spent, count)
        self._place_nodes(nodes, group, pieces)

    def _join_files(self) -> None:
        """Let what samples show of the reading or writing of a model belong to the event of that, if there is one."""
        files = {one: node for one, node in self._tree.nodes.items() if node.kind in _FILES}
        events = {(node.parent, node.kind, node.place): one for one, node in files.items() if node.count}
        for identity, node in files.items():
            event = events.get((node.parent, node.kind, node.place))
            if event and not node.count:
                self._tree.merge(identity, event)

    def _place_nodes(self, nodes: list[str], group: Int64, pieces: Int64) -> None:
        """Note for each node without a place the line that most samples within its pieces show."""
        group_of = np.full(len(self._owner) + 1, -1, dtype=np.int64)
        group_of[pieces] = group
        votes = pd.DataFrame({"node": group_of[self._sampled_piece], "row": self._code.code})
        votes = votes[votes["node"] >= 0].assign(place=lambda own: self._code.codes["place"].to_numpy()[own["row"]])
        counts: pd.Series[Any] = votes[votes["place"] != ""].groupby(["node", "place"])["row"].size()
        best: Any = counts.groupby(level=0).idxmax()
        for number, place in best.tolist():
            if not self._tree.nodes[nodes[number]].place:
                self._tree.nodes[nodes[number]].place = place

    def _activity_node(self, piece: int, detail: int) -> str:
        owner, doing = self._owners[self._owner[piece]], Doing(self._doing[piece])
        name = str(self._thread.names[detail]) if self._anchor[piece] >= 0 else ""
        match doing:
            case Doing.OP:
                op = name.removeprefix(DISPATCH)
                return self._tree.child(self._tree.child(owner, *_EAGER), f"op:{op}", op, "op")
            case Doing.CALLING:
                return self._tree.child(self._tree.child(owner, *_EAGER), *_PARTS[doing])
            case Doing.COPYING:
                return self._tree.child(owner, f"copy:{name}", name, "copy")
            case Doing.TRACING:
                function = self._traced_name(piece)
                return self._tree.child(owner, f"trace:{function}".rstrip(":"), f"tracing {function}".rstrip(), "trace")
            case Doing.STORING:
                call = name.removeprefix(MODEL_FILE)
                kind = "save" if "save" in call.rpartition(".")[2] else "load"
                place = self._place_within(int(self._anchor[piece]))
                return self._tree.child(owner, f"{call}:{_short(place)}".rstrip(":"), call, kind, place)
            case Doing.STARTING:
                start = self._tree.child(owner, *_PARTS[doing])
                stage = name.partition("::")[2]
                return self._tree.child(start, stage, stage, "start") if stage else start
        return self._tree.child(owner, *_PARTS[doing])

    def _place_within(self, event: int) -> str:
        """Return the line that most samples within an event show."""
        times = self._thread.start_ps[event], self._thread.end_of_ps[event]
        first, last = np.searchsorted(self._code.at_ps, times)
        rows = np.bincount(self._code.code[first:last])
        return str(self._code.codes["place"].iloc[rows.argmax()]) if len(rows) else ""

    def _traced_name(self, piece: int) -> str:
        """Return the function that a piece of tracing is of; empty if no call of it was recorded."""
        event = self._pieces.event[piece]
        call = int(self._traced_call[event]) if event >= 0 else -1
        return str(self._thread.names[self._thread.name[call]]) if call >= 0 else ""

    def _add_work(self) -> None:
        """Share the waits for functions among the ops and kernels that ran, and waits for data among stages."""
        thread = self._thread
        functions = self._left & ~self._busy_now & (self._doing == Doing.FUNCTION)
        fetches = self._left & ~self._busy_now & (self._doing == Doing.WAITING)
        called = np.where(self._doing == Doing.FUNCTION, np.append(thread.name, 0)[self._anchor], -1)
        outside = np.isin(self._phase, (ROOT,)) & (self._anchor >= 0) & functions
        number = self._owner * (len(thread.names) + 2) + np.where(outside, called + 1, 0)
        owner, nodes = _numbered(number, lambda piece: self._function_node(piece, outside=bool(outside[piece])))
        waited = np.zeros(len(nodes))
        np.add.at(waited, owner[fetches], self._pieces.length_ps[fetches])
        waited += self._share(self._work, functions, owner, nodes, _BETWEEN if len(thread.events) else _UNEXPLAINED)
        if self._device_work is not None:
            waited += self._share(self._device_work, self._busy_now, owner, nodes, _UNEXPLAINED)
        self._add_waits(waited, functions | fetches, owner, nodes)
        _, once = np.unique(np.where(outside, self._anchor, -1), return_index=True)
        for piece in once[outside[once]].tolist():
            self._tree.nodes[nodes[owner[piece]]].count += 1
        self._place_nodes(nodes, owner[outside], np.flatnonzero(outside))
        self._place_ops(functions, owner, nodes)

    def _place_ops(self, functions: Bools, owner: Int64, nodes: list[str]) -> None:
        """Note the lines that run ops of which no line is known, and the time between ops, as samples show them."""
        claims, parts, at_ps = self._work.claims, self._work.parts, self._code.at_ps
        calling = (self._sampled_piece >= 0) & functions[np.maximum(self._sampled_piece, 0)]
        nobody = calling & ~covered_at(claims.start_ps, claims.end_ps, at_ps)
        for samples in (nobody, calling):
            self._place_sampled(samples, owner, [f"{node}/{_BETWEEN[0]}" for node in nodes], 0.0)
        least_ps = _MIN_PLACED * float(self._pieces.length_ps[functions].sum())
        for key, part in enumerate(parts):
            below = [f"{node}/op:{part.name}" for node in nodes]
            large = sum(self._tree.nodes[one].self_ps for one in below if one in self._tree.nodes) >= least_ps
            if part.kind == "op" and part.frame < 0 and large:
                mine = claims.key == key
                runs = calling & covered_at(claims.start_ps[mine], claims.end_ps[mine], at_ps)
                for samples in (runs, calling):
                    self._place_sampled(samples, owner, below, _MOST)

    def _place_sampled(self, chosen: Bools, owner: Int64, nodes: list[str], least: float) -> None:
        """Note for each owner's node without a place the line of most chosen samples, at least a part of them."""
        places = self._code.codes["place"].to_numpy(dtype=object)[self._code.code[chosen]]
        votes = pd.DataFrame({"owner": owner[self._sampled_piece[chosen]], "place": places})
        for number, its in votes.groupby("owner")["place"]:
            node, shares = self._tree.nodes.get(nodes[int(str(number))]), its.value_counts(normalize=True)
            if node and not node.place and shares.iloc[0] >= least:
                node.place = str(shares.index[0])

    def _function_node(self, piece: int, *, outside: bool) -> str:
        node: str = self._owners[self._owner[piece]]
        if not outside:
            return node
        event = int(self._anchor[piece])
        name = str(self._thread.names[self._thread.name[event]]).removeprefix(DISPATCH)
        name = function_name(name)
        return self._tree.child(node, f"function:{name}", name, "op")

    def _share(self, done: Work, chosen: Bools, owner: Int64, nodes: list[str], rest: tuple[str, str, str]) -> Floats:
        """Share the time of some pieces among what ran; return per node the time of the wait for data."""
        owners = np.where(chosen, owner, _NO_OWNER)
        amounts = shared(self._pieces, owners, done.claims, len(nodes), len(done.parts), done.behind)
        whole = np.bincount(owner[chosen], weights=self._pieces.length_ps[chosen], minlength=len(nodes))
        amounts[amounts < _LEAST_PS] = 0.0
        largest_first = np.argsort(-amounts.sum(axis=0), kind="stable")  # a type of op is placed by what takes most
        for part in largest_first[~done.waits[largest_first]].tolist():
            for number in np.flatnonzero(amounts[:, part]).tolist():
                self._tree.add(self._part_node(nodes[number], done.parts[part]), amounts[number, part])
        left = whole - amounts.sum(axis=1)
        for number in np.flatnonzero(left > _LEAST_PS).tolist():
            self._tree.add(self._tree.child(nodes[number], *rest), left[number])
        waits: Floats = amounts[:, done.waits].sum(axis=1)
        return waits

    def _add_unrecorded(self) -> None:
        """Let steps whose ops were not recorded be made of the same parts as the steady ones whose ops were."""
        time = np.bincount(self._owner, weights=self._pieces.length_ps * self._unrecorded, minlength=len(self._owners))
        fetches = {"owner": self._owner[self._fetching], "call": self._anchor[self._fetching]}
        fetched = pd.DataFrame(fetches).drop_duplicates()["owner"].value_counts()
        waits_ps = np.append(waits_of_first(self._steps), 0.0)[self._step] * PS_PER_MS
        waits = pd.DataFrame({"owner": self._owner, "step": self._step, "wait_ps": waits_ps})[self._unrecorded]
        waited = waits[waits["wait_ps"] > 0].drop_duplicates("step").groupby("owner")["wait_ps"]
        for number in np.flatnonzero(time).tolist():
            owner = self._owners[number]
            first = f"{owner}{_STEADY}/{_FIRST_BATCH[0]}"
            below = self._tree.below(owner + _STEADY).items()
            parts = [node for identity, node in below if not identity.startswith(first) and node.kind not in _ONCE]
            if number in fetched.index:
                parts = [node for node in parts if node.kind != "wait"]
                self._tree.add(self._tree.child(owner, *_PARTS[Doing.WAITING]), 0.0, int(fetched[number]))
            elif number in waited.groups:
                wait_ps = min(time[number], waited.get_group(number).sum())
                self._tree.add(self._tree.child(owner, *_FIRST_BATCH), wait_ps, len(waited.get_group(number)))
                time[number] -= wait_ps
            known = sum(node.self_ps for node in parts)
            if not known:
                self._tree.add(self._tree.child(owner, *_NOT_RECORDED), time[number])
                continue
            times = 1 + time[number] / known
            for node in parts:
                node.self_ps *= times
                node.count = round(node.count * times)
        for owner in dict.fromkeys(self._owners):
            if _STEADY in owner:
                self._tree.merge(owner, owner.replace(_STEADY, ""))
        self._owners = [owner.replace(_STEADY, "") for owner in self._owners]

    def _part_node(self, owner: str, part: Part) -> str:
        child = self._tree.child
        match part.kind:
            case "layer":
                place = place_of_frame(self._graphs, part.frame, self._labels)
                layer = child(owner, f"layer:{part.name}", part.name, "layer", place)
                return child(layer, part.part, part.part, "layer", place)
            case "optimizer":
                return child(owner, *_OPTIMIZER)
        return child(owner, f"op:{part.name}", part.name, "op", place_of_frame(self._graphs, part.frame, self._labels))

    def _add_waits(self, waited: Floats, chosen: Bools, owner: Int64, nodes: list[str]) -> None:
        """Divide the waits for data among the stages of the pipelines that delayed the calls begun meanwhile."""
        delays = self._delays(chosen, owner)
        for number in np.flatnonzero(waited > 0).tolist():
            node = self._tree.child(nodes[number], *_PARTS[Doing.WAITING])
            its = delays[delays["owner"] == number]
            known = float(its["critical_ps"].sum())
            scale = min(1.0, waited[number] / known) if known else 0.0
            for _, is_first, stage, critical_ps, calls in its.itertuples(index=False):
                above = self._tree.child(nodes[number], *_FIRST_BATCH) if is_first else node
                self._tree.nodes[above].count = max(self._tree.nodes[above].count, calls)
                name, function, place = stage_in_words(self._graphs, stage, self._labels)
                part = self._tree.child(above, name, f"{name}: {function}" if function else name, "wait", place)
                self._tree.add(part, critical_ps * scale, calls)
            slowest = its.sort_values("critical_ps", ascending=False, kind="stable").drop_duplicates("first")
            for _, is_first, stage, critical_ps, _ in slowest.itertuples(index=False):
                above = f"{nodes[number]}/{_FIRST_BATCH[0]}" if is_first else node
                name, _, _ = stage_in_words(self._graphs, stage, self._labels)
                self._name_feeders(f"{above}/{name}", number, bool(is_first), critical_ps * scale)
            self._tree.add(node, max(waited[number] - known * scale, 0.0))

    def _name_feeders(self, stage: str, owner: int, first: bool, time_ps: float) -> None:
        """Give the time of the slowest stage to the lines of Python that ran for it, as far as samples show any."""
        calls = self._calls[(self._calls["owner"] == owner) & (self._calls["first"] == first)]
        start = calls["start_ps"].to_numpy(np.int64)
        end = start + calls["total_ps"].to_numpy(np.int64)
        whole = int(covered_at(start, end, self._code.at_ps).sum())
        feeders = self._code.feeders
        feeders = feeders[covered_at(start, end, feeders["at_ps"].to_numpy(np.int64))]
        if not whole or not len(feeders):
            return
        weights = (1 / feeders.groupby("at_ps")["place"].transform("size")).groupby(feeders["place"]).sum()
        weights = weights[weights.index != ""] / max(whole, float(weights.sum()))
        for place, weight in weights.items():
            line = self._tree.child(stage, f"python:{_short(str(place))}", f"Python at {place}", "python", str(place))
            self._tree.add(line, time_ps * weight)
        self._tree.add(stage, -time_ps * float(weights.sum()))

    def _delays(self, chosen: Bools, owner: Int64) -> pd.DataFrame:
        """Return how long stages delayed the calls for data that began in some pieces.

        The columns are ``owner first stage critical_ps calls``; ``first`` calls fetch the first batch of a pass.
        """
        stages = self._thread.forest.once(host_stages)
        keys = ["owner", "first", "stage"]
        if not len(stages):
            return pd.DataFrame(columns=[*keys, "critical_ps", "calls"])
        roots = stages[stages["depth"] == 1].drop_duplicates("root")
        piece = np.searchsorted(self._pieces.bounds, roots["start_ps"].to_numpy(np.int64), side="right") - 1
        within = (piece >= 0) & (piece < len(owner))
        piece = np.where(within, piece, 0)
        own = pd.Series(np.where(within & chosen[piece], owner[piece], -1), index=roots["root"].to_numpy())
        first = roots.sort_values("start_ps").drop_duplicates("iterator")["root"]
        stages = stages.assign(owner=stages["root"].map(own), first=stages["root"].isin(first))
        self._calls = stages[stages["depth"] == 1]
        by_stage = stages[stages["owner"] >= 0].groupby(keys)
        return by_stage.agg(critical_ps=("critical_ps", "sum"), calls=("root", "nunique")).reset_index()


def _short(place: str) -> str:
    return place.replace(" line ", ":")


def _numbered(number: Int64, name: Callable[[int], str]) -> tuple[Int64, list[str]]:
    """Return per entry the place of its group, and the groups' names, which ``name`` gives for their first entries."""
    first = np.flatnonzero(~pd.Series(number).duplicated())
    return pd.factorize(number)[0].astype(np.int64), [name(int(one)) for one in first]
