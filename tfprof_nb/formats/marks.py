"""Names of the events that mark what the program did, and of the stats on them."""

# A step mark is an event with these two stats, as TensorFlow defines them: the step's number, and 1 where the event is
# the root of everything that runs inside it.
STEP_NUMBER = "step_num"
ROOT = "_r"
PHASES = ("train", "test", "predict")  # names of the marks of a Keras model's steps

# Further stats of step marks. A mark with one of the first two is not a complete step: the data ran out when the step
# asked for it, or an exception ended it.
END_OF_DATA = "end_of_data"
INTERRUPTED = "interrupted"
EPOCH = "epoch"
STEPS_PER_EXECUTION = "steps_per_execution"
JIT_COMPILE = "jit_compile"
BACKEND = "keras_backend"  # jax or torch; TensorFlow is not said

WARM_UP_RUN = "warm_up"  # a stat of the mark of a session's first run
SESSION_RUN = "session run"  # the step of a TensorFlow 1 session
CALL = "profile_call"  # the call that `tfprof_nb.profile_call` profiles

CELL_LINE = "cell line "  # the line's number follows
CELL_LINE_EVENTS = 1000  # a short line leaves an event this often; after that it is only counted

LOOP_LINE = "loop line "  # the function's qualified name and the line of the loop's head follow: "loop line train:7"
ITERATION = "iteration"  # a stat of these: which pass of the loop begins, from 0 each time that the loop is entered

GRADIENTS = "gradients "  # a tape computes them, outside of any function: "gradients train_step:12" says where

FETCH = "fetch of a batch"  # Python takes one from an iterator
LEADS = "leads"  # a stat of these: whether it is from the iterator that the pass of the loop began with

ITERATOR_END = "end of an iterator"  # Python lets go of one over a dataset, and waits for what it still does

SESSION_CALL = "call of SessionRun"  # Python runs a session

MODEL_FILE = "model file "  # the reading or writing of a model: "model file load_model"

KERAS_CALL = "keras call "  # fit, evaluate or predict of a model, from its begin to its end: "keras call fit"

KERAS_LOOP_END = "keras loop end"  # Keras has run the last step of a pass over the data

CALLBACK = "callback "  # the callback's class and method follow: "callback History.on_epoch_end"

# Ops are recorded from the beginning until the first end, and again from each further beginning.
OPS_BEGIN, OPS_END = "recording of ops begins", "recording of ops ends"
