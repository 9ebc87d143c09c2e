"""A mechanism for formats that know trees of bodies.

A spanning tree of elementary motions, and joints that close loops.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..mechanism import WORLD, Body, Joint, Mechanism
from ..mechanism.constraints import joint_matrices
from ..mechanism.joints import SLIDES, TURNS
from .names import free_name

BALL = "ball"


@dataclass(frozen=True)
class Motion:
    """An elementary motion of a tree joint, in world coordinates of the rest pose.

    Attributes:
        name: of its coordinate; of a ball, the joint's.
        kind: "slide", "turn" or "ball".
        axis: (3,) along which, or about which, the coordinate grows as the tree runs.
        anchor: (3,) a point on the axis [m].
        rest: the coordinate in the rest pose [rad or m]; a ball's is 0 here.
        limits: of the coordinate; of a ball, of the angle of its whole rotation.
    """

    name: str
    kind: str
    axis: np.ndarray
    anchor: np.ndarray
    rest: float
    limits: tuple[float, float]


@dataclass(frozen=True)
class Branch:
    """A body with what ties it to its parent in the tree.

    Attributes:
        joint: None for the root of a robot that nothing ties to the world.
        motions: from the parent to the body.
    """

    body: Body
    parent: str
    joint: Joint | None
    motions: tuple[Motion, ...]


@dataclass(frozen=True)
class ExportTree:
    """A mechanism with massless halves where a format could not say a cut otherwise.

    Attributes:
        branches: parents before children.
        cuts: joints that close loops, all of types that the format knows.
        halves: names of the bodies that were added.
        renamed: joints that were called as another one's coordinate, and what they are called now.
    """

    mechanism: Mechanism
    branches: tuple[Branch, ...]
    cuts: tuple[Joint, ...]
    halves: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def lacks_motors(self) -> bool:
        """Return whether nothing is driven though something moves.

        Unless the file says so, its reader would choose motors.
        """
        return not self.mechanism.actuated and any(j.motions and j.type != "free" for j in self.mechanism.joints)


def export_tree(mechanism: Mechanism, can_close: Callable[[Joint], bool]) -> ExportTree:
    """Return a spanning tree of a mechanism, with the joints that close its loops.

    `can_close` says whether the format can express a joint as the end of a loop. One that it cannot stays in the
    tree or else ends at a massless body, which is then held to the joint's own child.
    """
    mechanism, renamed = _told_apart(mechanism)
    return replace(_tree(mechanism, can_close), renamed=renamed)


def _told_apart(mechanism: Mechanism) -> tuple[Mechanism, tuple[tuple[str, str], ...]]:
    """Return the mechanism without joints that are called as another one's coordinate.

    A file names coordinates as it names joints.
    """
    coordinates = {name for joint in mechanism.joints for name in joint.coordinate_names if name != joint.name}
    taken = coordinates | {joint.name for joint in mechanism.joints}
    renamed = tuple(
        (joint.name, free_name(joint.name, taken)) for joint in mechanism.joints if joint.name in coordinates
    )
    if not renamed:
        return mechanism, ()
    now = dict(renamed)
    joints = tuple(replace(joint, name=now.get(joint.name, joint.name)) for joint in mechanism.joints)
    both = zip(mechanism.joints, joints, strict=True)
    moved = {old: new for a, b in both for old, new in zip(a.coordinate_names, b.coordinate_names, strict=True)}
    couplings = tuple(c.renamed(moved.__getitem__) for c in mechanism.couplings)
    return mechanism.with_changes(joints=joints, couplings=couplings), renamed


def _tree(mechanism: Mechanism, can_close: Callable[[Joint], bool]) -> ExportTree:
    """As `export_tree`, of a mechanism whose names are all different."""
    coupled = {end for coupling in mechanism.couplings for end in coupling.ends}

    def closes(joint: Joint) -> bool:
        return (
            not joint.actuated
            and not joint.is_limited
            and coupled.isdisjoint(joint.coordinate_names)
            and can_close(joint)
        )

    tree = _spanned(mechanism, closes)
    in_tree = {joint.name for _, _, joint in tree if joint is not None}
    cuts = [j for j in mechanism.joints if j.name not in in_tree and j.type != "free"]
    halves: list[str] = []
    for joint in [j for j in cuts if not closes(j)]:
        mechanism, half = _with_half(mechanism, joint)
        halves.append(half)
    if halves:
        return replace(_tree(mechanism, can_close), halves=tuple(halves))
    bodies = {b.name: b for b in mechanism.bodies}
    branches = tuple(
        Branch(bodies[body], parent, joint, tuple(_motions(joint, body)) if joint else ())
        for body, parent, joint in tree
    )
    return ExportTree(mechanism, branches=branches, cuts=tuple(cuts), halves=())


def _spanned(mechanism: Mechanism, closes: Callable[[Joint], bool]) -> list[tuple[str, str, Joint | None]]:
    """Return (body, parent, joint), parents first.

    Joints that cannot close a loop come first, then those with few motions, then those in the tree's direction, in
    their order.
    """
    touching: dict[str, list[tuple[int, Joint]]] = {}
    for i, joint in enumerate(mechanism.joints):
        for end in (joint.parent, joint.child):
            touching.setdefault(end, []).append((i, joint))
    tree: list[tuple[str, str, Joint | None]] = []
    reached = {WORLD}
    queue: list[tuple[bool, int, bool, int, str, str]] = []

    def open_up(body: str) -> None:
        for i, joint in touching.get(body, ()):
            other = joint.child if joint.parent == body else joint.parent
            if other not in reached:
                heapq.heappush(queue, (closes(joint), len(joint.motions), joint.child == body, i, other, body))

    open_up(WORLD)
    if not queue:
        root = mechanism.bodies[0].name
        reached.add(root)
        tree.append((root, WORLD, None))
        open_up(root)
    while queue:
        *_, i, body, parent = heapq.heappop(queue)
        if body not in reached:
            reached.add(body)
            tree.append((body, parent, mechanism.joints[i]))
            open_up(body)
    return tree


def _with_half(mechanism: Mechanism, joint: Joint) -> tuple[Mechanism, str]:
    """Return the joint ends at a massless body in the place of its child, and the child is held to that."""
    taken = {WORLD, *mechanism.frame_names}
    half = free_name(f"{joint.name}_half", taken)
    joint_names = {j.name for j in mechanism.joints}
    hold = free_name(f"{joint.name}_hold", joint_names)
    child = mechanism.bodies[mechanism.body_index[joint.child]]
    joints = [replace(j, child=half) if j is joint else j for j in mechanism.joints]
    joints.append(Joint(hold, "fixed", joint.child, half, position=joint.position))
    return mechanism.with_changes(bodies=(*mechanism.bodies, Body(half, pose=child.pose)), joints=tuple(joints)), half


def _motions(joint: Joint, body: str) -> Iterator[Motion]:
    """Yield a tree joint's elementary motions on the way to a body."""
    parent_R, _, child_R = joint_matrices(joint)
    turns = [k for k, name in enumerate(TURNS) if name in joint.motions]
    anchor = np.array(joint.position)
    values = dict(zip(joint.motions, zip(joint.coordinate_names, joint.rest, joint.limits, strict=True), strict=True))
    sign = 1.0 if joint.child == body else -1.0
    motions = []
    for k, name in enumerate(SLIDES):
        if name in values:
            coordinate, rest, limits = values[name]
            motions.append(Motion(coordinate, "slide", sign * parent_R[:, k], anchor, rest, limits))
    if joint.is_ball:
        motions.append(Motion(joint.name, BALL, child_R[:, 0], anchor, 0.0, (0.0, joint.turn_limit)))
    else:
        for k in turns:
            coordinate, rest, limits = values[TURNS[k]]
            axis = parent_R[:, k] if k == turns[0] else child_R[:, k]
            motions.append(Motion(coordinate, "turn", sign * axis, anchor, rest, limits))
    yield from motions if sign > 0 else reversed(motions)
