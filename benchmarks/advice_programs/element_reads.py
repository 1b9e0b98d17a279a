"""Detections whose classes and scores are read from tensors one by one."""

KIND = "elements of a tensor read one by one"

SETUP = """
import tensorflow as tf

head = tf.keras.Sequential([
    tf.keras.layers.Input((24,)),
    tf.keras.layers.Dense(64, activation='relu'),
    tf.keras.layers.Dense(20),
])

@tf.function
def detect(boxes):
    p = tf.nn.softmax(head(boxes))
    return tf.argmax(p, -1), tf.reduce_max(p, -1)

frames = [tf.random.normal((200, 24)) for _ in range(15)]
"""

CELL = """
found = []
for n, boxes in enumerate(frames):
    classes, conf = detect(boxes)
    for i in range(200):
        if float(conf[i]) > 0.06:
            found.append((n, i))
"""

FIXED = CELL.replace("    for i in range(200):", "    conf = conf.numpy()\n    for i in range(200):")

RULES = ("tensor-read-by-element",)
PLACES = ("for i in range(200)", "float(conf[i])")
