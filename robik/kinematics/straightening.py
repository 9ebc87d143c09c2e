"""Straightening of linkages that move only by exact numbers, such as parallelograms, and that rounded numbers lock.

A joint j stands at a place of the rest pose, in which all loops are closed whatever the numbers. A twist δⱼ of that
place changes a closure row with the wrench (τ, f) on its b side at another pose by

    (τ, f) · (Ad_near − Ad_far) δⱼ

with Ad of a body's motion from the rest pose, near and far the two bodies that carry the joint. Where the loops have
the left null space U (rows that are redundant but for rounding), they close at a pose k if Uₖᵀ (Cδ,ₖ δ + cₖ) = 0. The
smallest δ that does so at many poses, by Gauss-Newton steps, makes the robot one that moves. It is taken if no joint
goes further than the robot's manufacturing tolerance, and if the loops then close at other poses too. A robot that
truly stands still has no such neighbour and stays as it is, and so does one without rounding, to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..budget import current
from ..mechanism.constraints import rotation_vector_matrix
from ..mechanism.model import Mechanism
from ..mechanism.parts import Joint
from ..mechanism.topology import CLOSED, Topology, build_topology
from .loop_walk import LOOSE, LoopPose, LoopWalk

EXACT = 1e-12  # of the largest: a singular value below is zero
NEARLY = 30.0  # tolerances: how far loops of rounded numbers may stay open at poses of the linkage that is meant
FEWEST, MOST, ROWS = 6, 24, 3000  # poses that are fitted, and redundant rows at all of them together
AMPLITUDE = (0.15, 0.6)  # rad, or of the robot's size: how far from pose to pose
REACH = 1.3  # rad, or of the robot's size: how far from the rest pose
FITS = 20  # Gauss-Newton steps
MATTERS, LEAST = (
    1e-5,
    1e-10,
)  # of the largest: singular values of what poses say of the numbers, at first and where that is too few
CLOSES = 2e-13  # of the robot's size: what fitted loops close to


def straightened(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with linkages that rounding locks made exact; the given object where there are none.

    Its `rounding` tells how far its joints are from the given ones. The answer is kept with the mechanism.
    """
    known = vars(mechanism).get("_straightened")
    if known is None:
        known = mechanism
        if mechanism.tolerance > 0.0 and len(mechanism.joints) >= len(mechanism.bodies):
            known = _all_groups(mechanism)
            vars(known)["_straightened"] = known
        vars(mechanism)["_straightened"] = known
    return known


def _all_groups(mechanism: Mechanism) -> Mechanism:
    topology = build_topology(mechanism)
    groups = len(topology.flat.group_row_at) - 1
    for group in range(groups):
        current().check()
        current().tell(f"Describing the robot: loops {group + 1} of {groups}")
        with np.errstate(all="ignore"):  # of numbers too large to calculate with, the solver speaks
            fitted = _group(topology, group)
        if fitted is not topology.mechanism:
            topology = build_topology(fitted)
    return topology.mechanism


def _group(topology: Topology, group: int) -> Mechanism:
    """Return the mechanism with one group of loops straightened, if rounding locks it."""
    mechanism, walk = topology.mechanism, LoopWalk(topology, group)
    if not _is_rounded(*walk.closure(topology.rest)):
        return mechanism
    rest = walk.pose(topology.rest)
    poses = _poses(walk, rest, 0)
    if len(poses) < FEWEST:
        return mechanism
    rank = int(np.median([pose.rank for pose in poses]))
    fitted = _fitted(mechanism, walk, [pose for pose in poses if pose.rank == rank], rank)
    if fitted is None:
        return mechanism
    distance = max(_distance(a, b, walk.flat.size) for a, b in zip(mechanism.joints, fitted.joints, strict=True))
    if not distance <= mechanism.tolerance * walk.flat.size:
        return mechanism
    if not _moves(LoopWalk(build_topology(fitted), group), rank):
        return mechanism
    return fitted.with_changes(rounding=mechanism.rounding + distance)


def _is_rounded(value: np.ndarray, jacobian: np.ndarray) -> bool:
    """Return whether a finite closure has a singular value that is neither zero nor one of a row that counts."""
    if not (np.isfinite(value).all() and np.isfinite(jacobian).all() and jacobian.size):
        return False
    singular = np.linalg.svd(jacobian, compute_uv=False)
    largest = max(1.0, float(singular[0]))
    return bool(((singular > EXACT * largest) & (singular <= LOOSE * largest)).any())


def _poses(walk: LoopWalk, rest: LoopPose, seed: int) -> list[LoopPose]:
    """Return poses all over the range in which the linkage moves but for rounding; few where it does not move."""
    rng = np.random.default_rng(seed)
    wanted = int(np.clip(ROWS // max(1, len(walk.rows) - rest.rank), FEWEST, MOST))
    limit = NEARLY * walk.topology.mechanism.tolerance
    found = [rest]
    for _ in range(4 * wanted):
        start = found[int(rng.integers(len(found)))]
        free = start.right[start.rank :]
        if len(found) > wanted or not len(free):
            break
        step = rng.normal(size=len(free)) @ free
        step *= rng.uniform(*AMPLITUDE) / float(np.abs(step).max())
        pose = walk.settled(walk.stepped(start.q, step))
        gone = walk.distance(start.q, pose.q)
        far = walk.distance(rest.q, pose.q)
        if pose.residual() <= limit and gone > 0.3 * float(np.abs(step).max()) and far < REACH:
            found.append(pose)
    return found[1:]


def _fitted(mechanism: Mechanism, walk: LoopWalk, poses: list[LoopPose], rank: int) -> Mechanism | None:
    """Return the nearest mechanism whose loops close at all of these poses; None where there is none near by."""
    before, matters = np.inf, MATTERS
    for _ in range(FITS):
        residual = max(pose.residual() for pose in poses)
        if residual <= CLOSES or not residual < 100.0 * before:
            return mechanism if residual <= CLOSES else None
        if residual > 0.1 * before:
            matters = max(1e-2 * matters, LEAST)
        before = residual
        rows = np.vstack([pose.left[:, rank:].T @ _sensitivity(walk, pose) for pose in poses])
        open_by = np.concatenate([pose.left[:, rank:].T @ pose.value for pose in poses])
        change = np.linalg.lstsq(rows, -open_by, rcond=max(matters, residual))[0].reshape(-1, 6)
        if not np.abs(change).max(initial=0.0) < LOOSE:
            return None
        joints = map(partial(_shifted, walk.flat.size), mechanism.joints, change)
        mechanism = mechanism.with_changes(joints=tuple(joints))
        walk = LoopWalk(build_topology(mechanism), walk.group)
        poses = [walk.settled(pose.q) for pose in poses]
    return None


def _sensitivity(walk: LoopWalk, pose: LoopPose) -> np.ndarray:
    """Return the derivatives (rows, 6 joints) of the loops by poses of joints in the rest pose.

    By rotations [rad] and shifts [sizes].
    """
    flat, topology = walk.flat, walk.topology
    walk.pose(pose.q)
    joint_of = {body: topology.mechanism.joints.index(joint) for joint in topology.mechanism.joints
                if (body := topology.joint_at.get(joint.name)) is not None}  # fmt: skip
    index = {joint.name: k for k, joint in enumerate(topology.mechanism.joints)}
    carried = {b: walk.carried(b) for b in range(len(flat.parent))}
    result = np.zeros((len(walk.rows), len(index), 6))
    for at, row in enumerate(walk.rows.tolist()):
        if row >= len(flat.row_kind):
            continue
        cut = int(flat.row_cut[row])
        a, b = int(flat.cut_a[cut]), int(flat.cut_b[cut])
        wrench = np.concatenate([walk.placement.moment[row], walk.placement.force[row]])
        if topology.cuts[cut].name not in topology.joint_at:
            result[at, index[topology.cuts[cut].name]] += wrench @ (carried[b] - carried[a])
        for sign, body in _between(flat.parent, a, b):
            if body in joint_of:
                result[at, joint_of[body]] += sign * wrench @ (carried[int(flat.parent[body])] - carried[body])
    for k, joint in enumerate(topology.mechanism.joints):
        result[:, k] = result[:, k] @ _about(np.array(joint.position), flat.size)
    return result.reshape(len(walk.rows), -1) / flat.size


def _between(parent: np.ndarray, a: int, b: int) -> list[tuple[float, int]]:
    """Return the bodies on the way from a to b, but for the last that carries both, with -1 on the side of a."""
    above = {b: 1.0}
    while b > 0:
        b = int(parent[b])
        above[b] = 1.0
    found = []
    while a not in above:
        found.append((-1.0, a))
        a = int(parent[a])
    for body in above:
        if body == a:
            break
        found.append((1.0, body))
    return found


def _about(x: np.ndarray, size: float) -> np.ndarray:
    """Return the map (6, 6) from a rotation [rad] about x (3,) and a shift of x [sizes] to a twist.

    ω and the velocity of the origin [m].
    """
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = np.eye(3)
    matrix[3:, :3] = _crossing(x)
    matrix[3:, 3:] = size * np.eye(3)
    return matrix


def _crossing(x: np.ndarray) -> np.ndarray:
    """Return (3, 3): x × ·."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _shifted(size: float, joint: Joint, change: np.ndarray) -> Joint:
    """Return a joint turned by change[:3] [rad] and shifted by change[3:] [sizes] in the rest pose."""
    if not np.abs(change).max() > 1e-17:
        return joint
    turn = rotation_vector_matrix(change[:3])
    axis2 = None if joint.axis2 is None else tuple((turn @ joint.axis2).tolist())
    position = tuple((np.array(joint.position) + size * change[3:]).tolist())
    return replace(joint, position=position, axis=tuple((turn @ joint.axis).tolist()), axis2=axis2)


def _distance(joint: Joint, other: Joint, size: float) -> float:
    """Return how far two places of a joint are apart [m]; turns count by the robot's size."""
    shift = float(np.linalg.norm(np.subtract(joint.position, other.position)))
    turns = [float(np.linalg.norm(np.subtract(joint.axis, other.axis)))]
    if joint.axis2 is not None and other.axis2 is not None:
        turns.append(float(np.linalg.norm(np.subtract(joint.axis2, other.axis2))))
    return max(shift, size * max(turns))


def _moves(walk: LoopWalk, rank: int) -> bool:
    """Return whether the loops close at poses that were not fitted, and have this rank there."""
    poses = _poses(walk, walk.pose(walk.topology.rest), 1)
    return len(poses) >= FEWEST and all(
        pose.residual() <= 0.1 * CLOSED and (pose.singular[rank:] <= 1e-9 * max(1.0, pose.singular[0])).all()
        for pose in poses if pose.rank == rank
    )  # fmt: skip
