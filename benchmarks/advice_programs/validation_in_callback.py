"""The old on_batch_end hook evaluates the test set every few batches."""

KIND = "validation every few batches, in a callback"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Dropout
from tensorflow.keras.models import Sequential

X_train, X_test = np.random.normal(size=(8000, 50)), np.random.normal(size=(3000, 50))
Y_train, Y_test = X_train.argmax(1) % 5, X_test.argmax(1) % 5
clf = Sequential([Dense(128, activation="relu", input_dim=50), Dropout(0.2), Dense(5, activation="softmax")])
clf.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", metrics=["acc"])
"""

CELL = """
class TestSetWatcher(tf.keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every
        self.scores = []

    def on_batch_end(self, batch, logs={}):
        if batch % self.every == 0:
            self.scores.append(self.model.evaluate(X_test, Y_test, verbose=0))

watcher = TestSetWatcher(every=10)
clf.fit(X_train, Y_train, batch_size=50, epochs=1, callbacks=[watcher], verbose=0)
"""

FIXED = """
clf.fit(X_train, Y_train, batch_size=50, epochs=1, validation_data=(X_test, Y_test), verbose=0)
"""

RULES = ("slow-callback",)
PLACES = ("on_batch_end", "TestSetWatcher", ".evaluate(")
