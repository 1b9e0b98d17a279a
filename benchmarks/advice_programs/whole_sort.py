"""A service that sorts the scores of all items to find the ten nearest ones."""

KIND = "rows sorted for their first few"

SETUP = '''
import numpy as np
import tensorflow as tf

class Retriever:
    """Serves nearest neighbours out of an index in memory."""

    def __init__(self, n_items=40_000, dim=32, k=10):
        self.k = k
        self.index = tf.random.normal((n_items, dim), seed=3)
        self.encoder = tf.keras.Sequential([tf.keras.Input((48,)), tf.keras.layers.Dense(dim)])

    @tf.function
    def search(self, queries):
        scores = tf.matmul(self.encoder(queries), self.index, transpose_b=True)
        order = tf.argsort(scores, axis=-1, direction="DESCENDING")
        top = order[:, :self.k]
        return top, tf.gather(scores, top, batch_dims=1)

service = Retriever()
requests = [np.random.rand(8, 48).astype("float32") for _ in range(20)]
'''

CELL = """
answers = []
for request in requests:
    ids, scores = service.search(tf.constant(request))
    answers.append((ids.numpy(), scores.numpy()))
"""

FIXED = """
class FastRetriever(Retriever):
    @tf.function
    def search(self, queries):
        scores = tf.matmul(self.encoder(queries), self.index, transpose_b=True)
        best, top = tf.math.top_k(scores, k=self.k)
        return top, best

fast_service = FastRetriever()
answers = []
for request in requests:
    ids, scores = fast_service.search(tf.constant(request))
    answers.append((ids.numpy(), scores.numpy()))
"""

RULES = ("sorted-for-few",)
PLACES = ("order = tf.argsort",)
