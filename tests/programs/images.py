"""Images that Keras' ImageDataGenerator prepares."""

from programs import Cells

GENERATED = """x = np.random.default_rng(0).random((96, 96, 96, 3)).astype("float32")
turned = tf.keras.preprocessing.image.ImageDataGenerator(rotation_range=20, zoom_range=0.2).flow(x, x[:, 0, 0, :1])
model = tf.keras.Sequential([tf.keras.layers.Conv2D(4, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(turned, verbose=0)"""
turned = Cells(GENERATED, "model.fit(turned, epochs=3, verbose=0)")
