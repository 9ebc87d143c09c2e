"""How many ways a robot has to move, and which equations say the same twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from robik.kinematics.assembly import assembled_poses, prepared
from robik.kinematics.elimination import RANK_TOLERANCE
from robik.kinematics.kernels import close, closure_jacobian, new_placement, place
from robik.mechanism.model import Mechanism
from robik.mechanism.topology import Flat, build_topology


@dataclass(frozen=True)
class Inspection:
    """What a robot is, in numbers.

    Attributes:
        name: of the robot.
        bodies: how many.
        joints: how many, by type.
        actuators: their names.
        loops: independent kinematic loops.
        mobility: degrees of freedom that joints and couplings leave, a floating base counted.
        redundant_rows: closure equations that follow from the others.
        closure_residual: of the rest pose [m].
        mass: [kg].
        frames: names of the frames.
    """

    name: str
    bodies: int
    joints: dict[str, int]
    actuators: tuple[str, ...]
    loops: int
    mobility: int
    redundant_rows: int
    closure_residual: float
    mass: float
    frames: tuple[str, ...]

    def as_data(self) -> dict:
        """Plain data, as `robik inspect --json` prints it."""
        return asdict(self)


def inspect(mechanism: Mechanism) -> Inspection:
    """Counts a robot's degrees of freedom and redundant rows, in the rest pose and, since that may be singular, in poses near it."""
    topology = build_topology(mechanism)
    flat = prepared(topology)
    now = new_placement(flat, topology.rest)
    place(flat, now)
    residual = float(close(flat, now))
    rank = max(_ranks(flat, topology.rest), default=0)  # none where numbers are too large to calculate with
    return Inspection(
        name=mechanism.name,
        bodies=len(mechanism.bodies),
        joints=dict(sorted(Counter(j.type for j in mechanism.joints).items())),
        actuators=mechanism.actuators,
        loops=len(topology.cuts),
        mobility=len(flat.before) - rank,
        redundant_rows=len(now.value) - rank,
        closure_residual=residual,
        mass=mechanism.mass,
        frames=tuple(f.name for f in mechanism.frames),
    )


def _ranks(flat: Flat, rest: np.ndarray) -> list[int]:
    """Ranks of the closure Jacobian at the rest pose and at assembled poses near it."""
    ranks = []
    for residual, now in assembled_poses(flat, rest):
        if residual <= flat.accepted[0]:
            J = closure_jacobian(flat, now)
            values = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
            ranks.append(int((values > RANK_TOLERANCE * values.max(initial=flat.size)).sum()))
    return ranks
