"""Reach of a frame from the rest pose within limits and with hold: surfaces, and the largest boxes inside them.

Rays lead from the rest pose along a grid of directions over the sphere, of places with the orientation at rest, and of
orientations at the place at rest (roll, pitch, yaw about the world's axes: R = Rz Ry Rx). Each is followed step by step
by the solver of a bake, which keeps loops, limits and hold and moves what is redundant first, until the frame no longer
has the pose that is asked for. The last step is followed again in tenths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..ik.memory import Output
from ..ik.solver import Solver
from ..kinematics.frames import anchor
from ..kinematics.singularity import Followed, meter_of
from ..mechanism.base import with_base
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.pose import Pose
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from .boxes import largest_box, sphere

STEP, TURN = 0.01, np.radians(2.0)  # of the robot's extent, and rad: from pose to pose along a ray
FINE = 10  # steps into which the last one is divided
CHUNK = 16  # poses between two looks at what was missed,
SAFE = 3.0  # where there is so many times as much hold as the bound; else 1, since poses beyond walls take long
MET = 1e-4  # of the robot's extent, and rad: nearer to the pose that is asked for counts as there
JUMP = 0.5  # rad, and of the robot's size: coordinates that go further in a step are in another branch
UPRIGHT = np.radians(89.0)  # pitch at most: beyond, roll and yaw are the same
RATE = 60.0  # poses per second, as the solver takes them
ROUNDS = 6  # in which a box is made smaller where it was not reached, before it shrinks as a whole
NEAR = 1.3  # times the bound: hold below which a ray has ended for hold
COUNTS = 1e-6  # of 1: a singular value above this is a freedom
ENDS = ("hold", "limit", "reach")  # why a ray ends


@dataclass(frozen=True, kw_only=True, eq=False)
class Star:
    """Extent of a frame's ways from the rest pose in K directions, and the largest box inside.

    Attributes:
        directions: (K, 3) of length one: x, y, z, or roll, pitch, yaw.
        faces: (F, 3) triangles of these; none where the frame moves in a plane or on a line.
        far: (K,) [m or rad].
        hold: (K,) at the end; infinite without loops.
        ends: (K,) why each ends, a number in `ENDS`: the bound of hold, a joint's limit, the robot's reach.
        box: (3, 2) lower and upper bound of a box in which all poses were reached [m or rad].
    """

    directions: np.ndarray
    faces: np.ndarray
    far: np.ndarray
    hold: np.ndarray
    ends: np.ndarray
    box: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """The surface (K, 3) about the rest pose [m or rad]."""
        return self.directions * self.far[:, None]

    @property
    def share(self) -> dict[str, float]:
        """Share of directions that end for each reason."""
        return {name: float((self.ends == k).mean()) for k, name in enumerate(ENDS)}

    def along_axes(self) -> np.ndarray:
        """Return how far each axis alone leads, lower and upper (3, 2) [m or rad]."""
        along = self.directions @ np.hstack([-np.eye(3), np.eye(3)])
        on_axis = np.where(along > 1.0 - 1e-9, self.far[:, None], 0.0).max(axis=0, initial=0.0)
        return np.stack([-on_axis[:3], on_axis[3:]], axis=1)

    def as_data(self) -> dict:
        """Return plain data."""
        return {
            "box": self.box.tolist(), "axes": self.along_axes().tolist(), "share": self.share,
            "surface": [
                {"direction": way, "far": far, "hold": hold if np.isfinite(hold) else None, "ends": ENDS[end]}
                for way, far, hold, end in zip(
                    self.directions.tolist(), self.far.tolist(), self.hold.tolist(), self.ends.tolist(), strict=True)
            ],
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class ReachMap:
    """Poses that a frame may have, about the rest pose.

    Attributes:
        frame: its name.
        hold: the bound that was kept; 0 where every pose is allowed.
        rest: its pose at rest in the world.
        position: places, with the orientation at rest if `together`; None where no motor moves the frame.
        rotation: orientations, at the place at rest if `together`; None where no motor turns it.
        together: whether the motors give the frame all six freedoms; if not, places and orientations depend on each
            other, and each is followed alone.
        poses: that were solved.
    """

    frame: str
    hold: float
    rest: Pose
    position: Star | None
    rotation: Star | None
    together: bool
    poses: int

    @property
    def cone(self) -> float:
        """The largest tilt that is reached in every direction, without yaw [rad]; 0 where the frame does not tilt."""
        star = self.rotation
        if star is None or not len(star.faces):
            return 0.0
        roll, pitch = star.points[np.abs(star.directions[:, 2]) < 1e-9, :2].T
        return float(np.arccos(np.clip(np.cos(roll) * np.cos(pitch), -1.0, 1.0)).min())

    def as_data(self) -> dict:
        """Return plain data, as `robik reach --json` prints it: lengths in m, angles in rad."""
        return {
            "frame": self.frame, "hold": self.hold, "poses": self.poses, "together": self.together, "cone": self.cone,
            "position": self.position and self.position.as_data(),
            "rotation": self.rotation and self.rotation.as_data(),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Return it in words, as `robik reach` prints it."""
        kept = f"limits and hold {self.hold:g}" if self.hold else "limits"
        said = [f"{self.frame}: {self.poses} poses about the rest pose, within {kept}"]
        for star, of, unit, names, held in (
            (self.position, 1e3, "mm", "xyz", "the orientation of rest"),
            (self.rotation, 180.0 / np.pi, "°", ("roll", "pitch", "yaw"), "the place of rest"),
        ):
            what = "places" if unit == "mm" else "orientations"
            if star is None:
                said.append(f"{what}: no motor changes them")
                continue
            said.append(f"{what}, with {held}:" if self.together else f"{what}, whatever else moves with them:")
            for label, box in (("one axis alone", star.along_axes()), ("all together, a box", star.box)):
                ranges = [f"{n} {of * a:.3g} to {of * b:.3g} {unit}" for n, (a, b) in zip(names, box, strict=True)]
                said.append(f"  {label}: {', '.join(ranges)}")
            share = ", ".join(f"{100 * part:.0f} % for {ENDING[name]}" for name, part in star.share.items() if part)
            said.append(f"  directions end: {share}")
        return [*said, f"a cone of {np.degrees(self.cone):.3g}° in every direction"] if self.cone else said


ENDING = {"hold": "the bound of hold", "limit": "a joint's limit", "reach": "reach"}


def reach_map(
    mechanism: Mechanism,
    frame: str,
    hold: float = 0.05,
    fineness: int = 8,
    tell: Callable[[float], None] = lambda _: None,
) -> ReachMap:
    """Return where a frame may go from the rest pose within limits and with hold, its base held.

    Args:
        mechanism: The robot.
        frame: Name of a frame or a body.
        hold: The least hold that is kept; 0 for any pose.
        fineness: Rays per quarter of a turn.
        tell: Takes the share that is done, 0 to 1.

    Returns:
        Surfaces of places and of orientations, and the largest boxes inside.

    Raises:
        MechanismError: The robot has no such frame; lists those that there are.
        ClipError: A hold that is none.
    """
    rays = _Rays(with_base(mechanism, "fixed"), frame, hold)
    position = rays.star(fineness, False, lambda share: tell(0.5 * share))
    rotation = rays.star(fineness, True, lambda share: tell(0.5 + 0.5 * share))
    tell(1.0)
    return ReachMap(
        frame=frame, hold=hold, rest=rays.rest, position=position, rotation=rotation, together=rays.together,
        poses=rays.poses,
    )  # fmt: skip


class _Rays:
    """Follows rays of places and of orientations from the rest pose."""

    def __init__(self, mechanism: Mechanism, frame: str, hold: float):
        self.rest, self.poses, self._frame, self._hold = mechanism.rest_pose(frame), 0, frame, hold
        self._mechanism = mechanism
        own = Solver(mechanism, (frame,), Settings(hold=hold))
        self._start, self._meter = own.topology.rest, meter_of(own.topology)
        whole = Followed(frame, np.ones(3, bool), np.eye(3))
        led = max((self._meter.led(q, [whole]) for q in self._meter.near), key=_rank, default=np.zeros((12, 0)))
        turned = led[3:].reshape(3, 3, -1)  # what each direction of the frame does, as omega × it
        axes = quaternion_matrices(np.array(self.rest.quaternion)[None])[0]
        omega = np.sum([np.cross(axes[:, k], turned[k], axisb=0, axisc=0) for k in range(3)], axis=0)
        self.together = _rank(led) == 6
        self.is_redundant = not self.together or (np.abs(led).max(axis=0) > COUNTS).sum() > 6
        self._spans = _span(led[:3]), _span(omega)
        place, turn = ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)) if not self.together else ((1.0,) * 3, (1.0,) * 3)
        self._weights = Weights(place, turn), Weights(place if self.together else turn, (1.0, 1.0, 1.0))

    def star(self, fineness: int, turns: bool, tell: Callable[[float], None]) -> Star | None:
        """Return how far places, or orientations, go from the rest pose."""
        span = self._spans[turns]
        if not span.shape[1]:
            return None
        directions, faces = sphere(span, fineness)
        walk = _Walk(self, turns)
        far, hold, ends = walk.to_the_end(directions, lambda share: tell(0.8 * share))
        known, reached = directions, far
        for last in range(ROUNDS + 1):  # rays to the box's corners and edges, until all of them are reached
            box = largest_box(known, reached)
            more = _surface(box)
            length = np.linalg.norm(more, axis=1)
            more, length = more[length > 0.0] / length[length > 0.0, None], length[length > 0.0]
            got = walk.to_the_end(more, lambda _: None, length)[0]
            if (least := float((got / length).min(initial=1.0))) > 1.0 - 1e-9:
                break
            known, reached = np.vstack([known, more]), np.concatenate([reached, np.where(got < length, got, np.inf)])
            box = box * least if last == ROUNDS else box
        return Star(directions=directions, faces=faces, far=far, hold=hold, ends=ends, box=box)


class _Walk:
    """Follows rays of one kind."""

    def __init__(self, rays: _Rays, turns: bool):
        self.rays, self.turns = rays, turns
        weights = rays._weights[turns]
        mechanism = rays._mechanism
        self.has_walls = rays.is_redundant and rays._hold > 0.0  # else no motor could give way before them
        settings = Settings(hold=rays._hold if self.has_walls else 0.0, targets={rays._frame: weights})
        self.solver = Solver(mechanism, (rays._frame,), settings)
        self.extent, self.step = mechanism.extent, TURN if turns else STEP * mechanism.extent
        self.placed, self.oriented = any(weights.position), any(weights.orientation)
        self.anchor = anchor(self.solver.topology, rays._frame)
        self.loops = rays._meter.loops
        self.bound = np.minimum(rays._hold, [0.5 * each.usual for each in self.loops])
        flat = self.solver.flat
        bounded = np.flatnonzero((flat.dof_q >= 0) & (np.isfinite(flat.lower) | np.isfinite(flat.upper)))
        self.at, self.lower, self.upper = flat.dof_q[bounded], flat.lower[bounded], flat.upper[bounded]

    def to_the_end(
        self, directions: np.ndarray, tell: Callable[[float], None], most: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how far rays (K, 3) lead, `most` (K,) at most, the hold there (K,), and why they end (K,)."""
        k, whole = len(directions), self._most(directions) if most is None else most
        starts = np.tile(self.rays._start, (k, 1))
        far, q = self._follow(directions, np.zeros(k), whole, self.step, starts, lambda share: tell(0.8 * share))
        ahead = np.minimum(far + self.step, whole)
        far, q = self._follow(directions, far, ahead, self.step / FINE, q, lambda share: tell(0.8 + 0.2 * share))
        hold = self.rays._meter.along(q).hold
        is_low = (hold < NEAR * self.bound).any(axis=1) & (self.rays._hold > 0.0)
        near = 0.02 * np.minimum(self.upper - self.lower, 1.0)
        is_limited = ((q[:, self.at] < self.lower + near) | (q[:, self.at] > self.upper - near)).any(axis=1)
        return far, hold.min(axis=1, initial=np.inf), np.where(is_low, 0, np.where(is_limited, 1, 2))

    def _most(self, directions: np.ndarray) -> np.ndarray:
        """Return how far rays lead at most: an arm's length, half a turn, and a pitch that is none of roll and yaw."""
        if not self.turns:
            return np.full(len(directions), 2.0 * self.extent)
        return np.minimum(np.pi, UPRIGHT / np.maximum(np.abs(directions[:, 1]), 1e-9))

    def _follow(
        self,
        directions: np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        step: float,
        starts: np.ndarray,
        tell: Callable[[float], None],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Follow rays (K, 3) from `begin` to `end` (K,) and coordinates (K, nq); return how far, and where they are."""
        far, last = begin.copy(), starts.copy()
        for k, way in enumerate(directions):
            count = int(np.ceil((end[k] - begin[k]) / step - 1e-9))
            if count < 1:
                continue
            s = np.minimum(begin[k] + step * np.arange(count + 1), end[k])
            poses = self._poses(way, s)
            asked = self.solver.compile_targets({self.rays._frame: poses[:2]}, None, np.arange(count + 1) / RATE)
            room = self.solver.room(CHUNK)
            self.solver.go_on_from(starts[k], asked.targets[0])
            first = good = stop = 1
            while (good == stop - first or stop == 1) and stop <= count:
                first, stop = stop, min(stop + (CHUNK if self._is_safe(last[k]) else 1), count + 1)
                self.solver.solve_stretch(room, first, first, stop, asked)
                self.rays.poses += stop - first
                good = self._reached(room, poses, first, stop, last[k])
                if good:
                    far[k], last[k] = s[first + good - 1], room.q[good - 1]
            tell((k + 1) / len(directions))
        return far, last

    def _poses(self, way: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the places (T, 3) and quaternions (T, 4) along a ray at s (T,), and the latter's turns from rest."""
        place, turn = np.tile(self.rays.rest.position, (len(s), 1)), Rotation.identity(len(s))
        if self.turns:
            turn = Rotation.from_euler("xyz", s[:, None] * way)
        else:
            place = place + s[:, None] * way
        at_rest = Rotation.from_quat(self.rays.rest.quaternion, scalar_first=True)
        return place, (turn * at_rest).as_quat(scalar_first=True), turn.as_quat(scalar_first=True)

    def _is_safe(self, q: np.ndarray) -> bool:
        """Return whether no wall is near at coordinates (nq,)."""
        return not self.has_walls or bool((self.rays._meter.along(q[None]).hold > SAFE * self.bound).all())

    def _reached(self, room: Output, poses: tuple[np.ndarray, ...], first: int, stop: int, before: np.ndarray) -> int:
        """Return how many of the first frames that were solved are where they should be, with hold, in one branch."""
        n, b = stop - first, self.anchor.body - 1
        turn, met = room.quaternion[:n, b], room.residual[:n] < MET * self.extent
        if self.placed:
            off = room.position[:n, b] + quaternion_matrices(turn) @ self.anchor.point - poses[0][first:stop]
            met &= np.einsum("ij,ij->i", off, off) < (MET * self.extent) ** 2
        if self.oriented:
            met &= np.abs(np.einsum("ij,ij->i", turn, poses[2][first:stop])) > np.cos(0.5 * MET)
        steps = np.abs(np.diff(np.vstack([before, room.q[:n]]), axis=0)).max(axis=1)
        met &= steps < JUMP * max(1.0, self.solver.flat.size)
        if self.rays._hold > 0.0 and self.loops:
            held = self.rays._meter.along(np.vstack([before, room.q[:n]]))
            met &= ((held.hold > (1.0 - MET) * self.bound) & ~held.crossed)[1:].all(axis=1)
        return n if met.all() else int(met.argmin())


def _rank(led: np.ndarray) -> int:
    """Return the rank of what motors do (rows, motors)."""
    return int((np.linalg.svd(led, compute_uv=False) > COUNTS).sum()) if led.size else 0


def _span(led: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (3, r) of what motors do with a vector (3, motors), along axes where it can be."""
    if not led.size:
        return np.zeros((3, 0))
    ways, values, _ = np.linalg.svd(led)
    basis = ways[:, : int((values > COUNTS).sum())]
    on = basis @ basis.T
    aligned = np.flatnonzero(np.diag(on) > 1.0 - COUNTS)
    return np.eye(3)[:, aligned] if len(aligned) == basis.shape[1] else basis


def _surface(box: np.ndarray) -> np.ndarray:
    """Return places (n, 3) on a box's corners, edges and faces."""
    sides = [np.array([low, 0.5 * (low + high), high]) if high > low else np.zeros(1) for low, high in box]
    return np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 3)
