"""Speeds of actuated balls: the turn since the frame before, as a coordinate with a bound.

`mechanism/ball_limits.py` has the coordinates: three terms and their sum 1 + 2 cos θ, times the distance L of the tips
from the ball's centre. At the frame before, θ is zero. The sum may fall by 2 L (1 - cos ω dt).
"""

from __future__ import annotations

from math import inf, pi, sin
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, kernel
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import close, forward_kinematics
from ..mechanism.ball_limits import tip_distance
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import speed_limit
from ..mechanism.topology import Topology
from ..objectives.settings import Settings

KEPT = 1.0 - 1e-6  # of the speed: the loops are closed to rounding, no further


class BallSteps(NamedTuple):
    """The k balls whose turn from frame to frame is bounded."""

    cut: np.ndarray  # (k, 3) cuts of the terms
    dof: np.ndarray  # (k, 4) degrees of freedom of the terms and of their sum
    centre: np.ndarray  # (k, 3) of the ball in the child's state frame [m]
    tip: np.ndarray  # (k,) distance of the tips from there [m]
    speed: np.ndarray  # (k,) [rad/s]


def held_balls(mechanism: Mechanism, settings: Settings) -> tuple[str, ...]:
    """Return the names of the balls whose speed is enforced frame by frame; none with look-ahead."""
    if not settings.enforce_velocity or settings.look_ahead:
        return ()
    return tuple(joint.name for joint in mechanism.actuated if joint.is_ball)


def new_ball_steps(topology: Topology, settings: Settings, extent: float) -> BallSteps:
    """Return the balls whose turn from frame to frame a topology measures, with their share of speed."""
    joints = {joint.name: joint for joint in topology.mechanism.joints}
    held = [joints[name] for name in topology.steps]
    cuts = {cut.name: i for i, cut in enumerate(topology.cuts)}
    children = [topology.body_at[joint.child] for joint in held]
    return by_reference(
        BallSteps(
            cut=np.array([[cuts[n] for n in names[:3]] for names in topology.steps.values()], np.int64).reshape(-1, 3),
            dof=np.array([[topology.dofs[n][0] for n in names] for names in topology.steps.values()], np.int64).reshape(
                -1, 4
            ),
            centre=np.array([j.position for j in held]).reshape(-1, 3) - topology.rest_com[children].reshape(-1, 3),
            tip=np.full(len(held), tip_distance(topology.mechanism)),
            speed=np.array(
                [settings.velocity_share * speed_limit(j, j.coordinate_names[-1], extent) * KEPT for j in held]
            ),
        )
    )


@kernel
def begin_step(flat, tables, work, memory, steps, dt):
    """Set how far each ball may turn within dt [s], and level its tips with its axes of the frame before.

    The tips' places in `flat`, the coordinates in `memory` and the reach in `tables` are changed.
    """
    if steps.speed.shape[0] == 0:
        return
    last = memory.last
    for k in range(steps.speed.shape[0]):
        length, total = steps.tip[k], steps.dof[k, 3]
        for term in range(3):
            cut, dof = steps.cut[k, term], steps.dof[k, term]
            twin, child = flat.cut_a[cut], flat.cut_b[cut]
            near, far, local = last.R[flat.parent[twin]], last.R[child], flat.from_parent_R[twin]
            for i in range(3):
                flat.cut_pb[cut, i] = steps.centre[k, i]
            for j in range(3):
                along = near[j, 0] * local[0, 0] + near[j, 1] * local[1, 0] + near[j, 2] * local[2, 0]
                for i in range(3):
                    flat.cut_pb[cut, i] += length * far[j, i] * along
            last.q[flat.dof_q[dof]] = length
            work.e.free[dof] = True
            memory.recent[dof], memory.earlier[dof] = 0.0, 0.0
        last.q[flat.dof_q[total]] = 3.0 * length
        work.e.free[total] = True
        memory.recent[total], memory.earlier[total] = 0.0, 0.0
        turn = steps.speed[k] * dt
        tables.reach[total] = 4.0 * length * sin(0.5 * turn) ** 2 if turn < pi else inf
    if not memory.given[0]:
        forward_kinematics(flat, last)
        close(flat, last)
        eliminate(flat, last, work.e)
