"""What to do about a callback that predicts one example after another."""

import keras
import numpy as np

X, Y = np.ones((320, 16), "float32"), np.ones((320, 1), "float32")


class Scores(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        found = [self.model.predict(row[None], verbose=0)[0, 0] for row in X[:12]]
        self.mean = np.mean(found)


def fit():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[Scores()])


def test_a_callback_that_predicts_in_a_loop_is_told_to_predict_at_once(advised, place_of, the_one):
    found = the_one(advised(fit), "Scores.on_epoch_end takes")
    assert found["finding"].endswith("of the training's time: it calls self.model.predict again and again")
    assert found["fix"].startswith("Call self.model.predict once, with all examples in one array. Or skip")
    assert found["place"] == place_of(Scores, "predict(")
    assert found["change"] == "found = [self.model.predict_on_batch(row[None])[0, 0] for row in X[:12]]"
