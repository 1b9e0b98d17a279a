"""Sensor readings kept in thousands of files with two records each."""

KIND = "many small files"

SETUP = """
import os
import numpy as np
import tensorflow as tf

os.makedirs("readings", exist_ok=True)
rng = np.random.default_rng(1)

def example(values, target):
    feature = {
        "values": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
        "target": tf.train.Feature(float_list=tf.train.FloatList(value=[target])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

with tf.io.TFRecordWriter("all_readings.tfrecord") as everything:
    for day in range(2500):
        with tf.io.TFRecordWriter(f"readings/{day:05}.tfrecord") as writer:
            for _ in range(2):
                record = example(rng.normal(size=32), rng.normal())
                writer.write(record)
                everything.write(record)

SPEC = {"values": tf.io.FixedLenFeature([32], tf.float32), "target": tf.io.FixedLenFeature([], tf.float32)}

def parse(records):
    parsed = tf.io.parse_example(records, SPEC)
    return parsed["values"], parsed["target"]

regressor = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
regressor.compile("adam", "mse")
"""

CELL = """
files = tf.data.Dataset.list_files("readings/*.tfrecord", shuffle=True)
data = files.interleave(tf.data.TFRecordDataset, cycle_length=8, num_parallel_calls=tf.data.AUTOTUNE)
data = data.batch(100).map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
regressor.fit(data, epochs=3, verbose=0)
"""

FIXED = """
data = tf.data.TFRecordDataset("all_readings.tfrecord").shuffle(5000)
data = data.batch(100).map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
regressor.fit(data, epochs=3, verbose=0)
"""

RULES = ("slow-file-reads",)
PLACES = ("interleave", "list_files")
