"""Programs in cells of a notebook, whose functions stand in another cell."""

from programs import Cells

READING = """def enlarge(x):
    for _ in range(12):
        x = tf.linalg.matmul(x, x) / 200.0
    return x
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
images = tf.ones((96, 160, 160))"""
READ = """train = (tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
         .cache()
         .shuffle(96)
         .map(lambda x, y: (enlarge(x), y), num_parallel_calls=tf.data.AUTOTUNE)
         .batch(8))
model.fit(train, epochs=3, verbose=0)"""
cache_before_map = Cells(READING, READ)

TAKEN = """full = tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
full = full.map(lambda x, y: (enlarge(x), y))
part = full.take(64)
model.fit(part.batch(8), epochs=3, verbose=0)"""
part_taken = Cells(READING, TAKEN)

IN_ONE_ORDER = """full = tf.data.Dataset.from_tensor_slices((images, tf.zeros(96)))
full = full.shuffle(96, reshuffle_each_iteration=False)
full = full.map(lambda x, y: (enlarge(x), y))
model.fit(full.batch(8), epochs=3, verbose=0)"""
one_order = Cells(READING, IN_ONE_ORDER)

ARCHIVE = """np.savez_compressed("part.npz", x=np.random.default_rng(0).normal(size=(64, 2000)).astype("float32"))
class Rows:
    def __call__(self):
        for k in range(48):
            yield self.row(k)
    def row(self, k):
        data = np.load("part.npz")
        return data["x"][k]
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")"""
ROWS = """ds = tf.data.Dataset.from_generator(Rows(), output_signature=tf.TensorSpec((2000,)))
model.fit(ds.map(lambda x: (x, 0.0)).batch(4), epochs=2, verbose=0)"""
archive_per_row = Cells(ARCHIVE, ROWS)

UPDATING = """net = keras.Sequential([keras.layers.Dense(64, activation="relu") for _ in range(6)])
net.build((None, 32))
adam = keras.optimizers.Adam()
adam.build(net.trainable_variables)
@tf.function
def gradients(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    return tape.gradient(loss, net.trainable_variables)
x = tf.ones((32, 32))"""
UPDATES = """for _ in range(40):
    found_gradients = gradients(x)
    adam.apply_gradients(zip(found_gradients, net.trainable_variables))"""
eager_optimizer = Cells(UPDATING, UPDATES)

ONE_BY_ONE = """net = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])
net.compile("sgd", "mse")
vectors = keras.layers.TextVectorization(max_tokens=100, output_mode="count")
vectors.adapt(["a b c", "b c d"])
def encode(batch):
    rows = []
    for text in batch:
        rows.append(vectors([text])[0].numpy())
    return np.stack(rows)"""
ENCODED = """for _ in range(10):
    batch = encode(["a b", "c d", "b c", "a d"] * 8)
    net.train_on_batch(batch, np.zeros(32))"""
layer_per_example = Cells(ONE_BY_ONE, ENCODED)

VALIDATING = """net = keras.Sequential([keras.layers.Dense(32, activation="relu") for _ in range(4)])
net.build((None, 32))
accuracy = keras.metrics.SparseCategoricalAccuracy()
batches = [(tf.ones((16, 32)), tf.zeros(16))] * 60
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y[:, None]))
    for variable, gradient in zip(net.weights, tape.gradient(loss, net.weights)):
        variable.assign_sub(0.01 * gradient)
    return loss
@tf.function
def validation_step(x, y):
    accuracy.update_state(y, net(x))
def validate():
    for x, y in batches:
        predicted = net(x)
        accuracy.update_state(y, predicted)
    print("validated")"""
VALIDATED = """for epoch in range(4):
    for x, y in batches:
        train_step(x, y)
    {}
    print(float(accuracy.result()))"""
IN_THE_CELL = "for x, y in batches:\n        predicted = net(x)\n        accuracy.update_state(y, predicted)"
validation_in_cell = Cells(VALIDATING, VALIDATED.format(IN_THE_CELL))
validation_in_function = Cells(VALIDATING, VALIDATED.format("validate()"))
validation_traced = Cells(VALIDATING, VALIDATED.format("for x, y in batches: validation_step(x, y)"))

ADAPTING = """import tensorflow as tf
net = keras.Sequential([keras.layers.Input((16,)), *(keras.layers.Dense(16, activation="tanh") for _ in range(6))])
net.compile("sgd", "mse")
optimizer = keras.optimizers.SGD(0.01)
batches = [np.ones((8, 16), "float32") * k for k in range(20)]"""
ADAPTED = """for task in range(5):
    for x in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x) - x))
        optimizer.apply(tape.gradient(loss, net.trainable_weights), net.trainable_weights)
    for x in batches:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - x))
        optimizer.apply(tape.gradient(loss, net.trainable_weights), net.trainable_weights)
    net.predict(batches[0], verbose=0)"""
two_eager_loops = Cells(ADAPTING, ADAPTED)

# What tests the model is a part of the traced step too.
SPREADING = """import tensorflow as tf
hidden = [keras.layers.Dense(48, activation="tanh") for _ in range(9)]
probe = keras.Sequential([keras.layers.Input((32,)), *hidden, keras.layers.Dense(4)])
sgd = keras.optimizers.SGD(0.01)
def spread(x, y):
    guessed = probe(x)
    return tf.reduce_mean(tf.square(guessed - y)) + tf.math.reduce_std(guessed)
@tf.function
def improve(x, y):
    with tf.GradientTape() as tape:
        loss = spread(x, y)
    sgd.apply(tape.gradient(loss, probe.trainable_weights), probe.trainable_weights)
many, few = ((np.ones((rows, 32), "float32"), np.ones((rows, 4), "float32")) for rows in (8192, 8))
improve(*map(tf.constant, many))
batches, held_out = (tf.data.Dataset.from_tensors(one).repeat(30) for one in (many, few))"""
SPREAD = """for epoch in range(3):
    for x, y in batches:
        improve(x, y)
    total = 0.0
    for x, y in held_out:
        total += spread(x, y)
    print(float(total))"""
tested_by_function = Cells(SPREADING, SPREAD)

FOLDING = """import tensorflow as tf
class Folder(keras.Model):
    def __init__(self):
        super().__init__()
        self.fold, self.out = keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)
    def call(self, rows):
        kept = tf.zeros((int(rows.shape[0]), 12))
        for row in tf.unstack(rows, axis=1):
            kept = self.fold(tf.concat([kept, row], axis=1))
        return self.out(kept)
def learn(folder, optimizer, series):
    for rows, y in series:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(folder(rows) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, folder.trainable_variables), folder.trainable_variables))
series = tf.data.Dataset.from_tensors((np.ones((8, 12, 3), "float32"), np.ones((8, 1), "float32"))).repeat(20)"""
call_one_by_one = Cells(FOLDING, "learn(Folder(), keras.optimizers.SGD(0.01), series)")

SCORING = """layers = [keras.layers.Dense(24, activation="gelu") for _ in range(10)]
scorer = keras.Sequential([keras.layers.Embedding(30, 24), *layers, keras.layers.Dense(30)])
scorer.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
symbols, spoken = list("abcdefghijklmnopqrstuvwxyz0123"), np.random.default_rng(1).integers(0, 30, (64, 12))
scorer.fit(spoken, spoken, verbose=0)
def decoded(seed):
    said, codes = "", [seed] * 12
    for _ in range(12):
        scores = scorer(tf.constant([codes]))
        best = tf.argmax(scores[0, -1]).numpy().item()
        said, codes = said + symbols[best], [*codes[1:], best]
    return said"""
DECODED = """scorer.fit(spoken, spoken, verbose=0)
for seed in range(20):
    said = decoded(seed)"""
decoded_after_fit = Cells(SCORING, DECODED)

# A function of the program has the name of a method of Keras; its model is called for each word.
TRANSLATING = """class Reader(keras.Model):
    def __init__(self):
        super().__init__()
        self.gru, self.out = keras.layers.GRU(16), keras.layers.Dense(30)
    def call(self, codes):
        return self.out(self.gru(tf.one_hot(codes, 30)))
reader = Reader()
learn = tf.function(lambda codes: tf.reduce_sum(reader(codes)))
many = tf.constant(np.random.default_rng(1).integers(0, 30, (64, 12)))
learn(many)
def evaluate(codes):
    best = tf.argmax(reader(codes)[0]).numpy()
    return best
def translate(seed):
    print(evaluate(tf.constant([[seed] * 12])))"""
TRANSLATED = """for _ in range(20):
    learn(many)
for seed in range(12):
    translate(seed)"""
translated_after_steps = Cells(TRANSLATING, TRANSLATED)

BATCHING = """class Loader:
    def __init__(self):
        self.pictures = np.random.default_rng(0).random((64, 60, 60))
    def turned(self, picture):
        return sum(np.rot90(picture, k) * k for k in range(4)) + np.sort(picture, axis=0)
    def blurred(self, picture):
        return sum(np.roll(picture, k, axis=1) for k in range(8)) + np.sort(picture, axis=1)
    def batch(self):
        found = []
        for picture in self.pictures:
            found.append(self.blurred(self.turned(picture)))
        return np.stack(found), np.zeros(64)
def learn(loader, steps):
    for _ in range(steps):
        pictures, labels = loader.batch()
        net.train_on_batch(pictures, labels)
net = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
net.compile("sgd", "mse")"""
batch_by_methods = Cells(BATCHING, "learn(Loader(), 40)")

GROWING = "embed = tf.function(lambda x: tf.tanh(x))\nbatch = tf.ones((512, 256))"
GROWN = """rows = tf.zeros((0, 256))
for _ in range(150):
    part = embed(batch)
    rows = tf.concat([rows, part], axis=0)"""
growing_tensor = Cells(GROWING, GROWN)

RATES = """net = keras.Sequential([keras.layers.Dense(8, activation="relu") for _ in range(8)])
x, y = np.ones((256, 8)), np.ones((256, 8))"""
COMPILED = """for rate in (0.1, 0.05, 0.02, 0.01):
    net.compile(keras.optimizers.SGD(rate), "mse")
    net.fit(x, y, verbose=0)"""
compile_in_loop = Cells(RATES, COMPILED)

SCALING = """numbers = np.random.default_rng(0).normal(size=(40_000, 20))
def scaled(values):
    return ((values - values.mean(axis=0)) / values.std(axis=0)).astype("float32")
def batch_of(k):
    return scaled(numbers)[64 * k : 64 * k + 64]
net = keras.Sequential([keras.layers.Dense(1)])
net.compile("sgd", "mse")"""
SCALED = "for k in range(40):\n    net.train_on_batch(batch_of(k), np.zeros(64))"
same_values_scaled = Cells(SCALING, SCALED)

HALF = """keras.mixed_precision.set_global_policy("mixed_float16")
net = keras.Sequential([keras.layers.Input((24, 24, 16)), keras.layers.Conv2D(32, 3), keras.layers.Flatten(),
                        keras.layers.Dense(1, dtype="float32")])
keras.mixed_precision.set_global_policy("float32")
net.compile("sgd", "mse")"""
float16_on_cpu = Cells(HALF, "net.fit(np.ones((128, 24, 24, 16)), np.zeros(128), batch_size=16, epochs=2, verbose=0)")

LOGGED = """net = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
losses, fit_step = [], keras.Sequential
optimizer = keras.optimizers.SGD()
net.build((None, 8))
optimizer.build(net.trainable_variables)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
x = tf.ones((16, 8))"""
losses_in_list = Cells(LOGGED, "for _ in range(400):\n    loss = step(x)\n    losses.append(loss)")

GRAPH_WITH_GRADIENT = """weights = tf.Variable(0.1 * tf.eye(220))
optimizer = keras.optimizers.Adam()
@tf.function
def powers(x):
    for _ in range(30):
        x = tf.tanh(x @ weights)
    return x
def train():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(powers(weights) ** 2) + 0.1 * tf.reduce_mean(tf.sin(weights) ** 3.0)
    gradient = tape.gradient(loss, [weights])
    optimizer.apply_gradients(zip(gradient, [weights]))"""
gradient_of_graph = Cells(GRAPH_WITH_GRADIENT, "for _ in range(40):\n    train()")

COMPETING = """maker = keras.Sequential([keras.layers.Dense(48, activation="relu") for _ in range(8)])
maker.build((None, 16))
critic = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
critic.compile("sgd", "binary_crossentropy")
real, labels = tf.ones((32, 48)), tf.constant([[0.0]] * 32 + [[1.0]] * 32)
def compete(noise):
    for drawn in noise:
        made = maker(drawn)
        critic.train_on_batch(tf.concat([made, real], 0), labels)"""
called_between_steps = Cells(COMPETING, "compete([tf.ones((32, 16))] * 80)")

FLAT = """net = keras.Sequential([keras.layers.Dense(32, activation="relu") for _ in range(12)])
net.build((None, 32))
@tf.function
def loss_of(x):
    return tf.reduce_mean(net(x) ** 2)
def put(flat):
    shapes = [w.shape for w in net.get_weights()]
    ends = np.cumsum([0] + [int(np.prod(shape)) for shape in shapes])
    net.set_weights([flat[a:b].reshape(shape) for a, b, shape in zip(ends[:-1], ends[1:], shapes)])
flat = np.concatenate([w.ravel() for w in net.get_weights()])
x = tf.ones((32, 32))"""
weights_from_array = Cells(FLAT, "for k in range(60):\n    put(flat * 0.99 ** k)\n    loss = loss_of(x)")

BUILT = """class Agent:
    def build(self):
        model = keras.Sequential()
        for _ in range(12):
            model.add(keras.layers.Dense(24, activation="relu"))
        model.build((None, 24))
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(learning_rate=0.001))
        return model"""
only_built = Cells(BUILT, "for _ in range(3):\n    model = Agent().build()")

MOVING = """net = keras.Sequential([keras.layers.Dense(32, activation="tanh") for _ in range(8)])
net.build((None, 32))
net.compile("sgd", "mse")
x = tf.ones((256, 32))
def move(state):
    return tf.clip_by_value(state + 0.1 * net(state, training=False), -1.0, 1.0)
def forecast(*_):
    state = x[:4]
    for _ in range(150):
        state = move(state)
    return state"""
FORECASTS = """ahead = keras.callbacks.LambdaCallback(on_epoch_end=forecast)
net.fit(x, x, epochs=3, verbose=0, callbacks=[ahead])"""
forecast_in_callback = Cells(MOVING, FORECASTS)
