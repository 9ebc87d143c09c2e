"""Slowest frames: every robot, after targets that are easy, far, turned over, out of reach, or anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time_ns

import numpy as np
from scipy.spatial.transform import Rotation

from experiments.experiment import Experiment, Found, tell
from robik import robots
from robik.errors import RobikError
from robik.ik.memory import Output
from robik.ik.solver import Solver
from robik.ik.sqp import CONVERGED
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.mechanism import WORLD, Mechanism
from robik.objectives.look_at import LookAt
from robik.objectives.settings import Settings

FOLDER = Path(__file__).parents[3] / "shared" / "data"
FILES = (".urdf", ".xml", ".sdf", ".usda")
KINDS = ("easy", "far", "turned over", "out of reach", "anywhere")
ENDS = 4  # bodies at the tips that are followed, and a floating root
WALK, STEP = 25, 0.5  # steps of a walk through the poses, and how far [rad, or of half the robot's size]
MET = 1 / 500  # of the robot's size
REPEATS = 3  # of each clip: the least time of a frame counts, since others use the machine, too
BALANCED = Settings(com_weight=(10.0, 10.0, 0.0), state_weight=None)


@dataclass(frozen=True, kw_only=True)
class Slowness:
    """Time that a robot's frames took.

    Attributes:
        robot: its name.
        frames: of all clips.
        median, late, longest: milliseconds of the processor per frame at best, `late` the 99th percentile.
        iterations: most of a frame.
        stopped: frames that ended short of an optimum.
        missed, reachable: frames off a target by more than `MET`, of those that the robot can meet.
    """

    robot: str
    frames: int
    median: float
    late: float
    longest: float
    iterations: int
    stopped: int
    missed: int
    reachable: int


@dataclass(frozen=True)
class Asked:
    """Targets (T, t, 3) [m] and (T, t, 4) wxyz of t frames, and whether the robot can meet them (T,)."""

    position: np.ndarray
    quaternion: np.ndarray
    reachable: np.ndarray


def all_robots(folder: Path) -> Iterator[tuple[str, Mechanism]]:
    """Yield the robots that ship, and those of a folder that can be read, each with its name."""
    for name in robots.names():
        yield name, robots.load(name)
    for path in sorted(folder.rglob("*")):
        if path.suffix in FILES and path.name not in ("package.xml", "scene.xml"):
            try:
                robot = robots.load(path)
            except RobikError as error:
                tell(f"slow-frames: {path.name} is left out: {error}")
                continue
            if robot.actuators:
                yield path.parent.name if path.stem in ("robot", "model") else path.stem, robot


def followed(robot: Mechanism) -> tuple[str, ...]:
    """Return the bodies at some tips of a robot, after its root if it floats."""
    parents = {joint.parent for joint in robot.joints}
    tips = [body.name for body in robot.bodies if body.name not in parents] or [robot.bodies[-1].name]
    chosen = [tips[k] for k in np.linspace(0, len(tips) - 1, min(ENDS, len(tips))).astype(int)]
    floats = WORLD not in parents
    return tuple(dict.fromkeys([robot.bodies[0].name, *chosen] if floats else chosen))


class Poses:
    """Assembled poses of a robot within its motors' limits, found by walks.

    `names` are the bodies whose places are told. After `seconds` of processor time the robot stays where it is.
    """

    def __init__(self, robot: Mechanism, names: tuple[str, ...], seconds: float):
        self.robot, self.names, self.fk, self.left = robot, names, ForwardKinematics(robot), 1e9 * seconds
        bounds = [limit for joint in robot.actuated for limit in joint.limits]
        self.lower, self.upper = np.array(bounds).reshape(-1, 2).T
        units = [unit for joint in robot.actuated for unit in joint.coordinate_units]
        self.step = np.array([STEP * (0.5 * robot.extent if unit == "m" else 1.0) for unit in units])
        self.rest = np.array([value for joint in robot.actuated for value in joint.rest])

    def walk(self, rng: np.random.Generator, share: float = 1.0, steps: int = WALK) -> Iterator[np.ndarray]:
        """Yield the motors' values (A,) at each step of a walk from the rest pose, by a `share` of the usual steps."""
        self.fk.reset()
        values, way = self.rest, rng.uniform(-1.0, 1.0, len(self.rest))
        for _ in range(steps):
            began = process_time_ns()
            way = rng.uniform(-1.0, 1.0, len(self.rest)) if share == 1.0 else way
            there = np.clip(values + share * self.step * way, self.lower, self.upper)
            if self.left <= 0.0:
                pass
            elif self.fk.solve(there).assembled:
                values = there
            else:
                self.fk.reset()
                self.fk.solve(values)
                way = -way
            self.left -= process_time_ns() - began
            yield values

    def frames(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (t, 3) and quaternions (t, 4) of the followed bodies."""
        found = self.fk.solve(values)
        poses = [frame_poses(self.robot, n, found.position[None], found.quaternion[None]) for n in self.names]
        turns = Rotation.from_matrix(np.array([R[0] for _, R in poses])).as_quat()[:, [3, 0, 1, 2]]
        return np.array([x[0] for x, _ in poses]), turns


def asked_for(kind: str, poses: Poses, rng: np.random.Generator, frames: int) -> Asked:
    """Return targets of one of the `KINDS`."""
    rows: list[tuple[np.ndarray, np.ndarray, bool]] = []
    if kind == "easy":
        rows = [(*poses.frames(values), False) for values in poses.walk(rng, 0.02, frames)]
    size = poses.robot.extent
    while len(rows) < frames:
        place, turn = poses.frames(list(poses.walk(rng))[-1])
        way, axis = _units(rng, len(place)), _units(rng, len(place))
        if kind == "far":
            rows += [(place, turn, True)] * 2
        elif kind == "turned over":
            rows += [(place, _turned(np.pi * axis, turn), False), (place, turn, True)]
        elif kind == "out of reach":
            shares = size * rng.uniform(0.3, 2.0) * np.array([0.3, 0.7, 1.0, 0.5])
            rows += [(place + s * way, _turned(s / size * axis, turn), False) for s in shares] + [(place, turn, True)]
        else:
            away = place.mean(axis=0) + way * size * rng.uniform(0.0, 1.5, (len(place), 1))
            rows.append((away, Rotation.random(len(place), random_state=rng).as_quat(), False))
    position, quaternion, reachable = zip(*rows[:frames], strict=True)
    return Asked(np.array(position), np.array(quaternion), np.array(reachable))


def _units(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return random directions (count, 3)."""
    ways = rng.normal(size=(count, 3))
    return ways / np.linalg.norm(ways, axis=1)[:, None]


def _turned(turn: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions (t, 4) wxyz turned by rotation vectors (t, 3) in the world."""
    whole = Rotation.from_rotvec(turn) * Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    return whole.as_quat()[:, [3, 0, 1, 2]]


def slowness(name: str, robot: Mechanism, frames: int, seed: int, seconds: float) -> Slowness:
    """Measure a robot: each kind of targets as poses, as positions, and as poses with balance; and looks alone."""
    names = followed(robot)
    poses = Poses(robot, names, seconds)
    took, iterations, stopped, missed, reachable = [], [], 0, 0, 0
    for kind in KINDS:
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        asked = asked_for(kind, poses, rng, frames)
        com = asked.position.mean(axis=1) + 0.05 * robot.extent * rng.normal(size=(frames, 3))
        ways = ["pose", "position", *(["balance"] if robot.mass > 0 else []), *(["look"] if kind == KINDS[-1] else [])]
        for way in ways:
            ms, found, off = _solved(robot, names, asked, way, com)
            took.append(ms)
            iterations.append(found.iterations)
            stopped += int((found.status != CONVERGED).sum())
            if way in ("pose", "position"):
                reachable += int(asked.reachable.sum())
                missed += int((off[asked.reachable] > MET * robot.extent).sum())
    ms = np.concatenate(took)
    return Slowness(
        robot=name, frames=len(ms), median=float(np.median(ms)), late=float(np.percentile(ms, 99)),
        longest=float(ms.max()), iterations=int(np.concatenate(iterations).max()), stopped=stopped, missed=missed,
        reachable=reachable,
    )  # fmt: skip


def _solved(
    robot: Mechanism, names: tuple[str, ...], asked: Asked, way: str, com: np.ndarray
) -> tuple[np.ndarray, Output, np.ndarray]:
    """Return milliseconds of each frame (T,), the solver's output, and how far targets are missed at most (T,) [m]."""
    frames = len(asked.position)
    looks = (LookAt(names[-1], asked.position[:, -1]).checked(frames),) if way == "look" else ()
    solver = Solver(robot, () if looks else names, BALANCED, way == "balance", looks)
    turns = [None if way == "position" else asked.quaternion[:, i] for i in range(len(names))]
    targets = {} if looks else {n: (asked.position[:, i], turns[i]) for i, n in enumerate(names)}
    wanted = solver.compile_targets(targets, com if way == "balance" else None, np.arange(frames) / 60)
    output, ms = solver.room(frames), np.full(frames, np.inf)
    solver.solve(output, 0, 1, wanted)  # compiled
    for _ in range(REPEATS):
        solver.reset()
        for k in range(frames):
            began = process_time_ns()
            solver.solve(output, k, k + 1, wanted)
            ms[k] = min(ms[k], 1e-6 * (process_time_ns() - began))
    places = np.stack([_place(solver, n, output) for n in names], axis=1)
    return ms, output, np.linalg.norm(places - asked.position, axis=2).max(axis=1)


def _place(solver: Solver, name: str, output: Output) -> np.ndarray:
    """Return where a body's own frame is (T, 3) [m]."""
    topology = solver.topology
    b = topology.body_at[name]
    body = solver.mechanism.bodies[topology.order[b - 1]]
    R = Rotation.from_quat(output.quaternion[:, b - 1][:, [1, 2, 3, 0]])
    return output.position[:, b - 1] + R.apply(np.array(body.pose.position) - topology.rest_com[b])


def run(frames: int, seed: int, folder: str, seconds: float) -> Found:
    """Measure every robot."""
    found = []
    for name, robot in all_robots(Path(folder)):
        tell(f"slow-frames: {name}")
        found.append(asdict(slowness(name, robot, frames, seed, seconds)))
    return {"slow_frames": found}


def show(found: Found) -> None:
    """Print a line per robot."""
    print(f"\n{'robot':36}{'median':>9}{'99 %':>9}{'most ms':>9}{'iterations':>11}{'stopped':>8}{'missed':>10}")
    for row in found["slow_frames"]:
        print(
            f"{row['robot']:36}{row['median']:9.3f}{row['late']:9.2f}{row['longest']:9.2f}{row['iterations']:11d}"
            f"{row['stopped']:8d}{row['missed']:5d}/{row['reachable']:4d}"
        )


EXPERIMENT = Experiment(
    run=run, show=show,
    parameters={"frames": (20, 100), "seed": (1, 1), "folder": (str(FOLDER), str(FOLDER)), "seconds": (3.0, 600.0)},
)  # fmt: skip
