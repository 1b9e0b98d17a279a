"""The verdict in a sentence: the headline of the first screen."""

from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.events.framework import TITLES
from tfprof_nb.analysis.overview import Overview
from tfprof_nb.views.categories import CAPTURE_PARTS, STEP_LABELS

# By the reason of the verdict; without one, by the verdict.
_VERDICTS = {
    "highly": "HIGHLY input-bound: {input} of each step waits for data.",
    "moderately": ("MODERATELY input-bound: {input} of each step waits for data, {largest_share} is {largest}."),
    "potentially": (
        "POTENTIALLY input-bound: {other} of each step is time that {framework} does not account for "
        "(Python code, or reading data{outside})."
    ),
    "python": (
        "NOT input-bound: {input} of each step waits for data. {other} of each step is Python code and other time "
        "outside of {framework} ops."
    ),
    "idle": "POTENTIALLY input-bound: the TPU runs nothing for {other} of each step.",
    "idle_too": "{largest_share} of each step is {largest}. The TPU runs nothing for {other}: it may wait for data.",
    "not": "NOT input-bound: {largest_share} of each step is {largest}, {input} waits for data.",
    "short_fetches": (
        "NOT input-bound: each step takes {step}, of which {fetch} fetches the batch. {largest_share} is {largest}."
    ),
    "unseen": "{largest_share} of each step is {largest}. Waiting for data between steps is not in this trace.",
    "unknown": "No step times: this profile has no steps that could be measured.",
}
_UNRECORDED = "Nothing was recorded on the GPU{s}: only the host's part of the program is in this profile."
_LITTLE = (
    "{rest_share} of the capture is {rest}. Only {measured} is in measured steps: {largest_share} of their time is "
    "{largest}{waits}."
)
# Of a capture without its warm-up, which training for longer hides: what measured steps with less wait for does not
# tell what limits the program.
_LITTLE_SHARE = 0.1
_HICCUP_SHARE = 0.3  # of all waiting, in one step


def headline(overview: Overview) -> str:
    """Put the verdict into a sentence."""
    numbers = overview.summary
    if numbers["unrecorded_gpus"]:
        return _UNRECORDED.format(s="s" * (numbers["unrecorded_gpus"] > 1))
    largest = numbers["largest_category"]
    if numbers["drawn_by"] and not largest:
        return f"A timeline of {numbers['drawn_by']}, without steps."
    words = {"step": _units.milliseconds(numbers["step_ms"]), "fetch": _units.milliseconds(numbers["input_ms"])}
    words |= {"input": _units.percent(numbers["input_percent"]), "other": _units.percent(numbers["other_percent"])}
    words["framework"] = TITLES[numbers["framework"]]
    words["outside"] = " outside tf.data" if numbers["framework"] == "tensorflow" else ""
    if largest:
        words["largest"] = STEP_LABELS[largest]
        words["largest_share"] = _units.percent(numbers[f"{largest.removesuffix('_ms')}_percent"])
    rest_ms = numbers["capture_ms"] - numbers["warm_up_steps_ms"]
    if largest and numbers["measured_steps_ms"] < _LITTLE_SHARE * rest_ms:
        return _LITTLE.format(**words, **_rest(numbers))
    return _VERDICTS[_kind(numbers)].format(**words) + _hiccup(numbers)


def _rest(numbers: dict[str, Any]) -> dict[str, str]:
    """Say what most of a capture is of which the measured steps are a small part."""
    measured, _, *others = CAPTURE_PARTS
    longest = max(others, key=lambda part: numbers[part])
    label = CAPTURE_PARTS[longest].label
    known = numbers["verdict"] != "unknown" and numbers["largest_category"] != "input_ms"
    return {
        "rest": label if longest == "outside_steps_ms" else f"in {label}",
        "rest_share": _units.share(numbers[longest] / numbers["capture_ms"]),
        "measured": _units.share(numbers[measured] / numbers["capture_ms"]),
        "waits": f", {_units.percent(numbers['input_percent'])} waits for data" if known else "",
    }


def _kind(numbers: dict[str, Any]) -> str:
    """Return the key of the sentence."""
    verdict = str(numbers["verdict"])
    if verdict == "unknown" and numbers["largest_category"]:
        return "unseen"
    if verdict == "potentially" and str(numbers["device_type"]).startswith("TPU"):
        return "idle" if numbers["largest_category"] == "other_ms" else "idle_too"
    return next(key for key in (numbers["verdict_reason"], verdict) if key in _VERDICTS)


def _hiccup(numbers: dict[str, Any]) -> str:
    """Say if a single step makes the verdict: it raises the average, while half of the steps do better."""
    median = numbers["input_percent_median"]
    waits = numbers["verdict"] in ("highly", "moderately") or numbers["verdict_reason"] == "only_at_starts"
    if not (waits and numbers["median_is_milder"] and numbers["longest_wait_share"] >= _HICCUP_SHARE):
        return ""
    half = "Half" if numbers["verdict"] == "not" else "But half"
    return (
        f" {half} of the steps wait less than {_units.percent(median)}: step {numbers['longest_wait_step']} alone "
        f"has {_units.share(numbers['longest_wait_share'])} of all waiting."
    )
