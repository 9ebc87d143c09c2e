"""Relative frame: a frame of the robot at a pose in another frame of the robot, or on a thing in the world.

    f = ½ Σₖ w_pos,ₖ (oₖ · (x − p))²/ℓ²  +  Σₐ w_ori,ₐ (1 − R a · O â),   p = o + O p̂

x is the frame's origin, R a the direction of its axis a in the world, o and O the other frame's origin and orientation,
oₖ the directions of its axes, and p̂, â the targets as the other frame sees them. It is the frame pose (paper, IV-B) in
a frame that moves: f depends on the motion of one body against the other alone. In place of the other frame there can
be the world, for what is held to a thing that moves there: then the targets are that thing's pose with the frame's on
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..errors import ClipError, RobikError
from ..jit import inlined, kernel
from ..kinematics.kernels import rotate
from ..kinematics.rotations import cross, multiply, product
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.parts import WORLD
from ..mechanism.topology import Topology
from .distances import angle_between, length_along
from .ends import Ends
from .fields import Field, Quaternions, T
from .keys import KeyForm
from .objective import Kernels, Objective, States, TargetError
from .rows import Row, RowKind
from .terms import add_along, add_point, moved, seen_from
from .weights import Weights


class RelativeFrames(NamedTuple):
    """The t followed frames, in compiled form."""

    body: np.ndarray  # (t,) that carries the frame
    other: np.ndarray  # (t,) that carries the frame it is seen from
    slot: np.ndarray  # (t,) where its forces and stiffness go
    point: np.ndarray  # (t, 3) the frame's origin in the body's state frame [m]
    axes: np.ndarray  # (t, 3, 3) its axes there, in columns
    other_point: np.ndarray  # (t, 3) the same of the other frame [m]
    other_axes: np.ndarray  # (t, 3, 3)
    position_weight: np.ndarray  # (t, 3) along the other frame's axes, over ℓ²
    orientation_weight: np.ndarray  # (t, 3) of the directions of the frame's axes
    position: np.ndarray  # (t, 3) target [m]
    rotation: np.ndarray  # (t, 3, 3) target
    seen: np.ndarray  # (3, 3) scratch: the other frame's axes in the world
    aim: np.ndarray  # (3, 3) scratch: where the frame's axes should point


@inlined
def _aim(now, frames, t):
    """Fill `seen` and `aim`; return the frame's origin and where it should be."""
    b, o = frames.body[t], frames.other[t]
    multiply(now.R[o], frames.other_axes[t], frames.seen)
    multiply(frames.seen, frames.rotation[t], frames.aim)
    x, y, z = rotate(now.R[b], frames.point[t])
    px, py, pz = rotate(now.R[o], frames.other_point[t])
    dx, dy, dz = rotate(frames.seen, frames.position[t])
    c, oc = now.c[b], now.c[o]
    return x + c[0], y + c[1], z + c[2], px + oc[0] + dx, py + oc[1] + dy, pz + oc[2] + dz


@kernel
def add_value(flat, now, frames, total):
    """Return `total` with the objective added."""
    for t in range(frames.body.shape[0]):
        x, y, z, px, py, pz = _aim(now, frames, t)
        ex, ey, ez = x - px, y - py, z - pz
        for k in range(3):
            along = frames.seen[0, k] * ex + frames.seen[1, k] * ey + frames.seen[2, k] * ez
            total += 0.5 * frames.position_weight[t, k] * along * along
            if frames.orientation_weight[t, k] != 0.0:
                dx, dy, dz = rotate(now.R[frames.body[t]], frames.axes[t, :, k])
                dx, dy, dz = dx - frames.aim[0, k], dy - frames.aim[1, k], dz - frames.aim[2, k]
                total += 0.5 * frames.orientation_weight[t, k] * (dx * dx + dy * dy + dz * dz)
    return total


@kernel
def add_terms(flat, now, frames, terms, share):
    """Add forces and stiffness to the slots, with a `share` of the forces in the second derivatives."""
    for t in range(frames.body.shape[0]):
        s = frames.slot[t]
        px, py, pz, ax, ay, az = _aim(now, frames, t)
        ahead = seen_from(terms, frames.body[t], frames.other[t])
        x, y, z = moved(ahead, px, py, pz)
        D = terms.D[s]
        for k in range(3):
            nx, ny, nz = frames.seen[0, k], frames.seen[1, k], frames.seen[2, k]
            w = frames.position_weight[t, k]
            force = share * w * (nx * (x - ax) + ny * (y - ay) + nz * (z - az))
            add_point(terms, s, px, py, pz, force * nx, force * ny, force * nz)
            add_along(terms, s, px, py, pz, nx, ny, nz, w)
            wa = frames.orientation_weight[t, k]
            if wa != 0.0:
                d = rotate(now.R[frames.body[t]], frames.axes[t, :, k])
                turned = cross(ahead[0], ahead[1], ahead[2], d[0], d[1], d[2])
                for i in range(3):
                    g = -wa * (share * (frames.aim[i, k] - turned[i]) + (1.0 - share) * d[i])
                    D[0, i] += d[0] * g
                    D[1, i] += d[1] * g
                    D[2, i] += d[2] * g


@dataclass(frozen=True)
class RelativeFrame(Objective):
    """A frame of the robot at a pose in another frame of it, or in the world.

    Attributes:
        frame: that is led.
        other: that it is seen from, `world` for the world.
        position: (T, 3) in the other frame [m], or None where only the orientation matters.
        quaternion: (T, 4) there, wxyz, or None where only the position matters.
    """

    frame: str
    other: str
    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None

    KEY = KeyForm("{frame}.in.{other}")
    FIELDS = (
        Field("position", (T, 3), "m", end="position"),
        Quaternions("quaternion", (T, 4), end="quaternion", column="rotation", otherwise=np.eye(3)),
    )
    NAME, TABLE, KERNELS, WEIGHT = "relative_frame", RelativeFrames, Kernels(add_value, add_terms), Weights()
    ROW = RowKind(
        key="RELATIVE_TO",
        label="Relative To",
        about=(
            "Holds a frame of the robot where it is on an object, as a hand on a box, or in another frame of the robot."
            " With both, it moves in the other frame as what it follows moves against what that frame follows"
        ),
        fields=(
            ("frame", "Robot Frame"),
            ("source", "On"),
            ("other", "In Frame"),
            ("axes", "Weights by axis"),
            ("offset", "Robot frame where it is held"),
        ),
        needs=("frame", "source+other"),
    )

    def checked(self, samples: int) -> Self:
        if self.position is None and self.quaternion is None:
            raise ClipError(f"{self.key!r} has neither a position nor a quaternion; it needs one of them")
        return super().checked(samples)

    @classmethod
    def weight_from(cls, data: Any, key: str) -> Weights:
        if isinstance(data, Weights):
            return data
        names = ("position_weight", "orientation_weight")
        if not isinstance(data, dict) or set(data) - set(names):
            raise ClipError(
                f"the weight of {key!r} must be an object with position_weight and orientation_weight, not {data!r}"
            )
        try:
            return Weights(*(data.get(name, (1.0,) * 3) for name in names))
        except RobikError as error:
            raise ClipError(f"the weight of {key!r}: {error}") from None

    def weigh(self, table: Any, i: int, weight: Weights, per_square_metre: float) -> None:
        table.position_weight[i] = per_square_metre * np.array(weight.position) if self.position is not None else 0.0
        table.orientation_weight[i] = weight.orientation if self.quaternion is not None else 0.0

    def errors(self, states: States, weight: Weights) -> list[TargetError]:
        x, R = states.of(self.frame)
        o, other = np.zeros(3), np.eye(3)[None]
        if self.is_tied:
            o, other = states.of(self.other)
        inverse, found = np.swapaxes(other, 1, 2), []
        if self.position is not None and any(weight.position):
            off = (inverse @ (x - o)[:, :, None])[:, :, 0] - self.position
            apart, text = length_along(off, weight.position), f"{self.frame} is {{}} off{self._seen}"
            found.append(TargetError(apart, "m", text, max(weight.position)))
        if self.quaternion is not None and any(weight.orientation):
            turned = angle_between(inverse @ R, quaternion_matrices(self.quaternion), weight.orientation)
            text = f"{self.frame} is turned {{}} off{self._seen}"
            found.append(TargetError(turned, "rad", text, max(weight.orientation)))
        return found

    @property
    def _seen(self) -> str:
        """From where it is seen, in words."""
        return f", seen from {self.other}" if self.is_tied else " what it is held to"

    @classmethod
    def constants(cls, topology: Topology, items: Sequence[RelativeFrame], both: Ends) -> dict[str, np.ndarray]:
        weights = {name: np.zeros((len(items), 3)) for name in ("position_weight", "orientation_weight")}
        return weights | {name: np.zeros((3, 3)) for name in ("seen", "aim")}

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[RelativeFrame, Weights]]:
        # Where nothing leads the frame, it stays at the row's offset. Where something does, it is led from there as
        # seen from what leads the other frame, or, without another frame, in the world.
        point, turn = np.array(row.offset.position), np.array(row.offset.quaternion)
        if row.position is None or row.quaternion is None:
            position, quaternion = np.tile(point, (row.samples, 1)), np.tile(turn, (row.samples, 1))
        else:
            position, quaternion = row.position, row.quaternion
            if row.other and row.other_position is not None and row.other_quaternion is not None:
                back = row.other_quaternion * np.array([1.0, -1.0, -1.0, -1.0])
                away = position - row.other_position
                position = np.einsum("tij,tj->ti", quaternion_matrices(back), away)
                quaternion = np.stack(product(*back.T, *quaternion.T), axis=-1)
            position = position + quaternion_matrices(quaternion) @ point
            quaternion = np.stack(product(*quaternion.T, *turn[:, None]), axis=-1)
        return [(cls(row.frame, row.other or WORLD, position, quaternion), row.weights)]
