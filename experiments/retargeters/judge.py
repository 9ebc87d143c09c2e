"""Judgement of a retargeted motion of G1 by MuJoCo, from its joints and the recording alone.

When a foot stands says the recording: where its ankle and its ball are low and slow. Slide and penetration are as in
OmniRetarget and ReActor. The ground is where the lowest points of standing soles mostly are, so that nobody is judged
by where he takes it to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from scipy.signal import butter, filtfilt
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from experiments.retargeters.human import LINES, Human

LOW, SLOW = 0.03, 0.15  # m above its usual ground, and m/s, of a person of 1.75 m: a foot that stands
SHORTEST = 0.1  # s: a shorter stand is none
DEEP = 1e-3  # m: a frame with more counts
JUMP = 1.0 / 120.0  # s
CUTOFF = 6.0  # Hz, of accelerations
SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Judgement of a motion.

    Attributes:
        slide_mm_s: mean speed over the ground of the soles that stand.
        float_mm: mean height of the standing soles' lowest points above the ground.
        tilt_deg: mean angle of standing soles against the ground.
        floor_mm, floor_share: deepest that a sole is in the ground, and share of the frames with more than 1 mm.
        self_mm, self_share: the same of the robot in itself.
        jump_rad: largest turn of a joint in 1/120 s.
        directions: mean angle [deg] of each part of the limbs against the human's.
        inside: share of the frames with a standing foot in which the zero-moment point is inside the standing soles.
        milliseconds, longest: per frame, mean and most.
    """

    slide_mm_s: float
    float_mm: float
    tilt_deg: float
    floor_mm: float
    floor_share: float
    self_mm: float
    self_share: float
    jump_rad: float
    directions: dict[str, float]
    inside: float
    milliseconds: float
    longest: float


class Judge:
    """The judge of one robot, from G1's MJCF, whose soles are spheres."""

    def __init__(self, robot: Path) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(robot))
        self.data = mujoco.MjData(self.model)
        model = self.model
        self._soles = {
            side: [
                k
                for k in np.flatnonzero(model.geom_bodyid == model.body(f"{side}_ankle_roll_link").id)
                if model.geom_type[k] == mujoco.mjtGeom.mjGEOM_SPHERE
            ]
            for side in SIDES
        }
        mujoco.mj_forward(model, self.data)
        self._usual = set(self._touching())

    def judge(self, human: Human, qpos: np.ndarray, seconds: np.ndarray) -> Verdict:
        """Return the verdict on a motion, MuJoCo's qpos (T, nq).

        `seconds` (T,) is the time spent on each frame.
        """
        times = human.times
        stands = {side: standing(human, side) for side in SIDES}
        soles, ways, inside_itself = self._replay(qpos)
        lowest = {side: soles[side][..., 2].min(axis=1) for side in SIDES}
        ground = float(np.median(np.concatenate([lowest[side][stands[side]] for side in SIDES])))
        sunk = ground - np.minimum(lowest["left"], lowest["right"])
        normals = {side: _normal(soles[side]) for side in SIDES}
        tilt = np.concatenate([np.arccos(np.clip(normals[s][stands[s]], -1, 1)) for s in SIDES])
        jump = np.abs(np.diff(qpos[:, 7:], axis=0)) / np.diff(times)[:, None] * JUMP
        return Verdict(
            slide_mm_s=1e3 * float(np.mean(np.concatenate([_slide(times, soles[s], stands[s]) for s in SIDES]))),
            float_mm=1e3 * float(np.mean(np.concatenate([(lowest[s] - ground)[stands[s]] for s in SIDES]).clip(0))),
            tilt_deg=float(np.degrees(tilt.mean())),
            floor_mm=1e3 * float(sunk.max(initial=0.0)),
            floor_share=float(np.mean(sunk > DEEP)),
            self_mm=1e3 * float(inside_itself.max()),
            self_share=float(np.mean(inside_itself > DEEP)),
            jump_rad=float(jump.max()),
            directions=_directions(human, ways),
            inside=self._inside(times, qpos, soles, stands),
            milliseconds=1e3 * float(seconds.mean()),
            longest=1e3 * float(seconds.max()),
        )

    def _replay(self, qpos: np.ndarray) -> tuple[dict, dict, np.ndarray]:
        """Return soles' points (T, 4, 3), parts' directions (T, 3), both by side, and depths in itself (T,) [m]."""
        soles: dict = {side: [] for side in SIDES}
        ways: dict = {(part, side): [] for part in LINES for side in SIDES}
        deep = np.zeros(len(qpos))
        for k, pose in enumerate(qpos):
            self.data.qpos[:] = pose
            mujoco.mj_forward(self.model, self.data)
            for side, geoms in self._soles.items():
                radius = self.model.geom_size[geoms, 0]
                soles[side].append(self.data.geom_xpos[geoms] - radius[:, None] * [0.0, 0.0, 1.0])
            for (part, side), found in ways.items():
                start, end = (self.data.body(name.format(side)).xpos for name in LINES[part])
                found.append((end - start) / np.linalg.norm(end - start))
            deep[k] = max((depth for pair, depth in self._touching().items() if pair not in self._usual), default=0.0)
        return {s: np.array(p) for s, p in soles.items()}, {key: np.array(w) for key, w in ways.items()}, deep

    def _touching(self) -> dict[tuple[int, int], float]:
        """Return how deep bodies are in each other in this pose [m]."""
        found: dict[tuple[int, int], float] = {}
        for contact in self.data.contact[: self.data.ncon]:
            bodies = sorted(int(self.model.geom_bodyid[geom]) for geom in contact.geom)
            pair = bodies[0], bodies[1]
            if pair[0]:
                found[pair] = max(found.get(pair, 0.0), -float(contact.dist))
        return found

    def _inside(self, times: np.ndarray, qpos: np.ndarray, soles: Mapping, stands: Mapping) -> float:
        """Return the share of the frames with a standing foot in which the zero-moment point is inside the soles."""
        points = self._zero_moment(times, qpos, float(np.median(np.concatenate([s[..., 2] for s in soles.values()]))))
        inside = []
        for k in range(len(times)):
            standing = [soles[side][k][:, :2] for side in SIDES if stands[side][k]]
            if standing:
                inside.append(_is_inside(points[k], np.concatenate(standing)))
        return float(np.mean(inside))

    def _zero_moment(self, times: np.ndarray, qpos: np.ndarray, height: float) -> np.ndarray:
        """Return the zero-moment points (T, 2) [m], from inverse dynamics without contacts."""
        model, data = self.model, self.data
        dt = float(np.median(np.diff(times)))
        velocity = np.zeros((len(qpos), model.nv))
        for k in range(1, len(qpos)):
            mujoco.mj_differentiatePos(model, velocity[k], dt, qpos[k - 1], qpos[k])
        velocity[0] = velocity[1]
        b, a = butter(2, min(0.99, 2 * CUTOFF * dt))
        velocity = filtfilt(b, a, velocity, axis=0)
        acceleration = np.gradient(velocity, dt, axis=0)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
        points = np.zeros((len(qpos), 2))
        for k in range(len(qpos)):
            data.qpos[:], data.qvel[:], data.qacc[:] = qpos[k], velocity[k], acceleration[k]
            mujoco.mj_inverse(model, data)
            force = data.qfrc_inverse[:3]
            moment = data.body("pelvis").xmat.reshape(3, 3) @ data.qfrc_inverse[3:6]
            place = qpos[k, :3] - [0.0, 0.0, height]
            moment = moment + np.cross(place, force)
            points[k] = -moment[1] / force[2], moment[0] / force[2]
        model.opt.disableflags = 0
        return points


def standing(human: Human, side: str) -> np.ndarray:
    """Return flags (T,) of samples in which a foot stands, from the recording alone; the side is "left" or "right"."""
    stands = np.ones(len(human.times), dtype=bool)
    for points in (human.positions["foot", side], human.toes[side]):
        speed = np.linalg.norm(np.gradient(points, human.times, axis=0), axis=1)
        stands &= (points[:, 2] < np.percentile(points[:, 2], 10) + LOW) & (speed < SLOW)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    for start, end in edges.reshape(-1, 2):
        if human.times[min(end, len(stands) - 1)] - human.times[start] < SHORTEST:
            stands[start:end] = False
    return stands


def _slide(times: np.ndarray, points: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """Return the speeds over the ground of the middle of a sole (.,) from frame to frame while it stands [m/s]."""
    speed = np.linalg.norm(np.diff(points.mean(axis=1)[:, :2], axis=0), axis=1) / np.diff(times)
    return speed[stands[1:] & stands[:-1]]


def _normal(points: np.ndarray) -> np.ndarray:
    """Return the upward component (T,) of the soles' normals, of four points (T, 4, 3) each: heel, heel, toe, toe."""
    along = points[:, 2:].mean(axis=1) - points[:, :2].mean(axis=1)
    across = points[:, 0] - points[:, 1] + points[:, 2] - points[:, 3]
    normal = np.cross(along, across)
    return np.abs(normal[:, 2]) / np.linalg.norm(normal, axis=1)


def _directions(human: Human, ways: Mapping[tuple[str, str], np.ndarray]) -> dict[str, float]:
    """Return the mean angle [deg] of each part against the human's, headings aligned by one turn for the whole clip."""
    theirs = {key: human.ways(*key) for key in ways}
    one, other = (np.concatenate([w[:, :2] for w in each.values()]) for each in (theirs, ways))
    turn = np.arctan2((np.cross(one, other)).sum(), (one * other).sum())
    align = Rotation.from_euler("z", turn)
    found = {}
    for part in LINES:
        cosine = [np.sum(align.apply(theirs[part, side]) * ways[part, side], axis=1) for side in SIDES]
        found[part] = float(np.degrees(np.arccos(np.clip(np.concatenate(cosine), -1.0, 1.0))).mean())
    return found


def _is_inside(point: np.ndarray, corners: np.ndarray) -> bool:
    """Return whether a point (2,) is inside the convex hull of others (N, 2)."""
    try:
        hull = ConvexHull(corners)
    except QhullError:
        return False
    return bool((hull.equations[:, :2] @ point + hull.equations[:, 2] <= 0.0).all())
