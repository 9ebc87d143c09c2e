"""Errors of a motion against its clip, each beside the tolerance within which its target is met.

A target's weight says how much its error counts in the solver's cost: an error e with weight w counts as much as √w e
with weight 1. Tolerances go by it, too: a target of weight 0.01 is met ten times as far away as one of weight 1. So a
weak target is a wish, and a motion is not called short for what nobody insisted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..clips.clip import TargetClip
from ..mechanism.model import Mechanism
from ..objectives.objective import TargetError
from ..objectives.settings import Settings
from .distances import ClipErrors
from .shortfall import ORIENTATION_MET, millimetres, position_met


@dataclass(frozen=True)
class Misses:
    """Errors of a motion against its clip, and the tolerances within which its targets are met.

    Attributes:
        errors: m of them, over T samples.
        tolerance: (m,) of each [m or rad].
        share: (T, m) errors in units of their tolerance; 0 where nothing is asked.
    """

    errors: tuple[TargetError, ...]
    tolerance: np.ndarray
    share: np.ndarray

    @property
    def worst(self) -> np.ndarray:
        """Return the largest share of each sample (T,): above 1 something is missed."""
        return self.share.max(axis=1, initial=0.0)

    def words(self, k: int) -> list[str]:
        """Return a clause for each target that is missed in sample k, the worst first."""
        missed = [i for i in np.argsort(-self.share[k], kind="stable") if self.share[k, i] > 1.0]
        return [self.errors[i].text.format(_amount(self.errors[i].values[k], self.errors[i].unit)) for i in missed]


def misses(
    mechanism: Mechanism, clip: TargetClip, settings: Settings, found: ClipErrors, asked: Sequence[TargetError] = ()
) -> Misses:
    """Return all errors of a motion with their tolerances.

    They come in this order: positions, orientations, centre of mass, then `asked`, the clip's other objectives.
    """
    names = list(clip.tracks)
    weights = [settings.weights(name) for name in names]
    errors = (
        *(
            TargetError(found.position[:, i], "m", f"{name} is {{}} off", max(weights[i].position))
            for i, name in enumerate(names)
        ),
        *(
            TargetError(found.orientation[:, i], "rad", f"{name} is turned {{}} off", max(weights[i].orientation))
            for i, name in enumerate(names)
        ),
        TargetError(found.com, "m", "the centre of mass is {} off", max(settings.com_weight)),
        *asked,
    )
    met = position_met(mechanism)
    tolerance = np.array([_tolerance(error.weight, met if error.unit == "m" else ORIENTATION_MET) for error in errors])
    share = np.nan_to_num(np.column_stack([error.values for error in errors])) / tolerance
    return Misses(errors, tolerance, share)


def _tolerance(weight: float, met: float) -> float:
    """Return the error within which a target of a weight is met, where one of weight 1 is within `met`."""
    return met / np.sqrt(min(1.0, weight)) if weight > 0 else np.inf


def _amount(error: float, unit: str) -> str:
    return millimetres(error) if unit == "m" else f"{np.degrees(error):.1f}°"
