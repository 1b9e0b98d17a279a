"""What a stage of a tf.data pipeline is, and the stages that copies of a pipeline are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# A shuffle of a copy has this seed, so that copies can be compared.
SEED = 1
SMALL_BUFFER = 4
_RANDOM = (
    "Random",
    "Multinomial",
    "TruncatedNormal",
    "StatefulStandard",
    "StatefulUniform",
    "RngSkip",
    "RngReadAndSkip",
)
_PYTHON = ("EagerPyFunc", "PyFunc", "PyFuncStateless")


@dataclass(frozen=True)
class Function:
    """A function of a stage: as it was traced, and as the user wrote it."""

    traced: Any

    @property
    def written(self) -> Any:
        """The user's function."""
        return getattr(self.traced._func, "python_function", self.traced._func)  # noqa: SLF001

    @property
    def name(self) -> str:
        """The function's name; a lambda's is its line."""
        code = getattr(self.written, "__code__", None)
        name = str(getattr(self.written, "__name__", type(self.written).__name__))
        return f"lambda, line {code.co_firstlineno}" if name == "<lambda>" and code else name

    def __call__(self, *arguments: Any) -> Any:
        """Call what was traced: the user's Python does not run again."""
        from tensorflow.python.data.util import structure

        takes = self.traced._input_structure  # noqa: SLF001
        given = arguments if type(takes) is tuple else arguments[0]
        returned = self.traced.function(*structure.to_tensor_list(takes, given))
        return structure.from_tensor_list(self.traced.output_structure, returned)

    @property
    def captured(self) -> list[Any]:
        """The tensors and variables that it reads beside its arguments."""
        return list(self.traced.function.captured_inputs)

    @property
    def op_types(self) -> set[str]:
        """The types of its ops, those of the functions that it calls included."""
        definition = self.traced.function.graph.as_graph_def()
        nodes = [*definition.node, *(node for each in definition.library.function for node in each.node_def)]
        return {node.op for node in nodes}

    @property
    def is_random(self) -> bool:
        """Whether it has random ops. Stateless ones return the same for the same element."""
        return any(op.startswith(_RANDOM) for op in self.op_types)

    @property
    def is_python(self) -> bool:
        """Whether it runs Python for each element."""
        return not self.op_types.isdisjoint(_PYTHON)

    @property
    def reads_variables(self) -> bool:
        """Whether it reads a variable, which may have another value later."""
        return bool(self.op_types & {"ReadVariableOp", "VarHandleOp"})


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline.

    Attributes
    ----------
    kind
        The method of `tf.data.Dataset` that makes it; "source" for the first.
    given
        The arguments as code, without the function.
    build
        Makes the stage on an input.
    function
        The function that it calls, if any.
    per_element
        How many elements of its input it takes for one of its own; None if that has to be measured.
    size
        The elements of its buffer or batch.
    parallel
        Whether it works on several elements at once.
    of
        The user's dataset, of an interleave.
    exactly
        The arguments that give the same stage, if ``given`` leaves some out.
    """

    kind: str
    given: Sequence[str]
    build: Callable[[Any], Any] = field(repr=False)
    function: Function | None = None
    per_element: float | None = 1.0
    size: int = 0
    parallel: bool = False
    of: Any = field(default=None, repr=False)
    exactly: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The stage as users know it, such as ``map(decode)``."""
        if self.kind == "source":
            return self.given[0]
        return f"{self.kind}({', '.join([*([self.function.name] if self.function else []), *self.given])})"


def with_size(stage: Stage, size: int) -> Stage:
    """Return a shuffle with a buffer of another size, under the name that it has."""
    return replace(stage, build=shuffled(size).build, size=size) if stage.kind == "shuffle" else stage


def with_small_buffer(stage: Stage) -> Stage:
    """Return a shuffle with a small buffer, for runs that are not timed."""
    return with_size(stage, min(stage.size, SMALL_BUFFER))


def shuffled(size: int) -> Stage:
    """Return a shuffle. Its seed does not change what it costs."""
    return Stage("shuffle", [str(size)], lambda ds: ds.shuffle(size, seed=SEED), size=size)


def mapped(function: Function, calls: int | None, deterministic: bool | None = None, *, again: bool = False) -> Stage:
    """Return a map; ``again`` traces the function as the user wrote it, for arguments of another shape."""
    called = function.written if again else function
    options = {} if calls is None else {"num_parallel_calls": calls, "deterministic": deterministic}
    return Stage(
        "map",
        arguments(num_parallel_calls=calls, deterministic=deterministic),
        lambda ds: ds.map(called, **options),
        function,
        parallel=calls is not None,
    )


def interleaved(ds: Any, calls: int | None, deterministic: bool | None = None) -> Stage:
    """Return an interleave like the user's, which opens ``calls`` inputs at once."""
    function = Function(ds._map_func)  # noqa: SLF001
    cycle, block = int(ds._cycle_length.numpy()), int(ds._block_length.numpy())  # noqa: SLF001
    options = {} if calls is None else {"num_parallel_calls": calls, "deterministic": deterministic}
    return Stage(
        "interleave",
        arguments(
            cycle_length=None if cycle == -1 else cycle,
            block_length=None if block == 1 else block,
            num_parallel_calls=calls,
            deterministic=deterministic,
        ),
        lambda below: below.interleave(function, cycle, block, **options),
        function,
        None,
        parallel=calls is not None,
        of=ds,
    )


def prefetched(size: int) -> Stage:
    """Return a prefetch."""
    return Stage("prefetch", [_autotuned(size)], lambda ds: ds.prefetch(size), size=size)


def in_parallel(stage: Stage) -> Stage:
    """Return a map or interleave that works on several elements at once, in the same order."""
    if stage.kind == "map" and stage.function and not stage.parallel:
        return mapped(stage.function, -1)
    if stage.kind == "interleave" and not stage.parallel:
        return interleaved(stage.of, -1)
    return stage


def arguments(**given: Any) -> list[str]:
    """Write arguments as code, without those that are None."""
    written = {name: value for name, value in given.items() if value is not None}
    return [f"{name}={_autotuned(value) if name == 'num_parallel_calls' else value}" for name, value in written.items()]


def _autotuned(value: int) -> str:
    return "tf.data.AUTOTUNE" if value == -1 else str(value)
