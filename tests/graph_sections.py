"""The sidecar's section `graphs` in a few lines, for tests: docs/sidecar.md has the format."""

from __future__ import annotations

from dataclasses import dataclass, field

Frame = tuple[str, int, str]  # file, line, text


@dataclass
class Node:
    """A node; ``frames`` is its traceback, innermost first, of the user's lines alone."""

    name: str
    op: str
    frames: tuple[Frame, ...] = ()
    inputs: tuple[int, ...] = ()
    forward: int = -1
    layer: tuple[str, str] | None = None
    phase: str = ""


@dataclass
class Function:
    """A function; ``calls`` are [node, role, function]."""

    name: str
    nodes: list[Node]
    calls: list[tuple[int, str, int]] = field(default_factory=list)
    called: bool = True


class _Interned(list):
    def row(self, value):
        if value not in self:
            self.append(value)
        return self.index(value)


def graphs_section(*functions: Function, notes: tuple[str, ...] = ()) -> dict:
    """Return the section that describes these functions."""
    strings, frames, traces, layers = _Interned(), _Interned(), _Interned(), _Interned()

    def trace_of(node):
        return traces.row([frames.row(frame) for frame in node.frames]) if node.frames else -1

    described = [
        {
            "name": function.name,
            "called": function.called,
            "batch": None,
            "names": [strings.row(node.name) for node in function.nodes],
            "ops": [strings.row(node.op) for node in function.nodes],
            "phases": [strings.row(node.phase) for node in function.nodes],
            "layers": [layers.row(node.layer) if node.layer else -1 for node in function.nodes],
            "traces": [trace_of(node) for node in function.nodes],
            "forward": [node.forward for node in function.nodes],
            "inputs": [list(node.inputs) for node in function.nodes],
            "calls": [list(call) for call in function.calls],
            **{empty: [strings.row("")] * len(function.nodes) for empty in ("devices", "outputs", "takes")},
            "float_ops": [None] * len(function.nodes),
            "variables": [-1] * len(function.nodes),
        }
        for function in functions
    ]
    return {
        "functions": described,
        "frames": {
            "file": [strings.row(file) for file, _, _ in frames],
            "line": [line for _, line, _ in frames],
            "function": [strings.row("f")] * len(frames),
            "text": [strings.row(text) for _, _, text in frames],
            "users": [True] * len(frames),
        },
        "traces": list(traces),
        "layers": {"name": [strings.row(n) for n, _ in layers], "type": [strings.row(kind) for _, kind in layers]},
        "variables": {},
        "notes": list(notes),
        "strings": list(strings),
    }
