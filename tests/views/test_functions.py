"""The page of tf.functions: plain words on it, TensorFlow's own in the frame."""

import pandas as pd

from tfprof_nb.analysis.functions.functions import COLUMNS, Functions
from tfprof_nb.views.functions import panels


def test_how_a_call_ran_is_said_in_plain_words_and_the_frame_keeps_its_own():
    row = {**dict.fromkeys(COLUMNS, 1.0), "function": "train_step", "mode": "notTraced-nonXla"}
    result = Functions(table=pd.DataFrame([row, {**row, "mode": "a word of a later TensorFlow"}]), notes=[], summary={})
    shown = panels(result)[0]
    assert shown.frame["mode"].tolist() == ["ran an existing graph, without XLA", "a word of a later TensorFlow"]
    assert result.table["mode"].iloc[0] == "notTraced-nonXla"
