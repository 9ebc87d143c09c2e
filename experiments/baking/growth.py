"""Time per frame by the size of the robot.

Chains and many-legged crawlers of 10 to 300 bodies, none to 48 loops; and rows of cranks of 50 to 450 bodies, whose
loops all share links.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from scipy.spatial.transform import Rotation

from experiments.experiment import Experiment, Found, tell
from robik.bench.clips import samples
from robik.clips.clip import TargetClip, Track
from robik.kinematics.forward import body_poses
from robik.kinematics.frames import frame_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.orientations import quaternions
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget

CHAINS = (10, 20, 50, 100, 200, 300)  # bodies
CRAWLERS = (1, 2, 4, 8, 16, 24)  # segments, of 12 bodies and 2 loops each
ROWS = (50, 150, 450)  # bodies of rows of cranks
FPS, FRAMES, REPEATS = 120.0, 120, 3
SWING = 0.12  # of each motor [rad]
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Growth:
    """Measurements of a family of robots.

    Bodies, loops and milliseconds per frame of each size, and the exponent e of ms ∝ bodiesᵉ.
    """

    family: str
    bodies: tuple[int, ...]
    loops: tuple[int, ...]
    milliseconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope of log ms over log bodies, by least squares."""
        return float(np.polyfit(np.log(self.bodies), np.log(self.milliseconds), 1)[0])

    def as_data(self) -> dict:
        """Return plain data, as `--json` prints it."""
        return {
            "family": self.family, "bodies": self.bodies, "loops": self.loops, "ms_per_frame": self.milliseconds,
            "exponent": self.exponent,
        }  # fmt: skip


def growth(
    chains: tuple[int, ...] = CHAINS, crawlers: tuple[int, ...] = CRAWLERS, rows: tuple[int, ...] = ROWS
) -> tuple[Growth, ...]:
    """Measure all families, the best median of a few runs each."""
    return (
        _measured("chain", [chain(n) for n in chains]),
        _measured("crawler", [crawler(n) for n in crawlers]),
        _measured("row of four-bars", [row_of_cranks(n // 2, 1) for n in rows]),
        _measured("row of five-bars", [row_of_cranks(n // 3, 2) for n in rows]),
    )


def _measured(family: str, robots: list[Mechanism]) -> Growth:
    times = []
    for robot in robots:
        tell(f"growth: {robot.name}")
        clip, settings = followed(robot)
        reports = [
            motion.report for motion in (retarget(robot, clip, settings) for _ in range(REPEATS)) if motion.report
        ]
        times.append(min(float(np.median(report.milliseconds)) for report in reports))
    return Growth(
        family,
        tuple(len(robot.bodies) for robot in robots),
        tuple(inspect(robot).loops for robot in robots),
        tuple(times),
    )


def chain(bodies: int) -> Mechanism:
    """Return a tentacle one metre long on the ground: hinges across it by turns, all driven, a tip to be led."""
    length = 1.0 / bodies
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    names = [f"link_{k}" for k in range(bodies)]
    links = [_rod(name, np.array([0.0, 0.0, k * length]), np.array([0.0, 0.0, length])) for k, name in enumerate(names)]
    joints = [
        Joint(
            f"hinge_{k}",
            "revolute",
            WORLD if k == 0 else names[k - 1],
            names[k],
            position=(0.0, 0.0, k * length),
            axis=axes[k % 2],
            actuated=True,
        )
        for k in range(bodies)
    ]
    return Mechanism(
        f"chain of {bodies}", tuple(links), tuple(joints), frames=(Frame("tip", names[-1], Pose((0.0, 0.0, length))),)
    )


def crawler(segments: int) -> Mechanism:
    """Return a millipede that floats.

    Its segments are hinged to one another, with two legs on each, and in each leg a loop of five bars.
    """
    bodies: list[Body] = []
    joints: list[Joint] = []
    frames: list[Frame] = []
    for k in range(segments):
        name, at = f"segment_{k}", np.array([-0.2 * k, 0.0, 0.2])
        bodies.append(_rod(name, at, np.array([-0.2, 0.0, 0.0])))
        frames.append(Frame(f"back_{k}", name))
        if k > 0:
            joints.append(
                Joint(
                    f"spine_{k}",
                    "revolute",
                    f"segment_{k - 1}",
                    name,
                    position=tuple(at),
                    axis=(0.0, 0.0, 1.0),
                    actuated=True,
                )
            )
        for side, sign in (("l", 1.0), ("r", -1.0)):
            _add_leg(f"{side}_{k}", name, at + np.array([-0.1, 0.08 * sign, 0.0]), sign, bodies, joints, frames)
    return Mechanism(f"crawler of {segments}", tuple(bodies), tuple(joints), frames=tuple(frames))


def _add_leg(
    name: str, segment: str, hip: np.ndarray, sign: float, bodies: list[Body], joints: list[Joint], frames: list[Frame]
) -> None:
    """Add a hip that yaws, and below it a five-bar.

    Of the two rods on the driven cranks the inner one goes on to the foot.
    """
    out = np.array([0.0, sign, 0.0])
    across = (1.0, 0.0, 0.0)
    upper, lower = hip + 0.02 * out, hip + 0.02 * out - 0.04 * UP
    knee, elbow, pin = upper + 0.10 * out, lower + 0.07 * out, lower + 0.11 * out - 0.06 * UP
    foot = pin + 0.06 * out - 0.10 * UP
    for part, start, end in (
        ("hip", hip, upper), ("thigh", upper, knee), ("crank", lower, elbow), ("rod", elbow, pin),
        ("shank", knee, foot),
    ):  # fmt: skip
        bodies.append(_rod(f"{part}_{name}", start, end - start))
    joints += [
        Joint(
            f"yaw_{name}", "revolute", segment, f"hip_{name}", position=tuple(hip), axis=(0.0, 0.0, 1.0), actuated=True
        ),
        Joint(
            f"lift_{name}",
            "revolute",
            f"hip_{name}",
            f"thigh_{name}",
            position=tuple(upper),
            axis=across,
            actuated=True,
        ),
        Joint(
            f"drive_{name}",
            "revolute",
            f"hip_{name}",
            f"crank_{name}",
            position=tuple(lower),
            axis=across,
            actuated=True,
        ),
        Joint(f"knee_{name}", "revolute", f"thigh_{name}", f"shank_{name}", position=tuple(knee), axis=across),
        Joint(f"elbow_{name}", "revolute", f"crank_{name}", f"rod_{name}", position=tuple(elbow), axis=across),
        Joint(f"pin_{name}", "revolute", f"rod_{name}", f"shank_{name}", position=tuple(pin), axis=across),
    ]
    frames.append(Frame(f"foot_{name}", f"shank_{name}", Pose(tuple(foot - knee))))


def row_of_cranks(cranks: int, rods: int) -> Mechanism:
    """Return a row of cranks on the ground, each tied to the next by one rod or by two in a row.

    By one rod they are four-bars that all move with the first crank, which is driven. By two they are five-bars, and
    all cranks are driven. Neighbouring loops share a crank.
    """
    bodies: list[Body] = []
    joints: list[Joint] = []
    pins = [np.array([0.1 * k + 0.01, 0.0, 0.1 + 0.002 * (k % 3)]) for k in range(cranks)]
    across = (0.0, 1.0, 0.0)
    for k, pin in enumerate(pins):
        foot = np.array([0.1 * k, 0.0, 0.0])
        bodies.append(_rod(f"crank_{k}", foot, pin - foot))
        is_driven = k == 0 or rods == 2
        joints.append(
            Joint(f"drive_{k}", "revolute", WORLD, f"crank_{k}", position=tuple(foot), axis=across, actuated=is_driven)
        )
        if k > 0:
            middle = [0.5 * (pins[k - 1] + pin) + 0.03 * UP] if rods == 2 else []
            points = [pins[k - 1], *middle, pin]
            names = [f"crank_{k - 1}", *(f"rod_{k}_{i}" for i in range(rods)), f"crank_{k}"]
            bodies += [_rod(names[i + 1], points[i], points[i + 1] - points[i]) for i in range(rods)]
            joints += [
                Joint(f"pin_{k}_{i}", "revolute", names[i], names[i + 1], position=tuple(points[i]), axis=across)
                for i in range(rods + 1)
            ]
    told = bodies[-1::-8] if rods == 2 else bodies[-1:]
    return Mechanism(
        f"{cranks} cranks on {rods} rods", tuple(bodies), tuple(joints),
        frames=tuple(Frame(f"end_{body.name}", body.name) for body in told),
    )  # fmt: skip


def _rod(name: str, start: np.ndarray, span: np.ndarray) -> Body:
    """Return a thin rod from `start`, of 1 kg a metre."""
    length = float(np.linalg.norm(span))
    inertia = length**3 / 12 * (np.eye(3) - np.outer(span, span) / length**2)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return Body(name, length, com=tuple(0.5 * span), inertia=tuple(inertia), pose=Pose(tuple(start)))


def followed(robot: Mechanism) -> tuple[TargetClip, Settings]:
    """Return all the robot's frames where forward kinematics puts them while every motor swings.

    The orientation of a chain's tip as well.
    """
    times = samples(FPS, FRAMES / FPS)
    phases = np.arange(len(robot.actuators))
    values = SWING * np.sin(2 * pi * times[:, None] + 0.7 * phases) * np.minimum(1.0, times / 0.2)[:, None]
    position, quaternion, _ = body_poses(robot, values)
    tracks = {}
    for frame in robot.frames:
        x, R = frame_poses(robot, frame.name, position, quaternion)
        tracks[frame.name] = Track(x, quaternions(Rotation.from_matrix(R)) if frame.name == "tip" else None)
    return TargetClip(times, tracks), Settings(targets={name: Weights() for name in tracks}, state_weight=1e-4)


def run() -> Found:
    """Measure all families at all sizes."""
    return {"growth": [family.as_data() for family in growth()]}


def show(found: Found) -> None:
    """Print a line per size."""
    for family in found["growth"]:
        print(
            f"\n{family['family']}s, {FPS:g} frames/s: milliseconds grow as bodies to the power of"
            f" {family['exponent']:.2f}"
        )
        for bodies, loops, ms in zip(family["bodies"], family["loops"], family["ms_per_frame"], strict=True):
            print(f"{bodies:8} bodies {loops:4} loops {ms:12.4f} ms/frame")


EXPERIMENT = Experiment(run=run, show=show)
