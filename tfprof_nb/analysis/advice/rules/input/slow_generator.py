import ast
import re

from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule, waits, without_cores
from tfprof_nb.analysis.advice.rules.input._python import python_source
from tfprof_nb.analysis.source.code import line_at
from tfprof_nb.analysis.source.syntax import first_given
from tfprof_nb.analysis.tf_data.iterators import iterator_type

_GENERATE_BATCHES = (
    "Yield whole batches from the generator, made by NumPy in one call each, and drop .batch(); or move the work to "
    "`.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with TensorFlow ops."
)
_GENERATE_IN_WORKERS = (
    "Let several workers make batches: write a keras.utils.PyDataset whose `__getitem__` makes one batch, and pass "
    "`workers=4` (with `use_multiprocessing=True` if Python computes, without if it waits for a disk or network)."
)
_GENERATE_CHEAPER = (
    "Make each batch with few calls of NumPy, or move the work to `.map(f, num_parallel_calls=tf.data.AUTOTUNE)` with "
    "TensorFlow ops. Worker processes are no help here: this machine has {} for them and the training."
)
# Measured on two cores: a training that ImageDataGenerator fed became 2 times faster, and 1.5 times with two threads.
_AUGMENT_IN_LAYERS = (
    "Make a tf.data.Dataset of the images, as keras.utils.image_dataset_from_directory does, and augment whole batches "
    "with layers: `.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)`, where "
    "`augment` is a Sequential of layers such as RandomRotation and RandomZoom. Or set `{}.workers = 2` before `fit`: "
    "two threads then prepare the images."
)
_KERAS_IMAGES = re.compile(r"keras\.\S*preprocessing\.image\.")
_BATCHING = re.compile(r"::(ParallelBatch|Batch(V2)?|PaddedBatch(V2)?|MapAndBatch)(::|$)")

RULE = cause_rule(
    "slow-generator",
    "A generator in Python makes the data",
    "Looks for generators, as of `from_generator`, that steps wait for.",
    "One generator runs on one core, and hands over one element at a time.",
    after="python-map",
)


def cause(evidence: Evidence) -> Cause | None:
    source = python_source(evidence)
    if source and (images := _images_of_keras(evidence, source.place)):
        fix = _AUGMENT_IN_LAYERS.format(images)
        return Cause(f"{images} prepares its images in Python", source.shown, fix, place=source.place)
    return source and Cause(
        source.name,
        source.shown,
        _generating(evidence, evidence.code.line(source.file, source.line)),
        place=source.place,
    )


def _images_of_keras(evidence: Evidence, place: str) -> str:
    """Return what `fit` takes at a place, if it comes of Keras' ImageDataGenerator; else empty."""
    given = first_given(evidence.code.call_at(*line_at(place), "fit"))
    known = evidence.code.object_of(line_at(place)[0], given) if given else None
    return ast.unparse(given) if given and known and _KERAS_IMAGES.match(known.type) else ""


def _generating(evidence: Evidence, code: str) -> str:
    """Say how to make data faster that a generator yields, depending on whether it yields batches, and computes."""
    names = evidence.tf_data.table["long_name"].astype(str)
    generators = [name for name in names if iterator_type(name) == "Generator"]
    batched = any(_BATCHING.search(name.rpartition("::")[0]) for name in generators)
    if batched or not generators:
        return _GENERATE_BATCHES
    few = "" if waits(code) else without_cores(evidence)
    return _GENERATE_CHEAPER.format(few) if few else _GENERATE_IN_WORKERS
