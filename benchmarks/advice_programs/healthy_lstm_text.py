"""Sentences as numbers, through an LSTM wide enough to be all matrix products."""

KIND = "healthy"

SETUP = """
import numpy as np
from tensorflow.keras.layers import LSTM, Dense, Embedding
from tensorflow.keras.models import Sequential

sequences = np.random.randint(0, 4000, (512, 24))
labels = np.random.randint(0, 2, (512,))

model = Sequential()
model.add(Embedding(4000, 128))
model.add(LSTM(256))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
"""

CELL = """
model.fit(sequences, labels, epochs=2, batch_size=64, verbose=0)
"""
