"""Images noised and erased by NumPy loops in tf.numpy_function, though the map is parallel and prefetched."""

KIND = "Python in the map (numpy_function)"

SETUP = """
import numpy as np
import tensorflow as tf
import keras

np.random.seed(0)
X = np.random.randint(0, 256, (1500, 28, 28, 1)).astype("uint8")
Y = np.random.randint(0, 10, 1500)
inp = keras.Input((28, 28, 1))
h = keras.layers.Conv2D(8, 3, strides=2, activation="relu")(inp)
h = keras.layers.Flatten()(h)
net = keras.Model(inp, keras.layers.Dense(10)(h))
net.compile(keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""

CELL = """
def random_erase(img):
    img = img.astype("float32") / 255
    for _ in range(8):
        r, c = np.random.randint(0, 24, 2)
        for i in range(4):
            for j in range(4):
                img[r + i, c + j, 0] = np.random.rand()
    return img

def tf_erase(img, label):
    img = tf.numpy_function(random_erase, [img], tf.float32)
    img.set_shape((28, 28, 1))
    return img, label

ds = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(1500)
ds = ds.map(tf_erase, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(tf.data.AUTOTUNE)
net.fit(ds, epochs=5, verbose=0)
"""

FIXED = """
def batch_erase(img, label):
    img = tf.cast(img, tf.float32) / 255
    n = tf.shape(img)[0]
    hole = tf.zeros((n, 28, 28, 1), tf.bool)
    for _ in range(6):
        corner = tf.random.uniform((2, n, 1), 0, 24, tf.int32)
        inside = tf.abs(tf.range(28) - corner - 2) < 2
        hole |= (inside[0][:, :, None] & inside[1][:, None, :])[..., None]
    return tf.where(hole, tf.random.uniform(tf.shape(img)), img), label

ds = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(1500)
ds = ds.batch(64).map(batch_erase, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
net.fit(ds, epochs=5, verbose=0)
"""

RULES = ("python-map", "python-repeated-each-epoch")
PLACES = ("random_erase", "tf_erase")
