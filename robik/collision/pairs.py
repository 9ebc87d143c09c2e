"""Pairs of bodies that can touch: those joined by a joint are left out, and those that touch in rest or always do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from math import isfinite, pi

import numpy as np

from ..kinematics.forward import body_poses
from ..mechanism import WORLD, Mechanism
from ..mechanism.topology import build_topology
from .judge import Judge, Pair
from .shapes import CollisionShape

POSES = 100  # at random
ALWAYS = 0.95  # of them: a pair that touches in more of them is meant to
TURN, SLIDE = pi, 0.2  # of motors without limits: this far to either side [rad], [robot's sizes]
SEED = 1


def pairs_that_can_touch(
    mechanism: Mechanism, shapes: Sequence[CollisionShape], apart: Collection[tuple[str, str]] = ()
) -> tuple[Pair, ...]:
    """Return the pairs of bodies, smaller number first, whose shapes may touch, as MoveIt's assistant finds them.

    `apart` are names of two bodies each that are left out, too. Raise MissingExtraError without MuJoCo.
    """
    index = mechanism.body_index
    shaped = sorted({index[shape.body] for shape in shapes})
    ends = [(index[joint.parent], index[joint.child]) for joint in mechanism.joints if joint.parent != WORLD]
    ends += [(index[a], index[b]) for a, b in apart]
    joined = {(min(pair), max(pair)) for pair in ends}
    pairs = [pair for pair in combinations(shaped, 2) if pair not in joined]
    if not pairs:
        return ()
    rest_p = np.array([[body.pose.position for body in mechanism.bodies]])
    rest_q = np.array([[body.pose.quaternion for body in mechanism.bodies]])
    touching = {pair for pair, depth in Judge(mechanism, shapes, pairs).depths(rest_p, rest_q).items() if depth[0] > 0}
    pairs = [pair for pair in pairs if pair not in touching]
    position, quaternion = random_poses(mechanism)
    if not pairs or not len(position):
        return tuple(pairs)
    often = Judge(mechanism, shapes, pairs).depths(position, quaternion)
    return tuple(pair for pair in pairs if pair not in often or np.mean(often[pair] > 0.0) < ALWAYS)


def random_poses(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return poses (T, n, 3) [m], (T, n, 4) of the bodies with all motors anywhere in their range; none with loops.

    Motors of loops cannot be anywhere beside each other: most such poses could not be assembled.
    """
    if len(build_topology(mechanism).flat.cut_row) > 1:
        return np.zeros((0, len(mechanism.bodies), 3)), np.zeros((0, len(mechanism.bodies), 4))
    ranges = []
    for joint in mechanism.actuated:
        for (low, high), unit in zip(joint.limits, joint.coordinate_units, strict=True):
            far = TURN if unit == "rad" else SLIDE * mechanism.extent
            ranges.append((low if isfinite(low) else -far, high if isfinite(high) else far))
    low, high = np.array(ranges).reshape(-1, 2).T
    values = np.random.default_rng(SEED).uniform(low, high, (POSES, len(low)))
    position, quaternion, _ = body_poses(mechanism, values)
    return position, quaternion
