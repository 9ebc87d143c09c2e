"""Simulation of a plan in MuJoCo; this module runs in the process of its own, the only one that loads MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

import mujoco
import numpy as np

from ..clips.support import convex_hull, signed_distance
from ..tilt_feedback import TiltPlan
from .sensing import Sensing
from .trials import Trial

CHUNK = 5  # steps of simulation between two looks at goals and balance
LOOK = 4  # chunks between two looks at the balance
SETTLE = 0.5  # [s] of holding the first goal before the motion begins
TILTED = 0.6  # [rad] of the base off the motion: the robot has fallen
SUNK = 0.6  # of the centre of mass's height over the floor in the motion: it has fallen, too
FLOOR = "floor"


@dataclass(frozen=True)
class Job:
    """Input of the process, as arrays.

    Attributes:
        text: the MJCF of robot and scene.
        start: (nq,) positions.
        rate: of goals [Hz].
        goals, values: (N, A) what the motors are told, and the motion that is meant.
        base: (N, 7) the base's pose in the motion, position [m] and quaternion wxyz; (N, 0) for a grounded robot.
        height: (N,) of the centre of mass in the motion [m].
        actuators: names (A,), and what they can: `effort` and `speed` (A,).
        body: the base's name; empty where it is grounded.
        feet: names of the frames with soles.
        delay: of all goals [s].
        tilt: what tilt feedback must know of the motion; None where there is none.
    """

    text: str
    start: np.ndarray
    rate: float
    goals: np.ndarray
    values: np.ndarray
    base: np.ndarray
    height: np.ndarray
    actuators: tuple[str, ...]
    effort: np.ndarray
    speed: np.ndarray
    body: str
    feet: tuple[str, ...]
    delay: float
    tilt: TiltPlan | None = None


class Simulation:
    """A model, and what it is before trials change it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.model = mujoco.MjModel.from_xml_string(job.text)
        self.data = mujoco.MjData(self.model)
        m = self.model
        self._own = {
            name: np.array(getattr(m, name))
            for name in ("body_mass", "body_inertia", "actuator_gainprm", "actuator_biasprm", "geom_friction")
        }
        self._motor = np.array([m.actuator(name).id for name in job.actuators], dtype=int)
        joints = [m.joint(name) for name in job.actuators]
        self._at = np.array([int(joint.qposadr[0]) for joint in joints], dtype=int)
        self._rate_at = np.array([int(joint.dofadr[0]) for joint in joints], dtype=int)
        self._floor = m.geom(FLOOR).id
        soles = [(foot, k) for k in range(m.ngeom) for foot in job.feet if m.geom(k).name.startswith(f"{foot} sole ")]
        self._sole_of = {k: index for index, (_, k) in enumerate(soles)}
        self._sole_ids = np.array([k for _, k in soles], dtype=int)
        self._foot_of = [foot for foot, _ in soles]
        self._base = m.body(job.body).id if job.body else -1
        self._rest_up = np.eye(3)

    def run(self, trial: Trial, progress: Callable[[float], None], keep: bool = False) -> dict[str, Any]:
        """Simulate a trial.

        Args:
            trial: What is different from the nominal robot.
            progress: Called with the share that is done.
            keep: Whether the bodies' poses are kept, as `ghost`.

        Returns:
            What came out, as plain data.
        """
        self._change(trial)
        job, m, d = self.job, self.model, self.data
        mujoco.mj_resetData(m, d)
        d.qpos[:] = job.start
        d.ctrl[self._motor] = job.goals[0]
        mujoco.mj_forward(m, d)
        step = CHUNK * m.opt.timestep
        length = (len(job.goals) - 1) / job.rate
        record = _Record(len(job.actuators))
        delay, fell, broken = trial.delay + job.delay, None, False
        righted = Sensing(job.tilt, job.rate, delay, self._base) if job.tilt is not None else None
        for k in range(int((SETTLE + length) / step) + 1):
            time = k * step - SETTLE
            d.ctrl[self._motor] = job.goals[self._index(time - delay)] + (righted.step(time, m, d) if righted else 0.0)
            self._saturate()
            mujoco.mj_step(m, d, CHUNK)
            if not np.isfinite(d.qpos).all() or d.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
                broken = True
                break
            self._note(record, time + step)
            if self._fallen(self._index(time + step)):
                fell = time + step
                break
            if k % 40 == 0:
                progress(max(0.0, time) / max(length, step))
            if keep:
                record.keep(time + step, d)
        found = self._judged(record, fell, length)
        found["broken"] = broken
        if keep:
            found["ghost"] = record.ghost()
        return found

    def _change(self, trial: Trial) -> None:
        m, own = self.model, self._own
        m.body_mass[:], m.body_inertia[:] = own["body_mass"] * trial.mass, own["body_inertia"] * trial.mass
        m.actuator_gainprm[:] = own["actuator_gainprm"] * trial.stiffness
        m.actuator_biasprm[:] = own["actuator_biasprm"] * trial.stiffness
        m.geom_friction[:] = own["geom_friction"]
        if trial.friction is not None:
            m.geom_friction[:, 0] = trial.friction
        down, way = radians(trial.slope), radians(trial.heading)
        m.opt.gravity[:] = 9.81 * np.array([sin(down) * cos(way), sin(down) * sin(way), -cos(down)])
        mujoco.mj_setConst(m, self.data)

    def _index(self, time: float) -> int:
        return min(max(int(time * self.job.rate + 1e-6), 0), len(self.job.goals) - 1)

    def _saturate(self) -> None:
        """Lower what the motors can by their speed: a line from stall torque to the speed without load."""
        job, m = self.job, self.model
        share = np.clip(1.0 - np.abs(self.data.qvel[self._rate_at]) / job.speed, 0.0, 1.0)
        most = np.where(np.isfinite(job.effort), job.effort * share, 0.0)
        m.actuator_forcerange[self._motor, 0], m.actuator_forcerange[self._motor, 1] = -most, most

    def _note(self, record: _Record, time: float) -> None:
        d = self.data
        touching = np.zeros(len(self._sole_ids), bool)
        for geom in np.array(d.contact.geom).ravel().tolist():
            if geom in self._sole_of:
                touching[self._sole_of[geom]] = True
        record.add(
            time,
            np.array(d.subtree_com[0]),
            d.qpos[self._at],
            d.actuator_force[self._motor],
            d.geom_xpos[self._sole_ids, :2],
            touching,
            d.xmat[self._base].reshape(3, 3)[:, 0] if self._base >= 0 else np.array([1.0, 0.0, 0.0]),
        )

    def _fallen(self, k: int) -> bool:
        if self._base < 0:
            return False
        meant, floor = self.job.base[k], float(self.data.geom_xpos[self._floor, 2])
        w, x, y, z = meant[3:]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])  # world up, seen by the base
        tilt = float(np.arccos(np.clip(self.data.xmat[self._base].reshape(3, 3)[2] @ up, -1.0, 1.0)))
        return tilt > TILTED or float(self.data.subtree_com[0, 2]) - floor < SUNK * (self.job.height[k] - floor)

    def _judged(self, record: _Record, fell: float | None, length: float) -> dict[str, Any]:
        job = self.job
        times = np.array(record.times)
        forces = np.abs(np.array(record.forces)).reshape(len(times), -1)
        limits = np.where(np.isfinite(job.effort), job.effort, np.inf)
        started = times >= 0.0
        share = forces[started] / limits if started.any() else forces[:0] / limits
        result: dict[str, Any] = {
            "falls_at": fell,
            "seconds": length,
            "torque_share": share.max(axis=0, initial=0.0).tolist(),
            "heat_share": (share**2).mean(axis=0).tolist() if len(share) else [0.0] * len(limits),
        }
        if self._base >= 0 and len(times) > 2:
            result |= self._balance(record, times, fell)
        return result

    def _balance(self, record: _Record, times: np.ndarray, fell: float | None) -> dict[str, Any]:
        """Find the smallest margin of balance, and where a fall began.

        That is when the point in which the robot could still stop, the extrapolated centre of mass, left the support
        for good.
        """
        com = np.array(record.com)
        height = np.maximum(com[:, 2] - float(self.data.geom_xpos[self._floor, 2]), 1e-3)
        speed = np.gradient(com[:, :2], times, axis=0)
        point = com[:, :2] + speed * np.sqrt(height / 9.81)[:, None]
        margin = np.full(len(times), np.nan)
        for k in range(0, len(times), LOOK):
            if record.touching[k].any():
                margin[k] = signed_distance(point[k : k + 1], convex_hull(record.soles[k][record.touching[k]]))[0]
        started = np.flatnonzero((times >= 0.0) & np.isfinite(margin))
        if not len(started):
            return {}
        worst = int(started[np.argmin(margin[started])])
        result: dict[str, Any] = {"margin": float(margin[worst]), "margin_at": float(times[worst])}
        if fell is None:
            return result
        inside = np.flatnonzero(margin >= 0.0)
        onset = int(min(inside[-1] + 1, len(times) - 1)) if len(inside) else 0
        return result | self._cause(record, onset, point[onset], float(times[onset]))

    def _cause(self, record: _Record, onset: int, point: np.ndarray, time: float) -> dict[str, Any]:
        """Say over which foot's which side the weight left, and which motor gave way most."""
        soles, touching = record.soles[onset], record.touching[onset]
        near = np.flatnonzero(touching) if touching.any() else np.arange(len(soles))
        closest = int(near[np.argmin(np.linalg.norm(soles[near] - point, axis=1))])
        foot = self._foot_of[closest]
        own = np.array([name == foot for name in self._foot_of])
        centre = soles[own].mean(axis=0)
        forward = record.forward[onset][:2] / max(np.linalg.norm(record.forward[onset][:2]), 1e-9)
        side = np.array([-forward[1], forward[0]])
        others = soles[~own].mean(axis=0) if (~own).any() else centre - side
        outward = side if (centre - others) @ side >= 0 else -side
        hull = soles[own & touching] if (own & touching).any() else soles[own]
        away = point - hull.mean(axis=0)
        length, width = (max(float(np.ptp(hull @ axis)), 1e-3) for axis in (forward, outward))
        ahead, out = float(away @ forward) / length, float(away @ outward) / width
        if abs(ahead) > abs(out):
            way = "forwards" if ahead > 0 else "backwards"
        else:
            way = "outwards" if out > 0 else "inwards"
        gave = np.array(record.values[onset]) - self.job.values[self._index(time)]
        motor = int(np.argmax(np.abs(gave))) if len(gave) else -1
        return {
            "onset": time,
            "foot": foot,
            "way": way,
            "motor": self.job.actuators[motor] if motor >= 0 else "",
            "gave": float(gave[motor]) if motor >= 0 else 0.0,
        }


class _Record:
    """Record of a simulation, chunk by chunk."""

    def __init__(self, actuators: int) -> None:
        self.times: list[float] = []
        self.com: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.forces: list[np.ndarray] = []
        self.soles: list[np.ndarray] = []
        self.touching: list[np.ndarray] = []
        self.forward: list[np.ndarray] = []
        self._ghost: list[tuple[float, np.ndarray, np.ndarray]] = []

    def add(self, time: float, com: np.ndarray, *rest: np.ndarray) -> None:
        """Keep one chunk's end."""
        self.times.append(time)
        self.com.append(com)
        lists = (self.values, self.forces, self.soles, self.touching, self.forward)
        for kept, value in zip(lists, rest, strict=True):
            kept.append(np.array(value))

    def keep(self, time: float, data: Any) -> None:
        """Keep the bodies' poses."""
        self._ghost.append((time, data.xpos[1:].copy(), data.xquat[1:].copy()))

    def ghost(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return times (K,), positions (K, n, 3) and quaternions (K, n, 4)."""
        times, position, quaternion = zip(*self._ghost, strict=True) if self._ghost else ((), (), ())
        return np.array(times), np.array(position), np.array(quaternion)
