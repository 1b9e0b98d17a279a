"""Pictures that are read and resized, and then filtered by their names."""

KIND = "a filter behind an expensive map"

SETUP = """
import pathlib
import tensorflow as tf

folder = pathlib.Path("animals")
folder.mkdir(exist_ok=True)
for i in range(200):
    kind = "cat" if i % 5 == 0 else "other"
    picture = tf.cast(tf.random.uniform((256, 256, 3), 0, 255, tf.int32), tf.uint8)
    (folder / f"{kind}_{i}.png").write_bytes(tf.io.encode_png(picture).numpy())

def read(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    image = tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [48, 48])
    return image, path

ae = tf.keras.Sequential([
    tf.keras.layers.Input((48, 48, 3)),
    tf.keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
    tf.keras.layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="sigmoid"),
])
ae.compile("adam", "mse")
"""

CELL = """
def only_cats(image, path):
    return tf.strings.regex_full_match(path, r".*cat_\\d+\\.png")

images = (tf.data.Dataset.list_files("animals/*.png")
          .map(read, num_parallel_calls=tf.data.AUTOTUNE)
          .filter(only_cats)
          .map(lambda image, path: (image, image))
          .batch(8).prefetch(tf.data.AUTOTUNE))
ae.fit(images, epochs=4, verbose=0)
"""

FIXED = """
def only_cats(path):
    return tf.strings.regex_full_match(path, r".*cat_\\d+\\.png")

images = (tf.data.Dataset.list_files("animals/*.png")
          .filter(only_cats)
          .map(read, num_parallel_calls=tf.data.AUTOTUNE)
          .map(lambda image, path: (image, image))
          .batch(8).prefetch(tf.data.AUTOTUNE))
ae.fit(images, epochs=4, verbose=0)
"""

RULES = ("dropped-elements",)
PLACES = ("only_cats", "read")
