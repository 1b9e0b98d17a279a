"""``compare``: two profiles, before and after a change."""

import os
from collections.abc import Sequence

from tfprof_nb._errors import TfprofError
from tfprof_nb.analysis.compare.compare import Comparison, comparison
from tfprof_nb.api.load import load
from tfprof_nb.profiles import Profile
from tfprof_nb.render.content import Content
from tfprof_nb.runs import Run
from tfprof_nb.views import compare as view

Side = Profile | Run | str | os.PathLike[str]


def compare(before: Side | Sequence[Side], after: Side | Sequence[Side]) -> Comparison:
    """Compare a program before and after a change: how much faster it became, and whether chance could explain it.

    Parameters
    ----------
    before, after
        A profile, or a path, which `load` opens; or a list of them: the same program profiled several times.

    Returns
    -------
    Comparison
        ``summary["speedup"]`` is how many times faster the work became: by the time per example, gaps between steps,
        starts of epochs and callbacks included; where the size of batches is not known, per batch, per step or for the
        whole capture, as ``speedup_of`` says. ``verdict`` says whether the runs tell that from chance: single captures
        tell nothing less than 20%, statistics need 5 runs of each, and runs that took turns tell most. ``changes`` says
        what was changed in the program. The frames ``steps ops kernels memory`` have ``before after change
        change_percent``.

    Raises
    ------
    TfprofError
        If an argument is no profile and no path, or an empty list.
    ProfileNotFoundError, BadProfileError
        If a path cannot be loaded.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile("before") as before:
    ...     pass
    >>> with tp.profile("after") as after:
    ...     pass
    >>> tp.compare(before, after).summary["speedup_of"]
    'capture'
    """
    sides = _profiles(before, "before"), _profiles(after, "after")
    found = comparison(*([profile.measured for profile in side] for side in sides))
    title = " · ".join(f"{label}: {_names(side)}" for label, side in zip(("before", "after"), sides, strict=True))
    return found.shown_by(lambda: Content(title, view.panels(found)))


def _profiles(side: Side | Sequence[Side], label: str) -> list[Profile]:
    several = list(side) if isinstance(side, list | tuple) else [side]
    if not several:
        raise TfprofError(f"The list of profiles {label} is empty: give at least one profile.")
    return [_profile(one, label) for one in several]


def _profile(one: object, label: str) -> Profile:
    if isinstance(one, Profile):
        return one
    if isinstance(one, str | os.PathLike | Run):
        return load(one)
    raise TfprofError(
        f"The argument {label} is of type {type(one).__name__}: give a Profile, the path of a profile, or a list "
        "of these."
    )


def _names(side: Sequence[Profile]) -> str:
    return ", ".join(profile.name for profile in side)
