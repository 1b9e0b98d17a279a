"""What to change in a tf.data pipeline, by the kind of the slow stage."""

from collections.abc import Collection

from tfprof_nb.analysis.tf_data.iterators import FILE_READERS

# A cache keeps its elements as they are, with their order and with random values.
_KEEP = (
    "cache its results if they fit in memory, with shuffling and other randomness after the cache: "
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
_PARALLEL_MAP = f"It already works on several elements at once: {_KEEP}, or {_CHEAPER}."
_MAP_AND_BATCH = (
    "Map and batch run as one stage here, and most likely f takes long: "
    f"`ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)`. If it is already parallel, {_KEEP}, or {_CHEAPER}."
)
_READ = (
    "Read several files at once: `tf.data.Dataset.from_tensor_slices(files).interleave({reader}, "
    "num_parallel_calls=tf.data.AUTOTUNE)`. Keep the files on a disk close to the machine, and put `.cache()` "
    "after the read if the data fits in memory."
)
_INTERLEAVE = (
    "Open and read more inputs at once: `ds.interleave(f, cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE, "
    "deterministic=False)`. If it is already parallel, the files that f opens are slow: use fewer, larger files closer "
    "to the machine."
)
_FLAT_MAP = (
    "flat_map opens its inputs one after another: use `ds.interleave(f, num_parallel_calls=tf.data.AUTOTUNE)` instead."
)
_BATCH = (
    "Copy elements into batches on several threads: `ds.batch(n, num_parallel_calls=tf.data.AUTOTUNE)`. Smaller "
    "elements help too: batch before what makes them large (`ds.batch(n).map(f)`)."
)
_PADDED_BATCH = (
    "Padding copies every element: group elements of similar length first (`ds.bucket_by_sequence_length(...)`), or "
    "end with `.prefetch(tf.data.AUTOTUNE)` so that it overlaps with the training step."
)
_SHUFFLE = (
    "Filling the buffer takes long: shuffle small elements (file names, or records before decoding: "
    "`ds.shuffle(n).map(f)`), or use a smaller buffer_size."
)
_CACHE = (
    "The first pass fills the cache, later passes read it: cache small elements (before decoding or enlarging them), "
    "in memory rather than in a file, and exclude the first epoch from measurements."
)
_FILLING = (
    "A cache after it is being filled: only the first pass over the data runs this stage. To see later passes, exclude "
    "the first one: `%%tfprofile --warmup N` with the number of steps of an epoch, or run an epoch before."
)
_THEN_PREFETCH = (
    " Then end the pipeline with `.prefetch(tf.data.AUTOTUNE)`, so that it overlaps with the training step."
)
_GENERATOR = (
    "Python makes the elements one at a time, under its lock: yield whole batches, move the work into "
    "`ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)`, or write TFRecord files once and read those."
)
_SEQUENTIAL = (
    "This stage runs on one thread: do it earlier on smaller elements, or split the work with "
    "`tf.data.Dataset.range(k).interleave(lambda i: make_dataset().shard(k, i), num_parallel_calls=tf.data.AUTOTUNE)`; "
    "put `.cache()` after it if the result fits in memory."
)
_PREFETCH = (
    "Prefetch does no work itself: it was starting up, or waited for stages that began before the capture. "
    "Capture a few more steps."
)
_IN_MEMORY = (
    "Elements are sliced one by one, some microseconds each: put `.cache()` after `.batch()`, if the batches are the "
    "same in each pass and fit in memory; else slice indices, and gather whole batches in a `.map()`."
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
    "This stage only passes elements on, so its time is overhead per element: batch earlier (`ds.batch(n)`) so that "
    "fewer, larger elements go through."
)
_OTHER = (
    "End the pipeline with `.prefetch(tf.data.AUTOTUNE)`, and put `.cache()` after this stage if its results fit in "
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


def suggest(kind: str, after: Collection[str] | None = None) -> str:
    """Return what to change if iterators of this kind are the bottleneck.

    Parameters
    ----------
    kind
        The iterator's type without its version, as `iterator_type` returns it.
    after
        The types of the stages between it and the end of the pipeline, without those that the runtime added; None if
        unknown. A stage that is already there is not suggested.

    Examples
    --------
    >>> suggest("FlatMap").partition(":")[0]
    'flat_map opens its inputs one after another'
    """
    if after is not None and not _CACHES.isdisjoint(after) and kind not in _CACHES:
        return _FILLING
    advice = _READ.format(reader=_READERS[kind]) if kind in _READERS else _ADVICE.get(kind, _OTHER)
    no_prefetch = after is not None and kind != "Prefetch" and "Prefetch" not in after
    return advice + _THEN_PREFETCH if no_prefetch and ".prefetch(" not in advice else advice
