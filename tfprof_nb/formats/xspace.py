"""Names that TensorFlow's profiler writes into its files, and that readers of other formats use in the same sense."""

HOST_PLANE = "/host:CPU"
COUNTERS = "_counters_"  # the line of a trace's counters
ANNOTATION = "annotation_only"  # the stat of events that name a stretch of the program, and are no work themselves
ASYNCHRONOUS = "_a"  # the stat of events that overlap others without nesting

THREADPOOL_PREFIX = "ThreadpoolListener::"  # what the thread pool queued and ran: nearly half of a usual profile
ALLOCATION, DEALLOCATION = "MemoryAllocation", "MemoryDeallocation"

# The event in which the runtime dispatches and runs one op or function, and the op by which a capture asks tf.data how
# long the program waits.
DISPATCH = "EagerLocalExecute: "
LOOK = f"{DISPATCH}IteratorGetModelProto"

# Types of the ops that fetch elements of a dataset.
DATASET_OPS = ("IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue")
