"""The state that TensorFlow, Keras, NumPy and Python keep outside of the user's objects, and what datasets keep."""

import gc
import os
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.dataset_kinds import all_of, has_state
from tfprof_nb.capture.benchmark_input.pipelines import Pipeline, pipeline_of
from tfprof_nb.capture.profile_call import living_variables
from tfprof_nb.capture.tensorflow import tensorflow

_SEED = 20  # of runs where the program sets none: results are compared under equal seeds
_KERAS = ("GLOBAL_STATE_TRACKER", "GLOBAL_SETTINGS_TRACKER")
Restore = Callable[[], None]


class FrameworkState:
    """Variables, random states and settings."""

    def __init__(self, native_iterators: Sequence[Any], tables: Sequence[Any]) -> None:
        self._native_iterators, self._tables, self._variables = native_iterators, tables, living_variables()
        self._restores: list[Restore] = []

    @property
    def bytes(self) -> int:
        """The size of all variables."""
        return sum(map(_size, self._variables))

    def keep(self) -> None:
        """Copy what can change."""
        self._restores = [_environment(), _random_states(), _settings()]
        self._restores += [_table(each) for each in self._tables]
        self._restores += [_native_iterator(each) for each in self._native_iterators]
        if "keras" in sys.modules:
            self._restores.append(_keras_globals())
        self._restores += [_values(self._variables), _tensorflow_seeds()]  # last: those above may draw and write

    @staticmethod
    def seed(more: int) -> None:
        """Seed TensorFlow, as the program does or by our own; ``more`` makes it another seed."""
        from tensorflow.python.eager import context

        seed = context.context()._seed  # noqa: SLF001
        tensorflow().random.set_seed((_SEED if seed is None else int(seed)) + more)

    def put_back(self) -> None:
        """Put everything back."""
        for restore in self._restores:
            restore()


class DatasetCopies:
    """Copies of the datasets that keep state, for one variant: shuffles begin anew in each run, caches stay filled."""

    def __init__(self) -> None:
        self._below: dict[int, tuple[Pipeline, int, Any]] = {}

    def of(self, dataset: Any) -> Any:
        """Return a copy.

        Raises
        ------
        TfprofError
            If nothing can copy it.
        """
        if not any(has_state(each) for each in all_of(dataset)):
            return dataset
        if id(dataset) not in self._below:
            pipeline = pipeline_of(dataset)
            kinds = [stage.kind for stage in pipeline.stages]
            kept = len(kinds) - kinds[::-1].index("cache") if "cache" in kinds else 0
            made = pipeline.build(pipeline.stages[:kept]) if kept else None
            self._below[id(dataset)] = pipeline, kept, made
        pipeline, kept, made = self._below[id(dataset)]
        if not kept:
            return pipeline_of(dataset).build()
        for stage in pipeline.stages[kept:]:
            made = stage.build(made)
        return made


def why_not_copied(dataset: Any) -> str:
    """Say why a dataset cannot be copied; empty if it can."""
    try:
        if any(has_state(each) for each in all_of(dataset)):
            pipeline_of(dataset)
    except TfprofError:
        return "has a stage that can't be copied above one that keeps state (a shuffle or a cache)"
    return ""


def _environment() -> Restore:
    variables, path, filters = dict(os.environ), list(sys.path), list(warnings.filters)
    collects, thresholds = gc.isenabled(), gc.get_threshold()

    figures = getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None)
    shown = list(figures.figs.items()) if figures else []

    def restore() -> None:
        if figures and list(figures.figs.items()) != shown:
            figures.figs.clear()
            figures.figs.update(shown)
        if dict(os.environ) != variables:
            os.environ.clear()
            os.environ.update(variables)
        sys.path[:] = path
        warnings.filters[:] = filters  # type: ignore[index]
        (gc.enable if collects else gc.disable)()
        gc.set_threshold(*thresholds)

    return restore


def _random_states() -> Restore:
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the user's is the old one
    errors, printed = np.geterr(), np.get_printoptions()

    def restore() -> None:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002
        np.seterr(**errors)
        np.set_printoptions(**printed)

    return restore


def _tensorflow_seeds() -> Restore:
    from tensorflow.python.eager import context
    from tensorflow.python.ops import stateful_random_ops

    now: Any = context.context()
    seed, generator = now._seed, getattr(now, "_rng", None)  # noqa: SLF001
    state = generator.getstate() if generator else None
    of_all = stateful_random_ops.global_generator

    def restore() -> None:
        now._seed = seed  # noqa: SLF001
        if generator is None:
            now.__dict__.pop("_rng", None)
        else:
            now._rng = generator  # noqa: SLF001
            generator.setstate(state)
        stateful_random_ops.global_generator = of_all
        now.clear_kernel_cache()  # ops that a run drew from would go on from there

    return restore


def _settings() -> Restore:
    tf = tensorflow()
    eagerly, options = tf.config.functions_run_eagerly(), tf.config.optimizer.get_experimental_options()
    jit, placement = tf.config.optimizer.get_jit(), tf.config.get_soft_device_placement()
    tf32 = tf.config.experimental.tensor_float_32_execution_enabled()

    def restore() -> None:
        if tf.config.functions_run_eagerly() != eagerly:
            tf.config.run_functions_eagerly(eagerly)
        if tf.config.optimizer.get_experimental_options() != options:
            tf.config.optimizer.set_experimental_options(options)
        if tf.config.optimizer.get_jit() != jit:
            tf.config.optimizer.set_jit(jit)
        if tf.config.get_soft_device_placement() != placement:
            tf.config.set_soft_device_placement(placement)
        if tf.config.experimental.tensor_float_32_execution_enabled() != tf32:
            tf.config.experimental.enable_tensor_float_32_execution(tf32)

    return restore


def _keras_globals() -> Restore:
    """Keep Keras' names, policies, and generator of seeds, which lie in a place of each thread."""
    from keras.src.backend.common import global_state

    held = [vars(getattr(global_state, name)) for name in _KERAS if hasattr(global_state, name)]
    kept = [(each, {key: _shallow(value) for key, value in each.items()}) for each in held]

    def restore() -> None:
        for each, before in kept:
            for key in [key for key in each if key not in before]:
                del each[key]
            for key, (value, inside) in before.items():
                each[key] = value
                if isinstance(value, dict):
                    value.clear()
                    value.update(inside)
                elif isinstance(value, list):
                    value[:] = inside

    return restore


def _shallow(value: Any) -> tuple[Any, Any]:
    return value, type(value)(value) if type(value) in (dict, list) else dict(value) if isinstance(
        value, dict
    ) else None


def _values(variables: Sequence[Any]) -> Restore:
    kept = []
    for variable in variables:
        with suppress(Exception):  # variables of graphs, and variables without a value
            kept.append((variable, variable.numpy()))

    def restore() -> None:
        for variable, value in kept:
            if not _same(variable.numpy(), value):
                variable.assign(value)

    return restore


def _same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.hasobject:
        return bool(one.shape == other.shape and (one == other).all())
    return bool(one.shape == other.shape and one.tobytes() == other.tobytes())


def _size(variable: Any) -> int:
    shape = variable.shape  # without a rank where it is unknown
    return int(shape.num_elements() or 0) * int(variable.dtype.size or 0)


def _table(table: Any) -> Restore:
    keys, values = table.export()

    def restore() -> None:
        table.remove(table.export()[0])
        if keys.shape.num_elements():
            table.insert(keys, values)

    return restore


def _native_iterator(iterator: Any) -> Restore:
    from tensorflow.python.data.ops.options import ExternalStatePolicy
    from tensorflow.python.ops import gen_dataset_ops

    resource = iterator._iterator_resource  # noqa: SLF001
    try:
        kept = gen_dataset_ops.serialize_iterator(resource, ExternalStatePolicy.FAIL.value)
    except Exception as error:
        raise TfprofError(
            "The cell takes batches from an iterator of tf.data whose place nothing can keep (its pipeline calls "
            "Python or draws random numbers): make the iterator in the cell, with iter(dataset)."
        ) from error
    return lambda: gen_dataset_ops.deserialize_iterator(resource, kept) and None
