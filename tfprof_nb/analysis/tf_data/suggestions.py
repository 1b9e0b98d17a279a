"""What to change in a tf.data pipeline, by the kind of stage that is slow."""

from __future__ import annotations

from collections.abc import Collection

from tfprof_nb.analysis.tf_data.iterators import FILE_READERS

# What a cache keeps stays as it is: the order, if shuffle stands before it, and what was drawn at random.
_KEEP = (
    "keep its results if they fit in memory, with shuffling and what is random behind the cache: "
    "`ds.map(f).cache().shuffle(n)`"
)
_CHEAPER = (
    "make f cheaper (TensorFlow ops in place of tf.py_function; whole batches, `ds.batch(n).map(f)`, where f can take "
    "them)"
)
_MAP = (
    f"Let it work on several elements at once: `ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)`. Or {_KEEP}, or "
    f"{_CHEAPER}."
)
_PARALLEL_MAP = f"It works on several elements at once already: {_KEEP}, or {_CHEAPER}."
_MAP_AND_BATCH = (
    "Map and batch run as one stage here, and f is most likely what takes long: "
    f"`ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)`. If it is parallel already, {_KEEP}, or {_CHEAPER}."
)
_READ = (
    "Read several files at once: `tf.data.Dataset.from_tensor_slices(files).interleave({reader}, "
    "num_parallel_calls=tf.data.AUTOTUNE)`. Keep the files on a disk near to the machine, and put `.cache()` behind "
    "the read if the data fit in memory."
)
_INTERLEAVE = (
    "Open and read more inputs at once: `ds.interleave(f, cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE, "
    "deterministic=False)`. If it is parallel already, what f opens is slow: use fewer, larger files nearer to the "
    "machine."
)
_FLAT_MAP = (
    "flat_map opens its inputs one after another: use `ds.interleave(f, num_parallel_calls=tf.data.AUTOTUNE)` instead."
)
_BATCH = (
    "Copy elements into batches on several threads: `ds.batch(n, num_parallel_calls=tf.data.AUTOTUNE)`. Smaller "
    "elements help too: batch before what makes them large (`ds.batch(n).map(f)`)."
)
_PADDED_BATCH = (
    "Padding copies every element: group those of like length first (`ds.bucket_by_sequence_length(...)`), or end with "
    "`.prefetch(tf.data.AUTOTUNE)` so that it runs beside the training step."
)
_SHUFFLE = (
    "Filling the buffer takes long: shuffle what is small (file names, or records before they are decoded: "
    "`ds.shuffle(n).map(f)`), or use a smaller buffer_size."
)
_CACHE = (
    "The first pass fills the cache, later ones read it: cache small things (before they are decoded or made larger), "
    "in memory rather than in a file, and leave the first epoch out when you measure."
)
_FILLING = (
    "A cache behind it is being filled: only the first pass over the data pays for this stage. To see the later ones, "
    "leave that pass out: `%%tfprofile --warmup N` with the steps of an epoch, or run it once before."
)
_THEN_PREFETCH = " Then end the pipeline with `.prefetch(tf.data.AUTOTUNE)`, so that it runs beside the training step."
_GENERATOR = (
    "Python makes the elements one at a time, under its lock: yield whole batches, move the work into "
    "`ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)`, or write TFRecord files once and read those."
)
_SEQUENTIAL = (
    "This stage runs on one thread: do it earlier on smaller elements, or split the work with "
    "`tf.data.Dataset.range(k).interleave(lambda i: make_dataset().shard(k, i), num_parallel_calls=tf.data.AUTOTUNE)`; "
    "put `.cache()` behind it if the result fits in memory."
)
_PREFETCH = (
    "Prefetch does no work itself: it was starting up, or waited for stages that began before the capture. "
    "Capture a few more steps."
)
_IN_MEMORY = (
    "Slicing tensors is slow only if they are large: slice indices and gather whole batches, or store the data as "
    "TFRecord files."
)
_COMBINE = (
    "This stage waits for all its inputs in turn: end each of them with `.prefetch(tf.data.AUTOTUNE)` before they meet."
)
_REMOTE = "Its elements come from elsewhere: profile the tf.data service workers, and check the network between them."
_PARSE = (
    "Parse whole batches: `ds.batch(n).map(lambda x: tf.io.parse_example(x, features), "
    "num_parallel_calls=tf.data.AUTOTUNE)`."
)
_PASSES_ON = (
    "This stage only hands elements on, so its time is overhead per element: batch earlier (`ds.batch(n)`) so that "
    "fewer, larger elements go through."
)
_OTHER = (
    "End the pipeline with `.prefetch(tf.data.AUTOTUNE)`, and put `.cache()` behind this stage if its results fit in "
    "memory."
)

_ADVICE = {
    "Map": _MAP,
    "ParallelMap": _PARALLEL_MAP,
    "MapAndBatch": _MAP_AND_BATCH,
    **dict.fromkeys(("Interleave", "ParallelInterleave", "LegacyParallelInterleave"), _INTERLEAVE),
    "FlatMap": _FLAT_MAP,
    **dict.fromkeys(("Batch", "ParallelBatch", "Rebatch", "Window", "SlidingWindow"), _BATCH),
    **dict.fromkeys(("PaddedBatch", "DenseToRaggedBatch", "DenseToSparseBatch"), _PADDED_BATCH),
    **dict.fromkeys(("Shuffle", "ShuffleAndRepeat", "GlobalShuffle"), _SHUFFLE),
    **dict.fromkeys(("Cache", "MemoryCache", "MemoryCacheImpl", "MemoryReader", "MemoryWriter"), _CACHE),
    **dict.fromkeys(("FileCache", "FileReader", "FileWriter", "Snapshot", "Save"), _CACHE),
    **dict.fromkeys(("Generator", "PyFunc"), _GENERATOR),
    **dict.fromkeys(
        ("Filter", "ParallelFilter", "Unbatch", "Scan", "GroupByWindow", "GroupByReducer", "Unique", "TakeWhile"),
        _SEQUENTIAL,
    ),
    "Prefetch": _PREFETCH,
    **dict.fromkeys(
        ("TensorSlice", "FromTensor", "Tensor", "SparseTensorSlice", "List", "Range", "Random"), _IN_MEMORY
    ),
    **dict.fromkeys(("Zip", "Concatenate", "DirectedInterleave", "ChooseFastest", "SampleFromDatasets"), _COMBINE),
    **dict.fromkeys(("DataService", "ParallelDataService"), _REMOTE),
    "ParseExample": _PARSE,
    **dict.fromkeys(
        (
            "Repeat",
            "FiniteRepeat",
            "ForeverRepeat",
            "Take",
            "FiniteTake",
            "Skip",
            "FiniteSkip",
            "Shard",
            "AssertCardinality",
        ),
        _PASSES_ON,
    ),
}
_READERS = {
    **dict.fromkeys((*FILE_READERS, "Load"), "open_file"),
    "TFRecord": "tf.data.TFRecordDataset",
    "TextLine": "tf.data.TextLineDataset",
    "FixedLengthRecord": "lambda file: tf.data.FixedLengthRecordDataset(file, record_bytes)",
}


_CACHES = frozenset(kind for kind, advice in _ADVICE.items() if advice == _CACHE)


def suggest(kind: str, behind: Collection[str] | None = None) -> str:
    """Return what to change when iterators of this kind are the bottleneck.

    Parameters
    ----------
    kind
        The iterator's type without its version, as `iterator_type` gives it.
    behind
        The types of the stages between it and the end of the pipeline, without those that the runtime added; None if
        they are not known. Advice leaves out what is there already.

    Examples
    --------
    >>> suggest("FlatMap").partition(":")[0]
    'flat_map opens its inputs one after another'
    """
    if behind is not None and not _CACHES.isdisjoint(behind) and kind not in _CACHES:
        return _FILLING
    advice = _READ.format(reader=_READERS[kind]) if kind in _READERS else _ADVICE.get(kind, _OTHER)
    without = behind is not None and kind != "Prefetch" and "Prefetch" not in behind
    return advice + _THEN_PREFETCH if without and ".prefetch(" not in advice else advice
