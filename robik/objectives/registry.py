"""All objectives of a frame in one group, and the sum of their values, forces and second derivatives.

This is the one place that lists the objectives. A new one is a file beside this one, a field of `Goals`, and a line in each of `new_goals`,
`objective`, `gather` and, where it ties bodies together, `stiffen` and `answer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robik.compiled import kernel
from robik.kinematics.kernels import Placement, carved
from robik.mechanism.topology import Flat
from robik.objectives import centre_of_mass, change_of_state, frame_pose, velocity
from robik.objectives.centre_of_mass import CentreOfMass
from robik.objectives.change_of_state import ChangeOfState
from robik.objectives.frame_pose import FramePoses
from robik.objectives.terms import collect, stiffen_bodies
from robik.objectives.velocity import Velocity
from robik.structs import by_reference


class Goals(NamedTuple):
    """What a frame of the clip asks for."""

    frame_pose: FramePoses
    centre_of_mass: CentreOfMass
    change_of_state: ChangeOfState
    velocity: Velocity
    targets: np.ndarray  # (m,) memory of all numbers that change from frame to frame, which the objectives' own arrays share
    reach: np.ndarray  # (d,) how far each coordinate may be from where it was


def new_goals(flat: Flat, anchors: Sequence[tuple[int, np.ndarray, np.ndarray]], previous: Placement) -> Goals:
    """Return goals that ask for nothing yet: all weights zero, no bounds.

    Args:
        flat: the robot.
        anchors: body, point (3,) and axes (3, 3) of each followed frame.
        previous: placement of the frame before; its arrays are read when a frame is solved.
    """
    t, n = len(anchors), len(flat.parent)
    targets, (position, rotation, com, threshold) = carved((t, 3), (t, 3, 3), (3,), (2,))
    threshold[:] = np.inf
    frames = FramePoses(
        body=np.array([a[0] for a in anchors], dtype=np.int64),
        point=np.array([a[1] for a in anchors]).reshape(t, 3),
        axes=np.array([a[2] for a in anchors]).reshape(t, 3, 3),
        position_weight=np.zeros((t, 3)),
        orientation_weight=np.zeros((t, 3)),
        position=position,
        rotation=rotation,
    )
    return by_reference(
        Goals(
            frame_pose=by_reference(frames),
            centre_of_mass=by_reference(CentreOfMass(com, np.zeros(3), np.zeros(n), np.zeros((n, 3)))),
            change_of_state=by_reference(ChangeOfState(previous.R, previous.c, np.zeros(2))),
            velocity=by_reference(Velocity(previous.R, previous.c, np.zeros(1), threshold)),
            targets=targets,
            reach=np.full(len(flat.before), np.inf),
        )
    )


def over_time(goals: Goals, targets: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return one objective's part of all targets over time, as a view.

    Args:
        goals: that the targets are for.
        targets: (T, m), a row of `Goals.targets` for each frame.
        own: an array of an objective that lies in `Goals.targets`.

    Returns:
        (T, *own.shape), sharing the memory of `targets`.
    """
    start = (own.ctypes.data - goals.targets.ctypes.data) // own.itemsize
    return targets[:, start : start + own.size].reshape(len(targets), *own.shape)


@kernel
def objective(flat, now, goals):
    """Return f(s), the sum of all objectives."""
    total = frame_pose.add_value(now, goals.frame_pose, 0.0)
    total = centre_of_mass.add_value(flat, now, goals.centre_of_mass, total)
    total = change_of_state.add_value(flat, now, goals.change_of_state, total)
    return velocity.add_value(flat, now, goals.velocity, total)


@kernel
def gather(flat, now, goals, terms, share):
    """Fill the terms at `now`, and sum wrenches from the tips to the root.

    The second derivatives are exact with a `share` of 1 of the forces, Gauss-Newton's with 0; those of the velocity regularizer, which is
    no square, are exact in both.
    """
    terms.sums[:] = 0.0
    frame_pose.add_terms(now, goals.frame_pose, terms, share)
    change_of_state.add_terms(flat, now, goals.change_of_state, terms, share)
    velocity.add_terms(flat, now, goals.velocity, terms)
    centre_of_mass.add_terms(flat, now, goals.centre_of_mass, terms, share)
    collect(flat, terms)


@kernel
def stiffen(flat, now, goals, terms):
    """Fill the second derivatives from gathered terms: the bodies' own, and the low-rank rows of what ties bodies together."""
    stiffen_bodies(flat, terms)
    terms.row_count[0] = 0
    centre_of_mass.add_rows(flat, now, goals.centre_of_mass, terms)


@kernel
def answer(flat, now, goals, xi, out):
    """Add to `out` (n + 1, 6) how wrenches change where objectives tie bodies together that move by the screws `xi` (n + 1, 6)."""
    centre_of_mass.add_answer(flat, now, goals.centre_of_mass, xi, out)
