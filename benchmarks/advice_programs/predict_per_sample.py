"""An agent that asks model.predict for one state at a time."""

KIND = "model.predict called for single examples"

SETUP = """
import random
from collections import deque

import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam

class DQNAgent:
    def __init__(self, state_size, action_size):
        self.memory = deque(maxlen=2000)
        self.gamma = 0.95
        self.action_size = action_size
        self.model = Sequential()
        self.model.add(Input((state_size,)))
        self.model.add(Dense(24, activation="relu"))
        self.model.add(Dense(24, activation="relu"))
        self.model.add(Dense(action_size, activation="linear"))
        self.model.compile(loss="mse", optimizer=Adam(0.001))

    def remember(self, *transition):
        self.memory.append(transition)

agent = DQNAgent(4, 2)
state = np.random.randn(1, 4)
for _ in range(500):
    next_state = np.random.randn(1, 4)
    agent.remember(state, random.randrange(2), random.random(), next_state, random.random() < 0.1)
    state = next_state
"""

CELL = """
def replay(agent, batch_size):
    minibatch = random.sample(agent.memory, batch_size)
    states, targets = [], []
    for state, action, reward, next_state, done in minibatch:
        target = reward
        if not done:
            target = reward + agent.gamma * np.amax(agent.model.predict(next_state, verbose=0)[0])
        target_f = agent.model.predict(state, verbose=0)
        target_f[0][action] = target
        states.append(state[0])
        targets.append(target_f[0])
    agent.model.fit(np.array(states), np.array(targets), epochs=1, verbose=0)

for game in range(2):
    replay(agent, 24)
"""

FIXED = """
def replay(agent, batch_size):
    minibatch = random.sample(agent.memory, batch_size)
    states, actions, rewards, next_states, dones = map(np.array, zip(*minibatch))
    best = agent.model.predict(next_states[:, 0], verbose=0).max(axis=1)
    targets = agent.model.predict(states[:, 0], verbose=0)
    targets[np.arange(batch_size), actions] = rewards + agent.gamma * best * ~dones
    agent.model.fit(states[:, 0], targets, epochs=1, verbose=0)

for game in range(2):
    replay(agent, 24)
"""

RULES = ("predict-per-example",)
PLACES = ("replay", ".predict(")
