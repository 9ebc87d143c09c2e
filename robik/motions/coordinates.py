"""Coordinates of a robot's tree along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import MechanismError
from .motion import Motion, values_for

if TYPE_CHECKING:
    from ..kinematics.forward import ForwardKinematics

CLOSED = 1e-4  # of the robot's size: loops that are open by more do not close


def tree_coordinates(fk: ForwardKinematics, motion: Motion, source: str) -> np.ndarray:
    """Return the tree's coordinates (T, nq) along a motion, by forward kinematics [rad or m, wxyz for balls].

    A ClipError names the actuators that the motion lacks, a MechanismError the sample whose loops do not close;
    `source` is the motion in words, for both.
    """
    values = values_for(fk.mechanism, motion, source)
    base = None if motion.base is None else (motion.base.position, motion.base.quaternion)
    q, residual = fk.coordinates_along(values, base)
    if (apart := ~(residual <= CLOSED * fk.flat.size)).any():
        k = int(np.argmax(apart))
        raise MechanismError(f"{source}: the loops do not close in sample {k}; {residual[k]:.2g} m are open")
    return q
