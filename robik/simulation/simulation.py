"""Simulation of a job in MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, cos, floor, radians, sin
from typing import Any

import mujoco
import numpy as np

from ..tilt_feedback import TiltPlan
from .sensing import Sensing
from .trials import SETTLE, Trial

CHUNK = 5  # ms of simulation between two looks at goals and balance
BRAKED = 1.0  # share of its speed that a motor's damping may take in a step; explicit steps grow from 2 on
MOST_STEPS = 4  # in a millisecond
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
        goals: what the motors are told (N, A); with L rows more, these come before the motion begins.
        values: (N, A) the motion that is meant.
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


@dataclass(frozen=True)
class Outcome:
    """Outcome of a trial.

    Attributes:
        falls_at: when the robot has fallen, in the motion's time [s]; None if it stands.
        broken: whether the simulation left the numbers.
        record: what the robot did, if it was to be kept, by the names of the fields of `robik.physics.falling.Record`.
    """

    falls_at: float | None
    broken: bool
    record: dict[str, Any]


class Simulation:
    """A model, and what it is before trials change it.

    Attributes:
        motor: MuJoCo's indices (A,) of the actuators' motors; `at` and `rate_at` of their positions and speeds.
        base: its index of the body that floats; −1 for none.
        braking: the rate at which the motors' damping brakes their fastest way to move [1/s].
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.model = mujoco.MjModel.from_xml_string(job.text)
        self.data = mujoco.MjData(self.model)
        m = self.model
        self._own = {
            name: np.array(getattr(m, name))
            for name in ("body_mass", "body_inertia", "actuator_gainprm", "actuator_biasprm", "geom_friction")
        }
        self.motor = np.array([m.actuator(name).id for name in job.actuators], dtype=int)
        joints = [m.joint(name) for name in job.actuators]
        self.at = np.array([int(joint.qposadr[0]) for joint in joints], dtype=int)
        self.rate_at = np.array([int(joint.dofadr[0]) for joint in joints], dtype=int)
        self._floor = m.geom(FLOOR).id
        soles = [(foot, k) for k in range(m.ngeom) for foot in job.feet if m.geom(k).name.startswith(f"{foot} sole ")]
        self._sole_of = {k: index for index, (_, k) in enumerate(soles)}
        self._sole_ids = np.array([k for _, k in soles], dtype=int)
        self._foot_of = np.array([job.feet.index(foot) for foot, _ in soles], dtype=int)
        self.base = m.body(job.body).id if job.body else -1
        self._chunk = CHUNK * self._choose_integrator()
        self._rest_up = np.eye(3)

    def _choose_integrator(self) -> int:
        """Set Euler's integrator and its step where that is stable; return how many steps a millisecond takes.

        MuJoCo's implicit one, which the scene names, is always stable, but adds step · damping to the inertia that a
        motor brakes: motors as stiff as legs need feel several times their rotors then, and a robot that falls stands.
        """
        m, d = self.model, self.data
        d.qpos[:] = self.job.start
        mujoco.mj_forward(m, d)
        response = np.zeros((m.nv, m.nv))
        mujoco.mj_solveM(m, d, response, np.eye(m.nv))
        braked = response[np.ix_(self.rate_at, self.rate_at)] * -m.actuator_biasprm[self.motor, 2]
        self.braking = float(np.abs(np.linalg.eigvals(braked)).max(initial=0.0))
        steps = ceil(m.opt.timestep * self.braking / BRAKED)
        if steps > MOST_STEPS:
            return 1
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        m.opt.timestep /= max(steps, 1)
        return max(steps, 1)

    def run(self, trial: Trial, progress: Callable[[float], None], keep: bool = False) -> Outcome:
        """Simulate a trial and return its outcome, with the robot's record if `keep` asks for it.

        `progress` is called with the share that is done.
        """
        self.begin(trial)
        job, m, d, step = self.job, self.model, self.data, self.step
        length = (len(job.values) - 1) / job.rate
        record = Recorder() if keep else None
        delay, fell = trial.delay + job.delay, None
        righted = Sensing(job.tilt, job.rate, delay, self.base) if job.tilt is not None else None
        for k in range(int((SETTLE + length) / step) + 1):
            time = k * step - SETTLE
            told = self.goals_at(time - delay) + (righted.step(time, m, d) if righted else 0.0)
            if not self.advance(told, trial.torque):
                return Outcome(falls_at=None, broken=True, record={})
            if record is not None:
                self.note(record, time + step)
            if self.fallen(self.index(time + step)):
                fell = time + step
                break
            if k % 40 == 0:
                progress(max(0.0, time) / max(length, step))
        return Outcome(falls_at=fell, broken=False, record={} if record is None else self.recorded(record))

    def begin(self, trial: Trial) -> None:
        """Put the robot at rest at its start, as a trial has it."""
        self._change(trial)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.job.start
        self.data.ctrl[self.motor] = self.job.goals[0]
        mujoco.mj_forward(self.model, self.data)

    def advance(self, goals: np.ndarray, torque: float = 1.0) -> bool:
        """Simulate a step with the motors' goals (A,), and `torque` times what they can; return whether it worked."""
        self.data.ctrl[self.motor] = goals
        self._saturate(torque)
        mujoco.mj_step(self.model, self.data, self._chunk)
        broken = self.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number
        return bool(np.isfinite(self.data.qpos).all()) and not broken

    @property
    def bodies(self) -> list[str]:
        """The bodies' names."""
        return [self.model.body(k).name for k in range(1, self.model.nbody)]

    @property
    def step(self) -> float:
        """The time between two looks at goals and balance [s]."""
        return float(self._chunk * self.model.opt.timestep)

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

    def index(self, time: float) -> int:
        """Return the row of the motion that is meant at a time [s]."""
        return min(max(int(time * self.job.rate + 1e-6), 0), len(self.job.values) - 1)

    def goals_at(self, time: float) -> np.ndarray:
        """Return the goals (A,) that are sent at a time [s]."""
        goals = self.job.goals
        row = floor(time * self.job.rate + 1e-6) + len(goals) - len(self.job.values)
        return goals[min(max(row, 0), len(goals) - 1)]

    def _saturate(self, factor: float) -> None:
        """Lower what the motors can by their speed: a line from stall torque to the speed without load."""
        job, m = self.job, self.model
        share = np.clip(1.0 - np.abs(self.data.qvel[self.rate_at]) / job.speed, 0.0, 1.0)
        most = np.where(np.isfinite(job.effort), factor * job.effort * share, 0.0)
        m.actuator_forcerange[self.motor, 0], m.actuator_forcerange[self.motor, 1] = -most, most

    def note(self, record: Recorder, time: float) -> None:
        """Add what the robot does now to a record."""
        d = self.data
        touching = np.zeros(len(self._sole_ids), bool)
        for geom in np.array(d.contact.geom).ravel().tolist():
            if geom in self._sole_of:
                touching[self._sole_of[geom]] = True
        record.add(
            times=time,
            com=d.subtree_com[0],
            values=d.qpos[self.at],
            forces=d.actuator_force[self.motor],
            soles=d.geom_xpos[self._sole_ids, :2],
            touching=touching,
            forward=d.xmat[self.base].reshape(3, 3)[:, 0] if self.base >= 0 else np.array([1.0, 0.0, 0.0]),
            position=d.xpos[1:],
            quaternion=d.xquat[1:],
        )

    def recorded(self, record: Recorder) -> dict[str, Any]:
        """Return a record's arrays, with what is the same at all its times."""
        return record.arrays() | {"foot_of": self._foot_of, "floor": self.floor_height()}

    def floor_height(self) -> float:
        """Return the floor's height [m]."""
        return float(self.data.geom_xpos[self._floor, 2])

    def fallen(self, k: int) -> bool:
        """Return whether the robot has fallen, against a row of the motion that is meant."""
        if self.base < 0:
            return False
        meant, ground = self.job.base[k], self.floor_height()
        w, x, y, z = meant[3:]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])  # world up, seen by the base
        tilt = float(np.arccos(np.clip(self.data.xmat[self.base].reshape(3, 3)[2] @ up, -1.0, 1.0)))
        return tilt > TILTED or float(self.data.subtree_com[0, 2]) - ground < SUNK * (self.job.height[k] - ground)


class Recorder:
    """Record of a simulation, chunk by chunk."""

    def __init__(self) -> None:
        self._lists: dict[str, list[np.ndarray]] = {}

    def add(self, **values: Any) -> None:
        """Keep one chunk's end."""
        for name, value in values.items():
            self._lists.setdefault(name, []).append(np.array(value))

    def cut(self, count: int) -> None:
        """Forget all but the first chunks."""
        for values in self._lists.values():
            del values[count:]

    def arrays(self) -> dict[str, Any]:
        """Return an array per name, the chunks along its first axis."""
        return {name: np.array(listed) for name, listed in self._lists.items()}
