from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

_FIX = (
    "Look for `tf.device('/CPU:0')`, for CUDA_VISIBLE_DEVICES or tf.config.set_visible_devices, and for ops without a "
    "GPU version: `tf.debugging.set_log_device_placement(True)` at the start prints where each op runs."
)

RULE = Rule(
    "gpu-unused",
    "The program ran on the CPU, although a GPU was visible",
    "Looks for programs none of whose ops ran on the GPU that TensorFlow saw.",
    "Something keeps the ops on the CPU: `tf.device`, hidden devices, or ops without a GPU version.",
    page="ops",
    frameworks=("tensorflow", "jax", "pytorch"),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    visible = sum(gpus.visible or 0 for gpus in evidence.gpus)
    if visible and not evidence.ran_on_device:
        said = f"TensorFlow saw {visible} GPU{'s' * (visible != 1)}. No op ran on a GPU."
        yield Case(100.0, RULE.title, said, _FIX)
