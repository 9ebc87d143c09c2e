"""Bodies' poses along a motion, by forward kinematics from its actuators and its base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import ClipError
from ..kinematics.forward import body_poses
from ..kinematics.frames import robot_com
from ..mechanism.model import Mechanism
from ..mechanism.topology import build_topology
from . import Motion, values_for


def posed(mechanism: Mechanism, motion: Motion, source: str = "the motion") -> tuple[Motion, np.ndarray]:
    """Return a motion with its bodies' poses and its centre of mass, and the closure residuals (T,) [m].

    A floating robot is where the motion's base is, or stays where it rests if the motion has none. A grounded robot
    ignores the base.

    Args:
        mechanism: The robot.
        motion: Has a column per actuator of the robot.
        source: The motion's file, for errors.

    Returns:
        Motion and residuals (T,) [m].

    Raises:
        ClipError: An actuator has no column, or the base is another body than the one that floats.
    """
    values, base, root = values_for(mechanism, motion, source), motion.base, build_topology(mechanism).root
    if base is not None and root is not None and base.body not in ("", root):
        raise ClipError(
            f"{source} has the base {base.body!r}, but robot {mechanism.name!r} floats by its body {root!r}"
        )
    placed = (base.position, base.quaternion) if base is not None and root is not None else None
    position, quaternion, residual = body_poses(mechanism, values, placed)
    states = replace(
        motion,
        actuators=mechanism.actuators,
        values=values,
        bodies=tuple(body.name for body in mechanism.bodies),
        position=position,
        quaternion=quaternion,
        com=robot_com(mechanism, position, quaternion),
    )
    return states, residual
