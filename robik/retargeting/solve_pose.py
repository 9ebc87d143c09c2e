"""One pose of a robot from targets, with no motion before it: from a start, and from elsewhere where that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from ..errors import ClipError
from ..ik.solver import ClipTargets, Solver
from ..ik.sqp import UNREACHED
from ..ik.starts_within_limits import starts_within_limits
from ..kinematics.calls import actuator_row
from ..kinematics.forward import Assembly, ForwardKinematics
from ..kinematics.frames import com_of_states, own_frames
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.pose import Pose
from ..objectives.settings import Settings
from ..report.shortfall import millimetres

PULL = 1e-12  # to rest and start: UR10 met 192 of 200 poses, singular ones among them, with a clip's pulls; 200 so
MET = (1e-5, 1e-5)  # of the robot's extent, and rad: a target that is nearer is met


@dataclass(frozen=True, kw_only=True)
class SolvedPose(Assembly):
    """Pose of a robot that targets asked for.

    Attributes:
        found: whether all targets are met.
        position_error: largest distance from a target's position [m].
        orientation_error: largest angle from a target's orientation [rad].
        why: what is missed by how much, in words; empty where all is met.
    """

    found: bool
    position_error: float
    orientation_error: float
    why: str


class _PoseSolver:
    """Solver of single poses for targets of the same frames or bodies."""

    def __init__(self, mechanism: Mechanism, names: tuple[str, ...], oriented: tuple[bool, ...]):
        self.lock = Lock()
        self._mechanism, self._names, self._oriented = mechanism, names, oriented
        self._solver = Solver(mechanism, names, Settings(posture=PULL, stillness=PULL))
        self._output = self._solver.room(1)
        self._forward = ForwardKinematics(mechanism, self._solver.topology)

    def solve(self, targets: Sequence[Pose], start: np.ndarray | None) -> SolvedPose:
        """Return the pose that meets the targets, else the one that comes nearest, from `start` (A,) first."""
        turns = [
            np.array([pose.quaternion]) if turned else None
            for pose, turned in zip(targets, self._oriented, strict=True)
        ]
        wanted = {
            name: (np.array([pose.position]), turn)
            for name, pose, turn in zip(self._names, targets, turns, strict=True)
        }
        asked = self._solver.compile_targets(wanted, None, np.zeros(1))
        first = self._solver.topology.rest
        if start is not None:
            self._forward.reset()
            self._forward.move(start)
            first = self._forward.coordinates
        best = self._from(first, asked, targets)
        starts = starts_within_limits(self._mechanism, self._solver.topology, first)
        while not (best and best.found) and (q := next(starts, None)) is not None:
            other = self._from(q, asked, targets)
            if best is None or (other is not None and self._off(other) < self._off(best)):
                best = other
        if best is None:
            raise ClipError(f"robot {self._mechanism.name!r} cannot be assembled near where it should start")
        return best

    def _from(self, q: np.ndarray, asked: ClipTargets, targets: Sequence[Pose]) -> SolvedPose | None:
        """Return the pose that is found from coordinates q (nq,); None where the loops do not close near them."""
        solver, output = self._solver, self._output
        solver.start_at(q)
        solver.solve(output, 0, 1, asked)
        if output.status[0] == UNREACHED:
            return None
        position, quaternion = own_frames(solver.topology, output.position, output.quaternion)
        com = com_of_states(solver.topology, output.position)[0]
        at = Assembly(
            mechanism=self._mechanism, values=solver.actuator_values(output)[0], position=position[0],
            quaternion=quaternion[0], com=com,
            residual=float(output.residual[0]), assembled=True,
        )  # fmt: skip
        return self._judged(at, targets)

    def _judged(self, at: Assembly, targets: Sequence[Pose]) -> SolvedPose:
        """Return a pose with how far it is from the targets."""
        far, turned, words = [0.0], [0.0], []
        for name, target, oriented in zip(self._names, targets, self._oriented, strict=True):
            pose = at.pose(name)
            far.append(float(np.linalg.norm(np.subtract(pose.position, target.position))))
            turned.append(_angle(pose, target) if oriented else 0.0)
            if far[-1] > MET[0] * self._mechanism.extent:
                words.append(f"{name} is {millimetres(far[-1])} off")
            if turned[-1] > MET[1]:
                words.append(f"{name} is turned by {np.degrees(turned[-1]):.2g}°")
        return SolvedPose(
            **vars(at), found=not words, position_error=max(far), orientation_error=max(turned), why="; ".join(words)
        )

    def _off(self, pose: SolvedPose) -> float:
        return pose.position_error / self._mechanism.extent + pose.orientation_error


@kept_with_robot
def _pose_solver(mechanism: Mechanism, names: tuple[str, ...], oriented: tuple[bool, ...]) -> _PoseSolver:
    return _PoseSolver(mechanism, names, oriented)


def _angle(a: Pose, b: Pose) -> float:
    """Return the angle [rad] between two orientations."""
    turn = a.matrix.T @ b.matrix
    sine = 0.5 * np.linalg.norm((turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]))
    return float(np.arctan2(sine, 0.5 * (np.trace(turn) - 1.0)))


def solve_pose(
    mechanism: Mechanism,
    targets: Mapping[str, Pose | Sequence[float] | np.ndarray],
    start: Sequence[float] | np.ndarray | None = None,
) -> SolvedPose:
    """Return a pose of a robot in which its frames are where targets have them, within limits and with closed loops.

    Where the way from the start ends short of the targets, others are tried: the middle of the limits, then 31 places
    spread between them. A floating robot goes where its targets are.

    Args:
        mechanism: The robot.
        targets: By the name of a frame or a body: a `Pose` in the world, or a position (3,) alone [m].
        start: Actuator values (A,) [rad or m], tried first; the rest pose if left out.

    Returns:
        The pose that meets all targets, else the one that comes nearest; `found`, the errors and `why` say which.

    Raises:
        ClipError: There are no targets, or one is neither a pose nor a position.
        MechanismError: An unknown frame, or a start that is not A finite numbers.
    """
    if not targets:
        raise ClipError("there are no targets; give at least one frame a pose or a position")
    poses = [_pose(name, target) for name, target in targets.items()]
    row = None if start is None else actuator_row(mechanism, start)
    solver = _pose_solver(mechanism, tuple(targets), tuple(isinstance(target, Pose) for target in targets.values()))
    with solver.lock:
        return solver.solve(poses, row)


def _pose(name: str, target: Pose | Sequence[float] | np.ndarray) -> Pose:
    """Return a target as a pose; raise ClipError where it is neither a pose nor a position."""
    if isinstance(target, Pose):
        return target
    try:
        x, y, z = (float(number) for number in target)
    except (TypeError, ValueError):
        raise ClipError(f"the target of {name!r} must be a Pose or a position of 3 numbers, not {target!r}") from None
    if not np.isfinite([x, y, z]).all():
        raise ClipError(f"the target of {name!r} must be finite, not {target!r}")
    return Pose((x, y, z))
