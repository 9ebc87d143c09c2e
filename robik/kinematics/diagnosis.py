"""Diagnosis of joints: redundant ones, stuck ones, and those that keep a loop from moving.

Every joint locks some motions of its two bodies relative to each other. With a row for each of these, acting on the
bodies' velocities (v, ω), A has in its null space all that the robot can do. The left null space holds the rows that
follow from others; a joint is stuck where no motion of the robot moves it. A joint that locks a loop by standing a
little askew shows as a singular value that is small, but not zero.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ..mechanism.constraints import rotation_vector_matrix
from ..mechanism.joints import SLIDES, TURNS
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD
from ..mechanism.pose import matrix_quaternion
from ..mechanism.topology import build_topology
from ..words import counted
from .assembly import assembled_poses, prepared
from .joint_places import JointPlace, joint_places
from .mobility import Inspection, inspect
from .straightening import straightened

ZERO = 1e-7  # of the largest: singular values below mean nothing
ASKEW = 0.05  # of the largest: singular values below are of axes or places that nearly, but not quite, agree
ALIKE = 10.0  # times the smallest of these: larger ones are of other joints
SHARE = 0.2  # of the largest part in what keeps a loop from moving


@dataclass(frozen=True)
class Diagnosis:
    """Findings on a robot's joints.

    Attributes:
        inspection: the robot in numbers.
        redundant: joints some of whose equations follow from those of others, as in every planar loop.
        needless: joints without which the robot could do no more.
        stuck: joints that have a motion and cannot move.
        askew: joints that keep a loop from moving since their axes or places do not quite agree.
    """

    inspection: Inspection
    _: KW_ONLY
    redundant: tuple[str, ...]
    needless: tuple[str, ...]
    stuck: tuple[str, ...]
    askew: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """In words."""
        found, moved = self.inspection, self.inspection.actuation
        ways, loops = counted(found.mobility, "way"), counted(found.loops, "loop")
        said = [f"{ways} to move, {loops}, {counted(found.redundant_rows, 'redundant equation')}"]
        if self.redundant and not self.stuck:
            said.append("redundant equations are usual where a loop's axes are parallel, and do no harm")
        if self.needless:
            said.append(f"needless, since others tie the same: {', '.join(self.needless)}")
        if self.stuck:
            said.append(f"cannot move: {', '.join(self.stuck)}")
        if self.askew:
            said.append(
                f"contradict each other by a little, so that their loop cannot move: {', '.join(self.askew)}; align"
                " their axes"
            )
        if moved.surplus:
            said.append(f"{moved.surplus} motors too many: they can only move in agreement with the others")
        said += [f"no motor moves: {', '.join(idle)}" for idle in moved.idle]
        if not (self.needless or self.stuck or moved.surplus or moved.idle):
            said.append("nothing contradicts")
        return tuple(said)


def diagnose(mechanism: Mechanism) -> Diagnosis:
    """Return the redundant, needless and stuck joints of a robot in its rest pose and in poses near it.

    The rest pose alone may be singular. Raise MechanismError where the robot's loops cannot be calculated with.
    """
    mechanism = straightened(mechanism)
    found = [_Rows(mechanism, places) for places in _poses(mechanism)]
    rows = max(found, key=lambda each: each.rank)
    inspection = inspect(mechanism)
    stuck = tuple(dict.fromkeys((*rows.stuck(), *inspection.actuation.stuck)))
    return Diagnosis(
        inspection,
        redundant=rows.redundant(),
        needless=rows.needless(),
        stuck=stuck,
        askew=rows.askew() if stuck else (),
    )


def _poses(mechanism: Mechanism) -> list[list[JointPlace]]:
    """Return where the joints are at the rest pose and near it."""
    topology = build_topology(mechanism)
    found = []
    for _, now in assembled_poses(prepared(topology), topology.rest):
        position, quaternion = [], []
        for body in mechanism.bodies:
            b = topology.body_at[body.name]
            position.append(now.c[b] + now.R[b] @ (np.array(body.pose.position) - body.rest_com))
            quaternion.append(matrix_quaternion(now.R[b] @ body.pose.matrix))
        found.append(joint_places(mechanism, np.array(position), np.array(quaternion)))
    return found


class _Rows:
    """The matrix A of a robot in a pose: per joint what it locks, lengths in sizes of the robot."""

    def __init__(self, mechanism: Mechanism, places: list[JointPlace]) -> None:
        self.mechanism, self.places = mechanism, places
        self.size = mechanism.extent
        locked = [self._relative(place) @ _locked(place) for place in places]  # (6 n, rows) each
        self.at = np.cumsum([0, *(block.shape[1] for block in locked)])
        blocks = [block.T for block in locked]
        self.A = np.vstack(blocks) if blocks else np.zeros((0, 6 * len(mechanism.bodies)))
        self.U, self.s, self.V = np.linalg.svd(self.A)
        self.zero = ZERO * max(float(self.s.max(initial=0.0)), 1e-30)
        self.rank = int((self.s > self.zero).sum())

    def redundant(self) -> tuple[str, ...]:
        """Joints with rows in the left null space."""
        return self._named(np.abs(self.U[:, self.rank :]).max(axis=1, initial=0.0), 1e-6)

    def needless(self) -> tuple[str, ...]:
        """Joints all whose rows follow from the others': the left null space has full rank on them."""
        left, names = self.U[:, self.rank :], []
        for k, place in enumerate(self.places):
            mine = left[self.at[k] : self.at[k + 1]]
            if len(mine) and mine.shape[1] >= len(mine) and np.linalg.svd(mine, compute_uv=False)[len(mine) - 1] > 1e-6:
                names.append(place.joint.name)
        return tuple(names)

    def stuck(self) -> tuple[str, ...]:
        """Joints with a motion that no motion of the robot uses."""
        motions = self.V[self.rank :].T
        return tuple(
            place.joint.name for place in self.places
            if place.joint.motions and np.abs(self._relative(place).T @ motions).max(initial=0.0) < 1e-6
        )  # fmt: skip

    def askew(self) -> tuple[str, ...]:
        """Joints with the largest part in what is nearly, but not quite, redundant."""
        weak = np.flatnonzero((self.s > self.zero) & (self.s < ASKEW * self.s.max(initial=0.0)))
        if not len(weak):
            return ()
        weak = weak[self.s[weak] <= ALIKE * self.s[weak].min()]  # short bars have small values, too, and move
        part = np.abs(self.U[:, weak]).max(axis=1)
        return self._named(part, SHARE * float(part.max()))

    def _named(self, part: np.ndarray, least: float) -> tuple[str, ...]:
        return tuple(
            p.joint.name
            for k, p in enumerate(self.places)
            if part[self.at[k] : self.at[k + 1]].max(initial=0.0) > least
        )

    def _relative(self, place: JointPlace) -> np.ndarray:
        """Return the map (6, 6 n) from the bodies' velocities to the child's relative to the parent's.

        v at the joint [sizes], then ω.
        """
        values = dict(zip(place.joint.motions, place.values, strict=True))
        x = (place.origin + place.axes @ [values.get(name, 0.0) for name in SLIDES]) / self.size
        relative = np.zeros((6 * len(self.mechanism.bodies), 6))
        for name, sign in ((place.joint.parent, -1.0), (place.joint.child, 1.0)):
            if name != WORLD:
                i = 6 * self.mechanism.body_index[name]
                relative[i : i + 3, :3] = relative[i + 3 : i + 6, 3:] = sign * np.eye(3)
                turning = np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])  # v = v₀ + ω × x
                relative[i + 3 : i + 6, :3] = sign * turning
        return relative


def _locked(place: JointPlace) -> np.ndarray:
    """(6, rows): directions of the relative velocity that a joint locks."""
    joint, axes = place.joint, place.axes
    values = dict(zip(joint.motions, place.values, strict=True))
    columns = [np.append(axes[:, k], np.zeros(3)) for k, name in enumerate(SLIDES) if name not in joint.motions]
    free, turned = [], axes
    for k, name in enumerate(TURNS):
        if name in joint.motions:
            free.append(turned[:, k])
            turned = turned @ rotation_vector_matrix(values[name] * np.eye(3)[k])
    if len(free) < 3:
        basis = np.linalg.svd(np.array(free).reshape(-1, 3))[2][len(free) :] if free else np.eye(3)
        columns += [np.append(np.zeros(3), row) for row in basis]
    return np.array(columns).reshape(-1, 6).T
