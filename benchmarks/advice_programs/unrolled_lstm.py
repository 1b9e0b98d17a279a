"""Recurrent layers with unroll=True over many time steps."""

KIND = "unrolled recurrent layers"

SETUP = """
import numpy as np
from keras.models import Sequential
from keras.layers import LSTM, Dense, Input

look_back = 30
trainX = np.random.rand(512, look_back, 4)
trainY = np.random.rand(512, 1)
"""

CELL = """
model = Sequential()
model.add(Input(shape=(look_back, 4)))
model.add(LSTM(32, return_sequences=True, unroll=True))
model.add(LSTM(16, unroll=True))
model.add(Dense(1))
model.compile(loss='mean_squared_error', optimizer='adam')
model.fit(trainX, trainY, epochs=3, batch_size=64, verbose=0)
"""

FIXED = CELL.replace(", unroll=True", "")

RULES = ("unrolled-layer",)
PLACES = ("unroll=True",)
