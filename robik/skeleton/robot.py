"""Anatomy of a robot: which of its bodies are which parts of a body, by names and by shape, and how long its limbs are.

Bodies that are fixed to each other count as one part. A hip, a shoulder or an ankle of several hinges is the point
nearest to their axes.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from .anatomy import ARM, FRONT_LEG, LEG
from .rigid_parts import RigidParts, rigid_parts
from .robot_parts import RobotAnatomy, RobotLimb
from .tree import NEAR_GROUND, PairedChains, Tree, paired_limbs

HELD = 1e-3  # weight of a joint's anchor against the axes that pass near to it
ALONE = 0.4  # of the robot's height: the lowest limbs are legs where they end below this, and no other is known
AHEAD = 0.1  # of the robot's size: front legs stand so far before the others
PARALLEL = 0.99  # cosine between hinges that bend a limb in one plane
TWIST = 0.9  # cosine: a hinge whose axis lies so near to a limb's part twists it
BESIDE = 0.5  # of a limb's part: so far from the centre of its hinges may it begin
ENDS = {LEG: ("foot", "toe"), ARM: ("hand", "forearm")}


@kept_with_robot
def robot_anatomy(mechanism: Mechanism) -> RobotAnatomy:
    """Return the parts of a robot: limbs, trunk and rigid parts."""
    robot = rigid_parts(mechanism)
    chains = _chains(robot, mechanism)
    limbs = tuple(
        limb for (kind, side), chain in chains.items() if (limb := _limb(robot, kind, side, chain)) is not None
    )
    uppers = {kind: [chain[0] for (k, _), chain in chains.items() if k == kind] for kind in (LEG, ARM, FRONT_LEG)}
    hips = _fork(robot.tree, uppers[LEG])
    upper = _fork(robot.tree, uppers[ARM] or uppers[FRONT_LEG])
    chest = upper if upper is not None else _called(robot, "chest")
    chest = None if chest == hips else chest
    head = _called(robot, "head")
    head = None if head in (chest, hips) else head
    if head is None and chest is not None:
        head = _topmost(robot, chest, {node for chain in chains.values() for node in chain})
    name = [*robot.tree.names, ""]
    return RobotAnatomy(
        limbs=limbs,
        hips=name[hips if hips is not None else -1],
        chest=name[chest if chest is not None else -1],
        head=name[head if head is not None else -1],
        waist=_waist(robot, hips, chest),
        rigid={name: robot.tree.names[k] for k, members in enumerate(robot.members) for name in members},
    )


def limb_directions(mechanism: Mechanism) -> dict[str, tuple[float, float, float]]:
    """Return the unit vector (3,) along each part of a robot's limbs, by body, in its coordinates."""
    return {
        body: tuple((mechanism.rest_pose(body).matrix.T @ (way / np.linalg.norm(way))).tolist())
        for limb in robot_anatomy(mechanism).limbs
        for body, way in zip((limb.upper, limb.lower), limb.ways, strict=True)
        if way.any()
    }


def _chains(robot: RigidParts, mechanism: Mechanism) -> dict[tuple[str, str], list[int]]:
    """Return the parts of each limb, from the trunk to its end."""
    tree = robot.tree
    chains: dict[tuple[str, str], list[int]] = {}
    feet = {frame.name for frame in mechanism.frames if frame.is_foot}
    for kind, parts in ENDS.items():
        ends = [(node, side) for node in range(len(tree.names)) if (side := robot.says(node, parts))]
        ends += [
            (n, "")
            for n, members in enumerate(robot.members)
            if kind == LEG and feet & {*members} and n not in dict(ends)
        ]
        chains |= _named_chains(robot, kind, _last(tree, ends))
    taken = {node for chain in chains.values() for node in chain}
    height = float(np.ptp([*tree.heights, *tree.tips[:, 2]])) or 1.0
    pairs = [
        pair
        for pair in paired_limbs(tree)
        if not taken & {*pair.chains[0], *pair.chains[1]} and not robot.is_one_loop(*pair.chains)
    ]
    for pair in sorted(pairs, key=lambda pair: (bool(robot.is_ahead(pair.chains[0])), _lowest(tree, pair))):
        is_low = _lowest(tree, pair) - float(tree.tips[:, 2].min()) <= (NEAR_GROUND if chains else ALONE) * height
        kind = ARM if not is_low else LEG if (LEG, "l") not in chains else FRONT_LEG
        if (kind, "l") not in chains:
            one, other = sorted(
                pair.chains, key=lambda c: (robot.side_of(c) or "m", -float(tree.points[0, list(c), 1].sum()))
            )
            for side, chain in (("l", one), ("r", other)):
                chains[kind, side] = list(chain) if kind == ARM else robot.to_the_ground(chain)
    return chains


def _lowest(tree: Tree, pair: PairedChains) -> float:
    """Return the height of the lower end of two chains [m]."""
    return min(float(tree.tips[chain[-1], 2]) for chain in pair.chains)


def _last(tree: Tree, ends: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the ends on which none of the others hangs."""
    nodes = [node for node, _ in ends]
    return [(node, side) for node, side in ends if not any(tree.below(node, other) for other in nodes)]


def _named_chains(robot: RigidParts, kind: str, ends: list[tuple[int, str]]) -> dict[tuple[str, str], list[int]]:
    """Return limbs by their ends: two are legs or arms, four are those of a quadruped."""
    tree = robot.tree
    if kind == LEG and len(ends) == 4:
        hind, front = _hind_and_front(robot, ends)
        if front:
            return _named_chains(robot, LEG, hind) | {
                (FRONT_LEG, side): chain for (_, side), chain in _named_chains(robot, LEG, front).items()
            }
    if len(ends) != 2:
        ends = [next((end for end in ends if end[1] == side), None) for side in ("l", "r")]  # type: ignore[misc]
        ends = [end for end in ends if end is not None]
    if len(ends) != 2:
        return {}
    fork = tree.fork(ends[0][0], ends[1][0])
    if fork is None:
        return {}
    left, right = sorted(ends, key=lambda end: (end[1] or "m", -float(tree.points[0, end[0], 1])))
    return {(kind, side): tree.below(fork, end[0]) for side, end in zip(("l", "r"), (left, right), strict=True)}


def _hind_and_front(
    robot: RigidParts, ends: list[tuple[int, str]]
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return the ends of hind and of front legs: as their names say, else of a robot that faces +X; all, and none."""
    told = [robot.is_ahead([node]) for node, _ in ends]
    if told.count(True) == told.count(False) == 2:
        parted = [
            [end for end, is_ahead in zip(ends, told, strict=True) if is_ahead is ahead] for ahead in (False, True)
        ]
        return parted[0], parted[1]
    places = robot.tree.points[0, :, 0]
    ahead = sorted(ends, key=lambda end: float(places[end[0]]))
    far = places[ahead[2][0]] - places[ahead[1][0]] > AHEAD * robot.tree.size
    return (ahead[:2], ahead[2:]) if far else (ends, [])


def _limb(robot: RigidParts, kind: str, side: str, chain: list[int]) -> RobotLimb | None:
    """Return a limb by its parts; None where there is nothing to bend."""
    bend = _bend(robot, chain)
    if bend is None:
        return None
    tree, end = robot.tree, _end(robot, kind, chain, bend)
    wrist = chain[bend + 1 : end + 1]
    hip, knee = _centre(robot, chain[:bend]), tree.points[0, chain[bend]]
    if wrist:
        name, ankle = tree.names[chain[end]], _centre(robot, wrist)
    else:
        name, ankle = robot.fixed_end(chain[bend], ENDS[ARM if kind == ARM else LEG][0])
    joints = [robot.joints[node] for node in chain[: end + 1]]
    hinge = robot.joints[chain[bend]]
    axis = np.array(hinge.axis if hinge is not None else (0.0, 1.0, 0.0))
    return RobotLimb(
        kind=kind,
        side=side,
        upper=tree.names[chain[bend - 1]],
        lower=tree.names[chain[bend]],
        end=name,
        points=np.array([hip, knee, ankle]),
        start=_start(robot, chain[:bend], hip, knee, axis),
        axis=axis,
        freedom=sum(len(joint.motions) for joint in joints if joint is not None),
        has_ankle=bool(wrist),
    )


def _bend(robot: RigidParts, chain: list[int]) -> int | None:
    """Return the position of the knee or elbow: the hinge across a limb that parts it most evenly."""
    tree, scores = robot.tree, {}
    tip = tree.tips[chain[-1]]
    for k in range(1, len(chain)):
        joint, here = robot.joints[chain[k]], tree.points[0, chain[k]]
        top = _centre(robot, chain[:k])
        end = _centre(robot, chain[k + 1 :]) if k + 1 < len(chain) else tip
        upper, lower = here - top, end - here
        length = float(np.linalg.norm(lower))
        if joint is None or not joint.motions or length == 0.0:
            continue
        across = float(np.linalg.norm(np.cross(joint.axis, lower))) / length
        told = any(
            word in name.lower()
            for name in (*robot.members[chain[k]], joint.name)
            for word in ("knee", "elbow", "calf", "shank")
        )
        scores[k] = min(float(np.linalg.norm(upper)), length) * across * (2.0 if told and across > 0.5 else 1.0)
    return max(scores, key=lambda k: scores[k]) if scores and max(scores.values()) > 0 else None


def _end(robot: RigidParts, kind: str, chain: list[int], bend: int) -> int:
    """Return the position of the foot or the hand: the last part, of a hand the one before its fingers."""
    if kind != ARM:
        return len(chain) - 1
    called = [k for k in range(bend + 1, len(chain)) if robot.says(chain[k], ("hand",)) is not None]
    if called:
        return called[-1]
    forks = [k for k in range(bend + 1, len(chain)) if len(robot.tree.children[chain[k]]) > 1]
    return forks[0] if forks else len(chain) - 1


def _centre(robot: RigidParts, nodes: list[int]) -> np.ndarray:
    """Return the point (3,) nearest to the axes of following joints, where they leave it open to their anchors [m]."""
    points = robot.tree.points[0, nodes]
    matrix, right = np.zeros((3, 3)), np.zeros(3)
    for point, node in zip(points, nodes, strict=True):
        joint = robot.joints[node]
        axis = (
            np.array(joint.axis) if joint is not None and joint.motions in (("rx",), ("rz",), ("ry",)) else np.zeros(3)
        )
        across = np.eye(3) - np.outer(axis, axis) if axis.any() else np.zeros((3, 3))
        matrix += across + HELD * np.eye(3)
        right += across @ point + HELD * point
    return np.linalg.solve(matrix, right)


def _start(robot: RigidParts, nodes: list[int], hip: np.ndarray, knee: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the anchor (3,) of the last hinge that swings an upper leg or arm; those that twist it lie along it [m].

    Where a file puts anchors along their axes is its own affair: of a hinge whose axis is parallel to that of the knee
    or elbow, `axis`, it is the point beside the knee. The hip where none is known, or where it is nowhere near.
    """
    length = float(np.linalg.norm(knee - hip))
    for node in reversed(nodes):
        joint, anchor = robot.joints[node], robot.tree.points[0, node]
        if joint is None or joint.motions not in (("rx",), ("ry",), ("rz",)):
            continue
        if abs(float(np.dot(joint.axis, knee - hip))) < TWIST * length:
            away = anchor - hip
            if abs(float(np.dot(joint.axis, axis))) > PARALLEL:
                anchor = anchor + axis * float(axis @ (knee - anchor))
                away = away - axis * float(axis @ away)
            return anchor if float(np.linalg.norm(away)) < BESIDE * length else hip
    return hip


def _fork(tree: Tree, tops: list[int]) -> int | None:
    return tree.fork(tops[0], tops[1]) if len(tops) == 2 else None


def _called(robot: RigidParts, part: str) -> int | None:
    """Return the last part of that name."""
    found = [node for node in range(len(robot.tree.names)) if robot.says(node, (part,)) is not None]
    return found[-1] if found else None


def _topmost(robot: RigidParts, chest: int, limbs: set[int]) -> int | None:
    """Return the last part of what moves above the chest and is no limb."""
    above = [
        n
        for n in robot.tree.leaves
        if n not in limbs and robot.tree.below(chest, n) and not limbs & {*robot.tree.below(chest, n)}
    ]
    above = [node for node in above if robot.tree.points[0, node, 2] > robot.tree.points[0, chest, 2]]
    return max(above, key=lambda node: float(robot.tree.points[0, node, 2]), default=None)


def _waist(robot: RigidParts, hips: int | None, chest: int | None) -> np.ndarray | None:
    """Return the point (3,) about which the chest turns on the hips [m]."""
    if hips is None or chest is None:
        return None
    between = robot.tree.below(hips, chest) or robot.tree.below(chest, hips)
    return _centre(robot, between) if between else None
