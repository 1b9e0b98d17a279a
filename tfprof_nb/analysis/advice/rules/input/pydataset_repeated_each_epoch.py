from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.advice.rules.input._cause import Cause, cause_rule
from tfprof_nb.analysis.advice.rules.input._kept import PASSES_WORTH_KEEPING
from tfprof_nb.analysis.advice.rules.input._python import dataset_class, slow_dataset
from tfprof_nb.analysis.source.caching import kept_batches
from tfprof_nb.analysis.source.code import place_of

RULE = cause_rule(
    "pydataset-repeated-each-epoch",
    "A PyDataset makes the same batches in each epoch",
    "Looks for a `__getitem__` that gives the same in each of three epochs or more.",
    "Kept batches are made in the first epoch only.",
    action="Keep the batches in memory",
    saved=(0.35, 1.0),
    results="equal",
    after="eager-ops-in-input",
)


def cause(evidence: Evidence) -> Cause | None:
    dataset = dataset_class(evidence)
    if not dataset:
        return None
    found = slow_dataset(evidence, dataset)
    passes = int(evidence.steps.table["epoch"].nunique())
    keeps = passes >= PASSES_WORTH_KEEPING and not found.by_processes(evidence)
    kept = kept_batches(evidence.code, found.file, dataset) if keeps else ""
    if not kept:
        return None
    return Cause(
        f"{found.name}, again in each of {passes} epochs",
        found.shown,
        f"Keep the batches, if all of them fit in memory: put `@functools.cache` above {found.function}. Then only the "
        "first epoch makes them.",
        kept,
        place_of(found.file, found.defined),
        share=(passes - 1) / passes,
    )
