import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.step_ops.layers import layers
from tfprof_nb.analysis.step_ops.shapes import sizes
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_PREPARING = (
    *("RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness", "RandomFlip"),
    *("RandomCrop", "RandomHeight", "RandomWidth", "RandomShear", "RandomPerspective", "RandomHue", "RandomSaturation"),
    *("RandomGaussianBlur", "RandomSharpness", "RandomColorJitter", "RandomElasticTransform", "RandAugment"),
    *("AugMix", "CutMix", "MixUp", "Resizing", "CenterCrop", "Rescaling", "Normalization"),
)
_PIXELWISE = ("Resizing", "CenterCrop", "Rescaling", "Normalization")
_SMALLER, _LEAST_SAVED = 1.5, 0.5
_IMAGE_RANK = 4
_IN_THE_PIPELINE = (
    "Let the pipeline do it, on all cores while the model trains: `ds.map(lambda x, y: (augment(x, training=True), y), "
    "num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)`, after .batch(). On a CPU that is busy already, "
    "drop what helps the model least: rotating, zooming and moving resample every pixel."
)

RULE = Rule(
    "image-layers-in-model",
    "Layers in the model prepare the images",
    "Looks for layers that rotate, zoom, crop or resize images inside of the model and take much of each step.",
    "The device waits for them in each step. In the pipeline they run ahead, on all cores; before resizing, they work "
    "on more pixels than the model sees.",
    action="Make the images small first",
    page="ops",
    moderate=30.0,
    high=50.0,
    saved=(0.0, 1.0),
    supersedes=("dominant-layer",),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    table = ops.once(layers)
    own = table[table["kind"].isin(_PREPARING)] if len(table) else table
    percent = 100 * float(own["alone_share"].sum()) if len(own) else 0.0
    random = own[~own["kind"].isin(_PIXELWISE)]
    if random.empty:
        return
    names = ", ".join(str(name).rpartition("/")[2] for name in own["layer"].head(3))
    place = next((ops.place(frame) for frame in own["frame"] if ops.place(frame)), "")
    begin, end = _pixels(ops)
    late = "Resizing" in set(own["kind"]) and begin >= _SMALLER * end > 0
    saved = 1 - end / begin if late else 0.0
    yield Case(
        percent,
        saved=(_LEAST_SAVED * saved, saved) if late else (0.0, 1.0),
        finding=f"Preparing the images takes {_units.percent(percent)} of each step: {_units.shorten(names, 80)}",
        evidence="During that time, no other ops run."
        + f" They are made at {place}." * bool(place)
        + f" They work on {begin:,} pixels per image, and Resizing then leaves {end:,}." * late,
        fix="Put Resizing first, so that the others work on small images." if late else _IN_THE_PIPELINE,
        place=place,
    )


def _pixels(ops: StepOps) -> tuple[int, int]:
    """Return the pixels of an image before and after it is resized; 0 if they are unknown."""
    graphs = ops.graphs
    kind = np.append(graphs.layers["type"].to_numpy(dtype=object), "")[graphs.nodes["layer"].to_numpy(np.int64)]
    for _, node in graphs.nodes[(kind == "Resizing") & graphs.nodes["op"].str.startswith("Resize")].iterrows():
        taken, made = (sizes(str(node[column]).replace("[?,", "[1,")) for column in ("takes", "outputs"))
        if taken and made and len(taken[0]) == len(made[0]) == _IMAGE_RANK:
            return taken[0][1] * taken[0][2], made[0][1] * made[0][2]
    return 0, 0
