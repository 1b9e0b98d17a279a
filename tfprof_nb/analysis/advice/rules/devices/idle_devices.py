from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule

# What `tf.distribute` calls the ops of each replica but the first.
_OF_REPLICA = r"(?:^|/)replica_[0-9]+/"
_SHARE_WORK = (
    "Let them share the work: `strategy = tf.distribute.MirroredStrategy()`, and build and compile the model in "
    "`with strategy.scope():`, with a batch as many times larger. Or leave them to other programs: "
    "CUDA_VISIBLE_DEVICES=0 before TensorFlow is imported."
)
_SHARED_ALREADY = "Capture more steps. If these devices are still without work, check that the strategy includes them."

RULE = Rule(
    "idle-devices",
    "Some devices did nothing",
    "Looks for devices without work beside others that have some.",
    "A program uses one GPU unless a strategy of `tf.distribute` shares its work.",
    page="overview",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    idle, count = evidence.idle_devices
    if not idle:
        return
    replicas = evidence.ops.table["op_name"].astype(str).str.contains(_OF_REPLICA).any()
    yield Case(
        100 * len(idle) / count,
        f"{len(idle)} of {count} devices did nothing",
        f"No work was recorded on {', '.join(idle)}.{' Replicas of a strategy ran on the others.' if replicas else ''}",
        _SHARED_ALREADY if replicas else _SHARE_WORK,
        severity="info" if replicas else "medium",
    )
