"""How many ways a robot has to move, and which equations say the same twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from robik.kinematics.assembly import REDUNDANT_TOLERANCE, pull_back
from robik.kinematics.elimination import RANK_TOLERANCE, eliminate, extend, new_elimination
from robik.kinematics.kernels import close, closure_jacobian, move, new_placement, place
from robik.mechanism.model import Mechanism
from robik.mechanism.topology import Topology, build_topology
from robik.structs import by_reference

POSES = 5  # looked at besides the rest pose, which may be singular
AWAY = 0.05  # rad or m of the leading coordinates


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
    flat = by_reference(topology.flat)
    now = new_placement(flat, topology.rest)
    place(flat, now)
    residual = float(close(flat, now))
    rank = max(_ranks(topology))
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


def _ranks(topology: Topology) -> list[int]:
    """Ranks of the closure Jacobian at the rest pose and at assembled poses near it."""
    flat, rng = by_reference(topology.flat), np.random.default_rng(0)
    elimination = new_elimination(flat)
    now = new_placement(flat, topology.rest)
    step, right = np.zeros(len(flat.before)), np.zeros(len(now.value))
    ranks = []
    for pose in range(POSES + 1):
        now.q[:] = topology.rest
        place(flat, now)
        close(flat, now)
        eliminate(flat, now, elimination)
        if pose > 0:
            step[:] = rng.uniform(-AWAY, AWAY, len(step))
            extend(flat, elimination, step)
            step *= AWAY / max(AWAY, float(np.abs(step).max(initial=0.0)))
            move(flat, topology.rest, step, 1.0, now.q)
            if not pull_back(flat, now, elimination, np.zeros_like(step), right) <= REDUNDANT_TOLERANCE * flat.size:
                continue
        J = closure_jacobian(flat, now)
        values = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
        ranks.append(int((values > RANK_TOLERANCE * values.max(initial=flat.size)).sum()))
    return ranks
