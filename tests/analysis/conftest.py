"""One capture of a small Keras program, made here and shared by the tests that compare with XProf."""

import pytest


@pytest.fixture(scope="session")
def keras_capture(tmp_path_factory):
    """Train a few batches under TensorFlow's own profiler, and return the ``.xplane.pb``."""
    tf = pytest.importorskip("tensorflow")
    logdir = tmp_path_factory.mktemp("keras_capture")
    # Large enough for the CPU allocator to record what it hands out (from 256 KiB on).
    images = tf.random.uniform((64, 64, 64, 3))
    labels = tf.zeros((64,), tf.int32)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (x * 2, y)).batch(8).prefetch(2)
    model = tf.keras.Sequential(
        [tf.keras.layers.Conv2D(4, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, "softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data, verbose=0, shuffle=False)
    tf.profiler.experimental.start(str(logdir))
    model.fit(data, verbose=0, shuffle=False)
    tf.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
    tf.profiler.experimental.stop()
    return next(logdir.rglob("*.xplane.pb"))


@pytest.fixture(scope="session")
def xprof_marked_loop(tmp_path_factory):
    """Run a training loop without `tf.while_loop` whose steps are marked, and return the ``.xplane.pb``."""
    tf = pytest.importorskip("tensorflow")
    logdir = tmp_path_factory.mktemp("marked_loop")
    weights = tf.Variable(tf.random.normal((256, 10)))
    data = tf.data.Dataset.from_tensor_slices(tf.random.normal((640, 256))).batch(32).map(lambda x: x * 2)

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch @ weights) ** 2)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    train_step(next(iter(data)))
    tf.profiler.experimental.start(str(logdir))
    batches = iter(data)
    for i in range(12):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            train_step(next(batches))
    tf.profiler.experimental.stop()
    return next(logdir.rglob("*.xplane.pb"))
