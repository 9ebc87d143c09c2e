"""Order of a robot's bodies and joints in files of simulators, and a motion's numbers in that order.

The bodies are a tree: the one that MJCF is written with, where the robot has loops. `depth` runs through it as MuJoCo
numbers bodies and joints, `breadth` as PhysX (Isaac) does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import ClipError
from ..mechanism import WORLD, Joint, Mechanism
from ..mechanism.constraints import joint_matrices
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.topology import build_topology
from .curves import rates_of
from .motion import BaseTrack, Motion, values_for
from .rates import MOMENT, moved, turned_by

ORDERS = ("depth", "breadth")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Order of bodies and joints.

    Attributes:
        root: body that floats; empty for a robot that stands on the ground.
        bodies: names.
        joints: of the tree that move, without the one of a floating base.
        carried: names of the bodies that these joints carry, one per joint.
    """

    root: str
    bodies: tuple[str, ...]
    joints: tuple[Joint, ...]
    carried: tuple[str, ...]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the joints' coordinates."""
        return tuple(name for joint in self.joints for name in joint.coordinate_names)


class Speeds(NamedTuple):
    """Velocities of a motion."""

    coordinates: np.ndarray  # (T, C) of the joints [rad/s or m/s]
    linear: np.ndarray  # (T, B, 3) of the bodies' own frames in the world [m/s]
    angular: np.ndarray  # (T, B, 3) of the bodies in the world [rad/s]


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbers:
    """A motion as simulators hold it.

    Attributes:
        times: (T,) [s].
        layout: of bodies and joints.
        coordinates: (T, C) of the joints [rad or m].
        position: (T, B, 3) of the bodies' own frames in the world [m].
        quaternion: (T, B, 4) likewise, wxyz.
        com: (B, 3) centres of mass in the bodies' own frames [m].
        find_speeds: works out `speeds`.
    """

    times: np.ndarray
    layout: Layout
    coordinates: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    com: np.ndarray
    find_speeds: Callable[[], Speeds]

    @cached_property
    def speeds(self) -> Speeds:
        """Velocities of joints and bodies."""
        return self.find_speeds()

    @property
    def root(self) -> int:
        """Number of the body that floats, or that is held."""
        return self.layout.bodies.index(self.layout.root) if self.layout.root else 0

    @property
    def base(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (T, 3) [m] and quaternion (T, 4) wxyz of the first body: the one that floats, or that is held."""
        return self.position[:, self.root], self.quaternion[:, self.root]


def layout_of(mechanism: Mechanism, order: str = "depth") -> Layout:
    """Return a robot's bodies and joints in an order of `ORDERS`, and the body by which it floats.

    Raise ClipError for an unknown order, or a joint that turns every way, for which there is no column.
    """
    if order not in ORDERS:
        raise ClipError(f"the order of bodies and joints is {' or '.join(ORDERS)}, not {order!r}")
    root = build_topology(mechanism).root or ""
    tree = _tree(mechanism)
    bodies: list[str] = []
    joints: dict[str, Joint] = {}  # by the body that they carry
    waiting: deque[str] = deque(body for body, _ in tree.get(WORLD, []))
    carried = {body: joint for rows in tree.values() for body, joint in rows}
    while waiting:
        body = waiting.popleft()
        bodies.append(body)
        joint = carried[body]
        if joint is not None and joint.motions and joint.type != "free":
            if joint.is_ball:
                raise ClipError(
                    f"joint {joint.name!r} turns every way, and this format has one column per turn; choose csv or json"
                )
            joints[body] = joint
        children = [child for child, _ in tree.get(body, [])]
        waiting = deque([*children, *waiting]) if order == "depth" else deque([*waiting, *children])
    return Layout(root=root, bodies=tuple(bodies), joints=tuple(joints.values()), carried=tuple(joints))


def _tree(mechanism: Mechanism) -> dict[str, list[tuple[str, Joint | None]]]:
    """Return the children of each body, with the joints that carry them, in the order of the robot's joints."""
    from ..formats.mjcf.writer import mjcf_tree

    spanned = mjcf_tree(mechanism)
    own = {body.name for body in mechanism.bodies}
    order = {joint.name: k for k, joint in enumerate(mechanism.joints)}
    known = {joint.name: joint for joint in mechanism.joints}
    branches = [b for b in spanned.branches if b.body.name in own]
    branches.sort(key=lambda b: -1 if b.joint is None else order.get(b.joint.name, len(order)))
    tree: dict[str, list[tuple[str, Joint | None]]] = {}
    for branch in branches:
        joint = None if branch.joint is None else known.get(branch.joint.name)
        tree.setdefault(branch.parent, []).append((branch.body.name, joint))
    return tree


def numbers_of(motion: Motion, mechanism: Mechanism, order: str = "depth") -> Numbers:
    """Return a motion as simulators hold it, joints in `depth` or `breadth` order.

    Bodies and passive joints come by forward kinematics. Raise ClipError where the motion lacks an actuator, or has
    another base than the robot.
    """
    found = layout_of(mechanism, order)
    values, base = values_for(mechanism, motion, "the motion"), motion.base
    if base is not None and found.root and base.body not in ("", found.root):
        raise ClipError(f"its base is {base.body!r}, but robot {mechanism.name!r} floats by {found.root!r}")
    placed = (base.position, base.quaternion) if base is not None and found.root else None
    tree = _Tree(mechanism, found)
    table, position, quaternion = tree.posed(values, placed)
    return Numbers(
        times=motion.times,
        layout=found,
        coordinates=table,
        position=position,
        quaternion=quaternion,
        com=np.array([mechanism.bodies[mechanism.body_index[name]].com for name in found.bodies]),
        find_speeds=lambda: tree.speeds(motion, values, placed),
    )


class _Tree:
    """Joints and bodies of a robot in the order of a layout, by forward kinematics."""

    def __init__(self, mechanism: Mechanism, layout: Layout) -> None:
        from ..kinematics.forward import ForwardKinematics  # takes long to import

        self._mechanism, self._layout = mechanism, layout
        self._fk = ForwardKinematics(mechanism)
        self._own = [mechanism.body_index[name] for name in layout.bodies]

    def posed(
        self, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinates (T, C), positions (T, B, 3) and quaternions (T, B, 4) wxyz."""
        position, quaternion, _ = self._fk.poses(values, base)
        columns = dict(zip(self._mechanism.actuators, values.T, strict=True))
        for joint in self._layout.joints:
            if not joint.actuated:
                read = joint_coordinates(self._mechanism, joint, position, quaternion)
                columns |= dict(zip(joint.coordinate_names, read.T, strict=True))
        names = self._layout.coordinates
        table = np.column_stack([columns[name] for name in names]) if names else values[:, :0]
        return table, position[:, self._own], quaternion[:, self._own]

    def speeds(self, motion: Motion, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None) -> Speeds:
        """Return the derivatives of all this along a motion's rates.

        (x(t + h ẋ) - x(t - h ẋ)) / 2 h is exact to the order of h², and needs nothing of the way between the samples.
        """
        rates = rates_of(motion)
        along = rates.values[:, [motion.actuators.index(name) for name in self._mechanism.actuators]]
        (table, position, turn), (low_table, low, low_turn) = (
            self.posed(values + step * along, None if base is None else moved(base, rates, step))
            for step in (MOMENT, -MOMENT)
        )
        span = 2.0 * MOMENT
        return Speeds((table - low_table) / span, (position - low) / span, turned_by(low_turn, turn) / span)


def motion_from(
    mechanism: Mechanism, order: str, times: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None, table: np.ndarray
) -> Motion:
    """Return the motion of a simulator's joint coordinates (T, C), whose columns are in an order of `ORDERS`.

    `base` has positions (T, 3) [m] and quaternions (T, 4) wxyz of the body that floats. Raise ClipError for a number of
    columns that the robot does not have.
    """
    found = layout_of(mechanism, order)
    names = found.coordinates
    _check_table(table, len(times), len(names), f"robot {mechanism.name!r} has {len(names)}: {', '.join(names)}")
    return _named_motion(mechanism, found.root, names, times, base, table)


def motion_by_names(
    mechanism: Mechanism | None,
    names: tuple[str, ...],
    times: np.ndarray,
    base: tuple[str, np.ndarray, np.ndarray] | None,
    table: np.ndarray,
) -> Motion:
    """Return the motion of a table (T, columns) with named columns [rad or m]; without its robot all are actuators.

    `base` has its body, positions (T, 3) [m] and quaternions (T, 4) wxyz. Raise ClipError where names and columns
    differ in number, or an actuator has no column.
    """
    _check_table(table, len(times), len(names), f"there are {len(names)} names")
    if mechanism is not None:
        if missing := [name for name in mechanism.actuators if name not in names]:
            raise ClipError(
                f"no column for {', '.join(missing)} of robot {mechanism.name!r}; there are {', '.join(names)}"
            )
        root = build_topology(mechanism).root or ""
        return _named_motion(mechanism, root, names, times, base[1:] if base else None, table)
    track = None if base is None else BaseTrack(body=base[0], position=base[1], quaternion=base[2])
    return Motion(times=times, actuators=names, values=table, base=track)


def _check_table(table: np.ndarray, samples: int, columns: int, wanted: str) -> None:
    """Check that joints have a row per sample and a column each, else raise ClipError."""
    if table.ndim != 2 or len(table) != samples:
        raise ClipError(f"joints must have a row for each of the {samples} samples, not the shape {table.shape}")
    if table.shape[1] != columns:
        raise ClipError(f"{table.shape[1]} columns of joints, but {wanted}")


def _named_motion(
    mechanism: Mechanism,
    root: str,
    names: tuple[str, ...],
    times: np.ndarray,
    base: tuple[np.ndarray, np.ndarray] | None,
    table: np.ndarray,
) -> Motion:
    own = [names.index(name) for name in mechanism.actuators]
    known = {name for joint in mechanism.joints for name in joint.coordinate_names}
    passive = {name: table[:, k] for k, name in enumerate(names) if k not in own and name in known}
    track = None if base is None or not root else BaseTrack(body=root, position=base[0], quaternion=base[1])
    return Motion(times=times, actuators=mechanism.actuators, values=table[:, own], base=track, passive=passive or None)


def joint_coordinates(mechanism: Mechanism, joint: Joint, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return a joint's coordinates (T, motions) [rad or m] from bodies' poses, without jumps of 2π.

    Positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz are of all bodies' own frames.
    """
    from ..kinematics.actuation import values_between  # takes long to import

    parent_R, parent_p, child_R = joint_matrices(joint)

    def side(body: str, local_R: np.ndarray, anchor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if body == WORLD:
            return np.broadcast_to(anchor, (len(position), 3)), np.broadcast_to(local_R, (len(position), 3, 3))
        k = mechanism.body_index[body]
        rest = mechanism.bodies[k].pose
        own = quaternion_matrices(quaternion[:, k])
        there = rest.matrix.T @ (np.asarray(anchor) - np.array(rest.position))
        return position[:, k] + own @ there, own @ (rest.matrix.T @ local_R)

    near, near_R = side(joint.parent, parent_R, np.asarray(parent_p))
    far, far_R = side(joint.child, child_R, np.array(joint.position))
    back = np.swapaxes(near_R, 1, 2)
    return values_between(joint, np.einsum("tij,tj->ti", back, far - near), back @ far_R)
