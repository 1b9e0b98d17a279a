"""tfprof's own interface, for programs that were written for ``tf.compat.v1.profiler.Profiler``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._errors import CaptureError
from tfprof_nb.analysis.graph.checkers import GraphAdvice, graph_advice
from tfprof_nb.analysis.graph.from_session import from_graph_section, with_runs
from tfprof_nb.analysis.graph.graph import GraphTree, graph_tree
from tfprof_nb.analysis.graph.model import GraphModel
from tfprof_nb.analysis.graph.options import parse_options
from tfprof_nb.capture.session_graph import data_formats, default_graph, describe_graph
from tfprof_nb.decode.run_metadata import executed_nodes, parse_run_metadata
from tfprof_nb.export.tfprof_output import write_view
from tfprof_nb.render.content import Content
from tfprof_nb.views.graph import part_panels

_FIELDS = {"exec_micros": "micros", "accelerator_exec_micros": "accelerator_micros", "cpu_exec_micros": "cpu_micros"}
_FIELDS |= {"requested_bytes": "bytes", "run_count": "occurrences"}
Options = Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Node:
    """One node of a view, with the names of tfprof's ``GraphNodeProto``.

    They are ``name``, ``children``, ``exec_micros``, ``total_exec_micros``, ``total_requested_bytes``,
    ``total_parameters``, ``total_float_ops`` and so on.
    """

    tree: GraphTree
    row: int = 0

    @property
    def name(self) -> str:
        """The node's name."""
        return str(self.tree.table["name"].iloc[self.row])

    @property
    def children(self) -> list[Node]:
        """The nodes directly below; in tfprof's list of op types, the next type."""
        depth = self.tree.table["depth"].to_numpy(np.int64)
        if self.tree.kind == "op":
            return [Node(self.tree, row) for row in range(self.row + 1, min(self.row + 2, len(depth)))]
        outside = np.flatnonzero(depth[self.row + 1 :] <= depth[self.row])
        end = self.row + 1 + int(outside[0]) if len(outside) else len(depth)
        inside = np.arange(self.row + 1, end)
        return [Node(self.tree, int(row)) for row in inside[depth[inside] == depth[self.row] + 1]]

    def _ipython_display_(self) -> None:
        self.tree._ipython_display_()

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):  # copies and pickles ask for these before there is a tree
            raise AttributeError(name)
        field = name.removeprefix("total_")
        column = _FIELDS.get(field, field)
        own = f"self_{column}" if column != "occurrences" else column
        column = f"total_{column}" if name.startswith("total_") else own
        if column not in self.tree.table:
            raise AttributeError(f"A node has no {name!r}.")
        value = self.tree.table[column].to_numpy(np.float64)[self.row]
        return 0 if np.isnan(value) else int(value)


class Profiler:
    """Profiles the runs of a session step by step, as ``tf.compat.v1.profiler.Profiler`` does.

    Parameters
    ----------
    graph
        The `tf.Graph`; None takes the default graph, unless TensorFlow runs eagerly.
    op_log
        An ``OpLogProto`` with types of your own.
    cmd
        The view that `profile` gives: ``scope``, ``graph``, ``op`` or ``code``.

    Notes
    -----
    Each view comes as a `Node` with the names of tfprof's protocol buffers; its ``tree`` has ``table`` and ``view()``.
    Unlike TensorFlow's, several can exist at a time, and a wrong option is a `ValueError`.

    Examples
    --------
    >>> import tensorflow as tf
    >>> v1 = tf.compat.v1
    >>> with tf.Graph().as_default() as made:
    ...     product = tf.linalg.matmul(tf.ones((2, 3)), tf.ones((3, 4)), name="product")
    >>> profiler = Profiler(made)
    >>> profiler.profile_name_scope({"output": "none"}).total_float_ops
    48
    """

    def __init__(self, graph: Any = None, op_log: Any = None, *, cmd: str = "scope") -> None:
        self._graph = default_graph() if graph is None else graph
        self._op_log, self._cmd = op_log, cmd
        self._steps: list[pd.DataFrame] = []
        self._described = describe_graph(self._graph, op_log)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Add the time and memory of one run.

        Parameters
        ----------
        step
            The step's number, for the option ``step``; several runs may share one.
        run_meta
            Its ``RunMetadata``, of a run with ``trace_level=FULL_TRACE``.

        Raises
        ------
        BadProfileError
            If nothing was traced.
        """
        message = parse_run_metadata(run_meta.SerializeToString(), f"step {step}")
        self._described = describe_graph(self._graph, self._op_log, run_meta)
        self._steps.append(executed_nodes(message).assign(step=step))

    def profile_name_scope(self, options: Options = None) -> Node:
        """Return the view of name scopes."""
        return self.profile(options, cmd="scope")

    def profile_graph(self, options: Options = None) -> Node:
        """Return the view of the data flow."""
        return self.profile(options, cmd="graph")

    def profile_operations(self, options: Options = None) -> Node:
        """Return the view of op types."""
        return self.profile(options, cmd="op")

    def profile_python(self, options: Options = None) -> Node:
        """Return the view of the code that made the nodes."""
        return self.profile(options, cmd="code")

    def profile(self, options: Options = None, *, cmd: str | None = None) -> Node:
        """Return a view; by default the view that the constructor's ``cmd`` names.

        Raises
        ------
        ValueError
            If an option is wrong, or ``cmd`` names no view.
        """
        kind = cmd or self._cmd
        if kind not in ("scope", "graph", "op", "code"):
            raise ValueError(f"Unknown view cmd={kind!r}: choose from scope, graph, op, code.")
        tree = graph_tree(self._model(), kind, parse_options({"output": "stdout"} | dict(options or {})))
        write_view(tree)
        return Node(tree.shown_by(lambda: Content(f"{tree.kind} view", part_panels(tree))))

    def advise(self, options: Mapping[str, Mapping[str, Any]] | None = None) -> GraphAdvice:
        """Return the findings of tfprof's checkers; ``options`` names the checkers, None runs all.

        Raises
        ------
        CaptureError
            If no step was added.
        ValueError
            If a name is not that of a checker.
        """
        if not self._steps:
            raise CaptureError("Advice needs a step: add one with add_step(number, run_metadata).")
        return graph_advice(self._model(), data_formats(self._graph), options)

    def _model(self) -> GraphModel:
        model = from_graph_section(self._described)
        return with_runs(model, pd.concat(self._steps, ignore_index=True)) if self._steps else model
