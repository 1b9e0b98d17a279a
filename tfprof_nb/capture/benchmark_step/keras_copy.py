"""A copy of a Keras model that trains like it and shares no variable with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfprof_nb._errors import TfprofError
from tfprof_nb.capture.benchmark_input.trial import told

_STATEFUL = ("Metric", "Optimizer")


def is_keras_model(thing: Any) -> bool:
    """Whether it is a model of Keras 3."""
    return any(kind.__name__ == "Trainer" and kind.__module__.startswith("keras.") for kind in type(thing).__mro__)


@contextmanager
def to_train(model: Any, batch: Any, notes: list[str]) -> Iterator[Any]:
    """Give a copy of a compiled model to train; a model that nothing can copy gets back all that training changes.

    Raises
    ------
    TfprofError
        If the model has no loss, or is neither built nor can be copied.
    """
    if not model.compiled:
        raise TfprofError("The model has no loss and no optimizer: compile it first.")
    with untouched_keras():
        try:
            copy = copied_model(model, batch)
        except Exception as error:
            if not model.built:
                raise TfprofError(
                    f"The model can't be copied ({told(error)}) and has no weights yet: call it on a batch first."
                ) from error
            notes.append("Nothing tells how to copy the model (get_config), so it was trained itself for a while.")
        else:
            yield copy
            return
        with _put_back(model):
            yield model


def copied_model(model: Any, batch: Any, policy: str = "") -> Any:
    """Copy a compiled model with its weights and its optimizer's state; with ``policy`` in another precision."""
    made = _again(model, policy)
    _compile(made, model)
    if not made.built:
        made(batch[0] if isinstance(batch, tuple) else batch)
    if model.built:
        made.set_weights(model.get_weights())
    made.optimizer.build(made.trainable_variables)
    if not policy and model.optimizer.built:
        for mine, yours in zip(made.optimizer.variables, model.optimizer.variables, strict=True):
            mine.assign(yours)
    return made


@contextmanager
def _put_back(model: Any) -> Iterator[None]:
    """Put back a model's variables, those of its optimizer and metrics, and how it is compiled."""
    names = ("train_function", "_jit_compile", "steps_per_execution")
    compiled = {name: getattr(model, name) for name in names}
    model.optimizer.build(model.trainable_variables)
    kept = [(each, each.numpy()) for each in _state(model)]
    try:
        yield
    finally:
        for name, value in compiled.items():
            setattr(model, name, value)
        known = {id(each) for each, _ in kept}
        for each, value in kept:
            each.assign(value)
        for each in _state(model):  # metrics make theirs when they first see a batch
            if id(each) not in known:
                each.assign(each * 0)


def _state(model: Any) -> list[Any]:
    return [*model.variables, *model.optimizer.variables, *model.metrics_variables]


@contextmanager
def untouched_keras() -> Iterator[None]:
    """Leave Keras' numbers for names, and its generator of seeds, as they were before the block."""
    from keras.src.backend.common import global_state

    names, seeds = (global_state.get_global_attribute(name) for name in ("object_name_uids", "global_seed_generator"))
    kept, seed = dict(names or {}), None if seeds is None else seeds.state.numpy()
    try:
        yield
    finally:
        if names is not None:
            names.clear()
            names.update(kept)
        global_state.set_global_attribute("global_seed_generator", seeds)
        if seeds is not None:
            seeds.state.assign(seed)


def _again(model: Any, policy: str) -> Any:
    import keras

    if isinstance(model, keras.Sequential) or type(model).__name__ == "Functional":
        return keras.models.clone_model(model, clone_function=lambda layer: _layer(layer, policy))
    if policy:
        raise TfprofError("a model of your own class sets the precision of its layers itself")
    return type(model).from_config(model.get_config())


def _layer(layer: Any, policy: str) -> Any:
    config = layer.get_config()
    return type(layer).from_config(config | ({"dtype": policy} if policy else {}))


def _compile(made: Any, model: Any) -> None:
    from keras import tree

    given = dict(model._compile_config.config)  # noqa: SLF001 - as it was given, with functions of the user's
    given["optimizer"] = model.optimizer
    made.compile(**{name: tree.map_structure(_fresh, value) for name, value in given.items()})


def _fresh(thing: Any) -> Any:
    """Make what has state again; share the rest."""
    stateful = any(kind.__name__ in _STATEFUL and "keras" in kind.__module__ for kind in type(thing).__mro__)
    return type(thing).from_config(thing.get_config()) if stateful else thing
