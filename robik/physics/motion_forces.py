"""Forces of a motion on the soles that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..clips.contacts import standing
from ..clips.support import sole_length, standing_points
from ..dynamics import Dynamics, InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..errors import ClipError
from ..mechanism import Mechanism
from ..motions import Motion
from ..retarget.posing import posed

HIGH = 0.15  # sole lengths: a foot that never comes this near to the lowest one's ground never stands


@dataclass(frozen=True, kw_only=True)
class MotionForces:
    """A motion with its forces.

    Attributes:
        motion: with all bodies' poses.
        q: (T, nq) coordinates of the tree.
        standing: per foot, when it stands (T,); none for a robot that does not float.
        dynamics: the forces.
    """

    motion: Motion
    q: np.ndarray
    standing: Mapping[str, np.ndarray]
    dynamics: Dynamics


def motion_forces(room: InverseDynamics, motion: Motion, source: str = "the motion") -> MotionForces:
    """Return a motion's forces, found from its poses alone.

    Args:
        room: The robot's inverse dynamics.
        motion: With a column per actuator and, where the robot floats, its base.
        source: The motion's file, for errors.

    Returns:
        The motion with its forces.

    Raises:
        ClipError: A motion without base of a robot that floats, or one that lacks an actuator.
        MechanismError: Loops that do not close.
    """
    mechanism, floats = room.mechanism, room.topology.base is not None
    if floats and motion.base is None:
        raise ClipError(
            f"{source} has no base columns, but robot {mechanism.name!r} floats; bake or solve it with RobIK"
        )
    states = posed(mechanism, motion, source)[0]
    q = room.coordinates(states, source)
    stands = standing_phases(mechanism, states) if floats else {}
    forces = room.forces(states.times, q, sole_contacts(mechanism, stands, len(q)))
    return MotionForces(motion=states, q=q, standing=stands, dynamics=forces)


def standing_phases(mechanism: Mechanism, motion: Motion) -> dict[str, np.ndarray]:
    """Return when each foot of a motion stands.

    Args:
        mechanism: The robot.
        motion: The motion, with bodies' poses.

    Returns:
        Whether it stands (T,) by foot.
    """
    feet = [frame for frame in mechanism.frames if frame.is_foot]
    soles = {frame.name: standing_points(mechanism, motion, frame.name).mean(axis=1) for frame in feet}
    levels = {name: float(np.percentile(sole[:, 2], 10)) for name, sole in soles.items()}
    ground = min(levels.values(), default=0.0)
    found = {}
    for frame in feet:
        length, level = sole_length(frame), levels[frame.name]
        level = level if level - ground < HIGH * length else ground
        found[frame.name] = standing(motion.times, soles[frame.name], level, length)
    return found
