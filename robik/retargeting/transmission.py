"""The way from the motors of one model of a robot to those of another, and what it does to torques.

    b = f(a),    τ_a = (∂f/∂a)ᵀ τ_b

a and b are the motors' values of the first and the second model, τ their torques: both models need the same power. The
one with fewer motors gives the derivative: the other one can also move as its rods would not let it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import null_space

from ..errors import ClipError
from ..kinematics.assembly import assembled_poses
from ..kinematics.forward import ForwardKinematics
from ..kinematics.kernels import close, closure_jacobian, forward_kinematics
from ..kinematics.straightening import straightened
from ..mechanism import Joint, Mechanism
from ..mechanism.constraints import SLIDES, TURNS, joint_matrices
from ..mechanism.topology import build_topology
from ..motions.layout import joint_coordinates

RANK = 1e-7  # of the largest singular value: a smaller one counts as none
SAME_PLACE = 1e-3  # [m] between the axes of two joints that are one
SAME_WAY = 1e-3  # [rad] likewise

Base = tuple[np.ndarray, np.ndarray]  # (T, 3) [m] and (T, 4) wxyz


@dataclass(frozen=True, kw_only=True)
class Arrived:
    """A motion on the second model.

    Attributes:
        values: (T, A) of its motors [rad or m].
        passive: (T,) each of its other joints' coordinates.
        base: where the body is by which it floats; None where it does not, or that is not known.
        residual: (T,) closure of its loops [m].
    """

    values: np.ndarray
    passive: dict[str, np.ndarray]
    base: Base | None
    residual: np.ndarray


class Way:
    """The way of a motion from one model of a robot, the source, to another, the target.

    `pairs` gives the target's name of a coordinate or body of the source where they differ, with a minus where the sign
    turns. `drivers` are the coordinates of the target that are given. Raise ClipError where motors of the target are
    without a value.
    """

    def __init__(self, source: Mechanism, target: Mechanism, pairs: Mapping[str, str]) -> None:
        self.source, self.target, self._pairs = source, target, pairs
        wanted = {*coordinates_of(target)}
        self._known = {}  # coordinate of the source → that of the target, and the sign
        for name in _readable(source):
            there = pairs.get(name, name)
            if there.removeprefix("-") in wanted:
                self._known[name] = there.removeprefix("-"), -1.0 if there.startswith("-") else 1.0
        self._driven, self.drivers = _driven(target, {n for n, _ in self._known.values()}, set(source.actuators))
        self._here, self._there = ForwardKinematics(source), ForwardKinematics(self._driven)

    def back(self) -> Way | None:
        """Return the way from the target to the source; None where the target's motors do not say all of the source."""
        pairs = {there.removeprefix("-"): "-" * there.startswith("-") + own for own, there in self._pairs.items()}
        try:
            return Way(self.target, self.source, pairs)
        except ClipError:
            return None

    def along(self, values: np.ndarray, base: Base | None = None) -> Arrived:
        """Return a motion of the source's motors (T, A) [rad or m], and of its base where known, on the target."""
        position, quaternion, _ = self._here.poses(values, base)
        own = dict(zip(self.source.actuators, values.T, strict=True))
        for joint in self.source.joints:
            if joint.motions and not joint.actuated and {*joint.coordinate_names} & {*self._known}:
                own |= _read(self.source, joint, position, quaternion)
        given = {there: sign * own[name] for name, (there, sign) in self._known.items()}
        placed = self._placed(position, quaternion, base is not None)
        columns = {name: given[name] for name in self.drivers}
        return self._arrived(self._there, np.column_stack([*columns.values()]), placed, columns)

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Return the derivatives (T, B, A) of the target's motors by the source's; zero where loops do not close."""
        giving = {there: (name, sign) for name, (there, sign) in self._known.items()}
        names = [giving[driver][0] for driver in self.drivers]
        signs = np.array([giving[driver][1] for driver in self.drivers])
        given, here = _in_tree(self.source, names).linearized(values, names)
        _, there = _in_tree(self._driven, self.target.actuators).linearized(signs * given, self.target.actuators)
        return there @ (signs[:, None] * here)

    def driven_by_own_motors(self, values: np.ndarray, base: Base | None) -> Arrived:
        """Return the target's coordinates at values (T, B) of its own motors [rad or m]."""
        columns = dict(zip(self.target.actuators, values.T, strict=True))
        return self._arrived(ForwardKinematics(self.target), values, base, columns)

    def _arrived(
        self, fk: ForwardKinematics, values: np.ndarray, base: Base | None, columns: dict[str, np.ndarray]
    ) -> Arrived:
        position, quaternion, residual = fk.poses(values, base)
        passive: dict[str, np.ndarray] = {}
        for joint in self.target.joints:
            if joint.motions and joint.type != "free" and not {*joint.coordinate_names} <= {*columns}:
                for name, column in _read(self.target, joint, position, quaternion).items():
                    (columns if joint.actuated else passive).setdefault(name, column)
        motors = {*self.target.actuators}
        return Arrived(
            values=np.column_stack([columns[name] for name in self.target.actuators]),
            passive={name: column for name, column in columns.items() if name not in motors} | passive,
            base=base,
            residual=residual,
        )

    def _placed(self, position: np.ndarray, quaternion: np.ndarray, is_known: bool) -> Base | None:
        """Return where the body is by which the target floats; None where it does not float, or that is not known."""
        source, target = self.source, self.target
        root = build_topology(target).root
        if root is None or not (is_known or source.is_grounded):
            return None
        name = next((own for own, other in self._pairs.items() if other == root), root)
        if name not in source.body_index:
            raise ClipError(
                f"robot {target.name!r} floats by its body {root!r}, which robot {source.name!r} does not have; "
                "name it in the table"
            )
        k = source.body_index[name]
        return position[:, k], quaternion[:, k]


def transmitted(way: Way, values: np.ndarray, arrived: Arrived, torques: np.ndarray) -> np.ndarray:
    """Return the torques (T, B) of the target's motors that have the power of the source's, `torques` (T, A).

    They are the smallest where several would do. `values` (T, A) are of the source's motors.
    """
    if len(way.target.actuators) < len(way.source.actuators) and (back := way.back()) is not None:
        return np.einsum("tab,ta->tb", back.slopes(arrived.values), torques)
    inverse = np.linalg.pinv(np.swapaxes(way.slopes(values), 1, 2), rcond=1e-9)
    return np.einsum("tba,ta->tb", inverse, torques)


def _in_tree(robot: Mechanism, names: Sequence[str]) -> ForwardKinematics:
    """Return the forward kinematics of a robot with some coordinates in its tree."""
    return ForwardKinematics(robot, build_topology(straightened(robot), names))


def coordinates_of(robot: Mechanism) -> list[str]:
    """Return the names of a robot's coordinates in the order of its joints, without the base's."""
    return [name for joint in robot.joints if joint.type != "free" for name in joint.coordinate_names]


def paired_by_place(source: Mechanism, target: Mechanism, table: Mapping[str, str]) -> dict[str, str]:
    """Return pairs of coordinates without a common name whose axes lie in the same place in the rest pose.

    They are names in the target by names in the source, with a minus where the axes count against each other. `table`
    has the pairs that are known.
    """
    named = {name for name in coordinates_of(source) if name in {*coordinates_of(target)}} | {*table}
    taken = named | {name.removeprefix("-") for name in table.values()}
    there = [axis for axis in _axes(target) if axis[0] not in taken]
    found: dict[str, str] = {}
    for name, kind, point, way in _axes(source):
        if name in named:
            continue
        same = [
            (other, float(way @ along))
            for other, other_kind, at, along in there
            if other_kind == kind and np.linalg.norm(np.cross(way, along)) < SAME_WAY
            and (kind == "slide" or np.linalg.norm(np.cross(at - point, way)) < SAME_PLACE)
        ]  # fmt: skip
        if len(same) == 1 and same[0][0] not in {n.removeprefix("-") for n in found.values()}:
            found[name] = same[0][0] if same[0][1] > 0 else f"-{same[0][0]}"
    return found


def _axes(robot: Mechanism) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
    """Return name, kind, point and direction of the coordinates of joints that have one, in the rest pose."""
    found = []
    for joint in robot.joints:
        if len(joint.motions) == 1:
            _, origin, child = joint_matrices(joint)
            motion = joint.motions[0]
            names, kind = (SLIDES, "slide") if motion in SLIDES else (TURNS, "turn")
            found.append((joint.coordinate_names[0], kind, origin, child[:, list(names).index(motion)]))
    return found


def _readable(robot: Mechanism) -> list[str]:
    """Return the coordinates that a robot's motion tells, its motors' first; none of balls without a motor."""
    passive = [j for j in robot.joints if not j.actuated and j.type != "free" and not j.is_ball]
    return [*robot.actuators, *(name for joint in passive for name in joint.coordinate_names)]


def _read(robot: Mechanism, joint: Joint, position: np.ndarray, quaternion: np.ndarray) -> dict[str, np.ndarray]:
    """Return the coordinates (T,) of a joint from the bodies' poses, by name."""
    values = joint_coordinates(robot, joint, position, quaternion)
    return dict(zip(joint.coordinate_names, values.T, strict=True))


def _driven(target: Mechanism, given: set[str], known: set[str]) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the target driven by what is given, and by which of its coordinates: as many as it has freedoms.

    Its own motors come first, then what motors of the source drive, then what else is known.
    """
    joints = [joint for joint in target.joints if joint.motions and {*joint.coordinate_names} <= given]
    joints.sort(key=lambda joint: (not joint.actuated, not {*joint.coordinate_names} <= known))
    chosen, freedoms = _independent(target, joints)
    if sum(len(joint.motions) for joint in chosen) < freedoms:
        missing = [name for name in target.actuators if name not in given]
        raise ClipError(
            f"of {freedoms} freedoms of robot {target.name!r} the motion says {sum(len(j.motions) for j in chosen)}; "
            f"nothing says where {', '.join(missing)} shall be: pair more names in the table"
        )
    names = {joint.name for joint in chosen}
    driven = target.with_changes(joints=tuple(replace(j, actuated=j.name in names) for j in target.joints))
    return driven, driven.actuators


def _independent(robot: Mechanism, joints: Sequence[Joint]) -> tuple[list[Joint], int]:
    """Return the first ones of some joints that can be set freely beside each other, and how many freedoms there are.

    The rows of a basis of all closed motions are compared: a joint is free beside others if its row does not follow.
    """
    forward = ForwardKinematics(robot)
    poses = assembled_poses(forward.flat, forward.topology.rest)
    next(poses)  # the rest pose may be a singular one
    _, placement = next(poses)
    forward_kinematics(forward.flat, placement)
    close(forward.flat, placement)
    motions = null_space(closure_jacobian(forward.flat, placement), RANK)
    base = 6 * (forward.root is not None)
    dofs, rows, chosen = forward.topology.dofs, np.zeros((0, motions.shape[1])), []
    for joint in joints:
        own = [dofs[name][0] for name in joint.coordinate_names if name in dofs]
        if len(own) == len(joint.motions):
            more = np.vstack([rows, motions[own]])
            if np.linalg.matrix_rank(more, RANK) == len(more):
                rows = more
                chosen.append(joint)
    return chosen, motions.shape[1] - base
