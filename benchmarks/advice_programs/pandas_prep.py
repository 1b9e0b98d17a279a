"""A feature computed row by row in pandas, in the cell that then trains."""

KIND = "rows of a table computed in Python before training"

SETUP = """
import pandas as pd, numpy as np, tensorflow as tf

trips = pd.DataFrame(np.random.rand(60000, 4), columns=["lat1", "lon1", "lat2", "lon2"])
fare = (trips.lat1 + trips.lon2).values.astype("float32")
"""

CELL = """
def haversine(row):
    la1, lo1, la2, lo2 = np.radians([row["lat1"], row["lon1"], row["lat2"], row["lon2"]])
    h = np.sin((la2 - la1) / 2) ** 2 + np.cos(la1) * np.cos(la2) * np.sin((lo2 - lo1) / 2) ** 2
    return 6371 * 2 * np.arcsin(np.sqrt(h))

trips["km"] = trips.apply(haversine, axis=1)
m = tf.keras.Sequential([
    tf.keras.Input((5,)),
    tf.keras.layers.Dense(64, "relu"),
    tf.keras.layers.Dense(64, "relu"),
    tf.keras.layers.Dense(1),
])
m.compile("adam", "mse")
m.fit(trips[["lat1", "lon1", "lat2", "lon2", "km"]].values, fare, batch_size=512, epochs=1, verbose=0)
"""

FIXED = CELL.replace("trips.apply(haversine, axis=1)", "haversine(trips)").replace(
    'np.radians([row["lat1"], row["lon1"], row["lat2"], row["lon2"]])',
    '(np.radians(row[name]) for name in ("lat1", "lon1", "lat2", "lon2"))',
)

RULES = ("python-outside-steps",)
PLACES = ("haversine", ".apply(haversine")
