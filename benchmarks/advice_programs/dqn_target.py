"""An agent whose target network follows softly, through arrays, after every learning step."""

KIND = "weights copied through NumPy in each step"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow import keras


def q_network(n_obs, n_actions):
    return keras.Sequential([
        keras.Input((n_obs,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(n_actions),
    ])


class DQNAgent:
    def __init__(self, n_obs=24, n_actions=6, gamma=0.99, tau=0.005):
        self.online = q_network(n_obs, n_actions)
        self.target = q_network(n_obs, n_actions)
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(1e-4)
        self.gamma, self.tau = gamma, tau

    def soft_update(self):
        w = self.online.get_weights()
        t = self.target.get_weights()
        for i in range(len(t)):
            t[i] = self.tau * w[i] + (1 - self.tau) * t[i]
        self.target.set_weights(t)

    @tf.function
    def learn_step(self, s, a, r, s2, done):
        q2 = tf.reduce_max(self.target(s2), axis=1)
        y = r + self.gamma * q2 * (1.0 - done)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.online(s) * tf.one_hot(a, 6), axis=1)
            loss = tf.reduce_mean(tf.square(y - q))
        g = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(g, self.online.trainable_variables))
        return loss

    def learn(self, batch):
        loss = self.learn_step(*batch)
        self.soft_update()
        return loss


rng = np.random.default_rng(0)
N = 20000
S = rng.normal(size=(N, 24)).astype("float32")
A = rng.integers(0, 6, N).astype("int32")
R = rng.normal(size=N).astype("float32")
S2 = rng.normal(size=(N, 24)).astype("float32")
D = (rng.random(N) < .02).astype("float32")
agent = DQNAgent()
"""

CELL = """
losses = []
for it in range(300):
    idx = rng.integers(0, N, 32)
    batch = [tf.constant(v[idx]) for v in (S, A, R, S2, D)]
    losses.append(agent.learn(batch))
print(float(tf.reduce_mean(losses)))
"""

FIXED = """
@tf.function
def soft_update():
    for w, t in zip(agent.online.variables, agent.target.variables):
        t.assign(agent.tau * w + (1 - agent.tau) * t)

losses = []
for it in range(300):
    idx = rng.integers(0, N, 32)
    batch = [tf.constant(v[idx]) for v in (S, A, R, S2, D)]
    losses.append(agent.learn_step(*batch))
    soft_update()
print(float(tf.reduce_mean(losses)))
"""

RULES = ("weights-through-numpy",)
PLACES = ("soft_update",)
