"""A model that predicts single examples again and again."""

import keras
import numpy as np

MODEL = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
STATE = np.ones((1, 4), "float32")


def play():
    for _ in range(12):
        now = MODEL.predict(STATE, verbose=0)
        then = MODEL.predict(STATE + now.max(), verbose=0)
    return then


def test_all_lines_that_call_it_are_named(advised, place_of, the_one):
    found = the_one(advised(play), "MODEL.predict is called again and again")
    places = {place_of(play, "now ="), place_of(play, "then =")}
    (other,) = places - {found["place"]}
    assert f"and the calls at {other}: " in found["evidence"]
    assert f"Do so at {other} too." in found["fix"]
