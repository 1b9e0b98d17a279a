"""A policy gradient on a cart and its pole, which asks model.predict before each move."""

KIND = "model.predict for each state of an environment"

SETUP = """
import numpy as np
import keras
from keras import layers
import tensorflow as tf

class Cart:
    def reset(self):
        self.s = np.random.uniform(-.05, .05, 4).astype(np.float32)
        self.t = 0
        return self.s
    def step(self, a):
        x, v, th, w = self.s
        f = 10. if a else -10.
        c, s = np.cos(th), np.sin(th)
        tmp = (f + .05 * w * w * s) / 1.1
        tha = (9.8 * s - c * tmp) / (.5 * (4 / 3 - .1 * c * c / 1.1))
        xa = tmp - .05 * tha * c / 1.1
        self.s = np.array([x + .02 * v, v + .02 * xa, th + .02 * w, w + .02 * tha], np.float32)
        self.t += 1
        return self.s, 1.0, abs(self.s[2]) > .8 or self.t >= 20

env = Cart()
policy = keras.Sequential([
    layers.Input((4,)),
    layers.Dense(32, activation="tanh"),
    layers.Dense(2, activation="softmax"),
])
policy.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
"""

CELL = """
def act(state):
    probs = policy.predict(state[np.newaxis, :], verbose=0)[0]
    return np.random.choice(2, p=probs / probs.sum())

rewards = []
for episode in range(3):
    state, done = env.reset(), False
    states, actions, rs = [], [], []
    while not done:
        a = act(state)
        nxt, r, done = env.step(a)
        states.append(state); actions.append(a); rs.append(r)
        state = nxt
    G = np.cumsum(rs[::-1])[::-1].astype("float32")
    policy.train_on_batch(np.array(states), np.array(actions), sample_weight=G / G.max())
    rewards.append(sum(rs))
print(rewards)
"""

FIXED = "forward = tf.function(policy)\n" + CELL.replace(
    "policy.predict(state[np.newaxis, :], verbose=0)[0]", "forward(tf.constant(state[np.newaxis, :]))[0].numpy()"
)

RULES = ("predict-per-example",)
PLACES = ("act", ".predict(")
