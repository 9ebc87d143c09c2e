"""Forces of a motion on the soles that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..dynamics import Dynamics, InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..errors import ClipError
from ..feet.standing import standing_phases
from ..motions import Motion
from ..motions.posing import posed


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
    """Return a motion with its forces, by inverse dynamics from its poses alone.

    Raise ClipError for a motion without an actuator or a needed base, MechanismError where loops do not close.
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
