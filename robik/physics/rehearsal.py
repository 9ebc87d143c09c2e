"""Rehearsal: from a motion that falls in physics one that stands, near it, with the goals that make it.

A planner in the process of MuJoCo looks ahead from knot to knot and changes the goals of the legs
(`robik/simulation/planner.py`); the plant is the verdict's. What comes out is a motion that physics can do. Its goals
answer to where the robot is: sent again without looking they hold on this very plant and seldom on another, which
their replay in disturbed trials shows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..dynamics.drives import Drive
from ..errors import MechanismError
from ..extras import missing
from ..formats.export_tree import Branch
from ..mechanism import Mechanism
from ..motions import BaseTrack, Motion
from ..motions.motion import Rates
from ..simulation import JOB, REHEARSED, STOP
from ..simulation.trials import NOMINAL, SETTLE, Trial, draws
from ..steps import finish, relay
from ..straight import straight
from .falling import Record
from .likeness import Likeness, likeness_of
from .plan import RATE, Plan, planned
from .process import record_of, save_job, simulate, watched
from .verdict import Verdict, judged

REPLAYS = 10  # disturbed trials of the goals without the planner
HEAVIER = Trial(mass=1.01, name="1 % more mass")  # about as well as the weight of a robot is known
YIELD = 0.07  # [rad] that goals are changed by, about, where motors give all they have at no less
LEVER = 0.1  # of the height of the centre of mass: of a motor that pushes, which is changed by as much at its end


@dataclass(frozen=True, kw_only=True, eq=False)
class Rehearsal:
    """Outcome of a rehearsal.

    Attributes:
        motion: the motion that physics made, with its rates, from the original's first time on.
        goals: what the motors were told, from half a second before, in which the robot stands in the first pose.
        contact: by foot frame, when it touches the floor (T,).
        torque: (T, A) of the motors [N m or N].
        verdict: of the robot with the planner looking.
        replay: of the same goals without looking, undisturbed and in disturbed trials; None unless the robot stands.
        likeness: what standing cost.
        until: the motion's time up to which it was rehearsed [s].
        is_whole: whether that is the end.
        seconds: of CPU that it took, the replay left out.
    """

    motion: Motion
    goals: Motion
    contact: Mapping[str, np.ndarray]
    torque: np.ndarray
    verdict: Verdict
    replay: Verdict | None
    likeness: Likeness
    until: float
    is_whole: bool
    seconds: float

    @property
    def stands(self) -> bool:
        """Return whether it stands to the end."""
        return self.is_whole and self.verdict.stands

    def as_data(self) -> dict[str, Any]:
        """Return plain data, as `robik rehearse --json` prints it."""
        verdict, replay = self.verdict, self.replay
        return {
            "stands": self.stands,
            "falls_at_s": verdict.falls_at_s,
            "cause": verdict.cause,
            "until_s": self.until,
            "likeness": self.likeness.as_data(),
            "replay": None
            if replay is None
            else {"stands": replay.stands, **replay.disturbances, "stands_share": replay.stands_share},
            "torque_share": dict(verdict.torque_share),
            "gains_raised": verdict.as_data()["gains_raised"],
            "cpu_s": self.seconds,
        }

    def lines(self) -> list[str]:
        """Return it in words."""
        verdict = self.verdict
        if not verdict.stands:
            lost = f"no goals were found that keep it up: {verdict.sentence()} ({verdict.falls_at_s:.2f} s)"
            return [lost, *verdict.told_of_gains(), *verdict.warnings()]
        said = [
            f"stands to the end, rehearsed ({verdict.seconds:.1f} s)"
            if self.is_whole
            else f"stopped at {self.until:.2f} of {verdict.seconds:.1f} s; it stands until then",
            *verdict.told_of_gains(),
            *self.likeness.lines(),
        ]
        return said if self.replay is None else [*said, _told_of_replay(self.replay)]


def rehearse(
    mechanism: Mechanism,
    motion: Motion,
    drives: Mapping[str, Drive] | None = None,
    *,
    delay: float = 0.0,
    seed: int = 1,
    tell: Callable[[float], object] | None = None,
    stop: Callable[[], bool] = lambda: False,
    source: str = "the motion",
) -> Rehearsal:
    """Rehearse a motion of a robot on its feet until it stands in physics; return it whether the robot stands or not.

    Drives are by actuator, from the robot's own limits if left out; goals reach them `delay` [s] late. The same seed
    gives the same rehearsal. `tell` is called with the motion's time up to which the robot stands [s]; `stop` is asked
    at each knot whether to end there, and keep what there is.

    Raise MechanismError for a robot that physics cannot move or that does not stand on feet, ClipError for a motion
    without an actuator or its base, PhysicsError where the process ended early, MissingExtraError without MuJoCo.
    """
    return finish(rehearsal_steps(mechanism, motion, drives, delay=delay, seed=seed, stop=stop, source=source), tell)


def rehearsal_steps(
    mechanism: Mechanism,
    motion: Motion,
    drives: Mapping[str, Drive] | None = None,
    *,
    delay: float = 0.0,
    seed: int = 1,
    stop: Callable[[], bool] = lambda: False,
    source: str = "the motion",
) -> Generator[float, None, Rehearsal]:
    """Rehearse as `rehearse` does, and yield the motion's time up to which the robot stands [s].

    A generator that is closed ends the process.
    """
    if find_spec("mujoco") is None:
        raise missing("physics")
    plan = planned(mechanism, motion, drives, carry=True, delay=delay, source=source)
    if not plan.standing:
        raise MechanismError(f"robot {mechanism.name!r} does not stand on feet, so there is nothing to rehearse")
    plan = replace(plan, goals=np.concatenate([np.repeat(plan.goals[:1], round(SETTLE * RATE), axis=0), plan.goals]))
    begin, seconds = float(plan.reference.times[0]), float(np.ptp(plan.reference.times))
    with tempfile.TemporaryDirectory(prefix="robik-rehearsal-") as folder:
        path = Path(folder) / JOB
        ends = _ends(plan)
        save_job(plan, (), path, task=_task(plan, ends, seed), around=_sensors(tuple(ends)))

        def tell(share: float) -> float:
            if stop():
                path.with_name(STOP).touch()
            return begin + share * seconds

        (found,), bodies = yield from relay(watched(path, 1), tell)
        record = record_of(path)
        with np.load(path.with_name(REHEARSED), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file}
    return _rehearsal(plan, found, bodies, record, arrays, ends)


def _task(plan: Plan, ends: Mapping[str, np.ndarray], seed: int) -> dict[str, Any]:
    """Return the task of the process: which motors may change, by how much, and where limbs' ends shall be."""
    units = dict(zip(plan.mechanism.actuators, plan.mechanism.actuator_units, strict=True))
    lever = LEVER * float(plan.heights[0] - plan.stage.height)
    most = [YIELD * (1.0 if units[name] == "rad" else lever) for name in plan.leg_motors]
    drives = [plan.drives[name] for name in plan.leg_motors]
    return {
        "motors": plan.leg_motors,
        "spread": np.minimum([drive.effort / drive.stiffness for drive in drives], most),
        "limits": np.array(plan.mechanism.actuator_limits),
        "ends": tuple(ends),
        "at": np.stack([*ends.values()], axis=1),
        "seed": seed,
    }


def _ends(plan: Plan) -> dict[str, np.ndarray]:
    """Return where feet and the last bodies that motors move shall be, (N, 3) by name [m]."""
    motion, index = plan.motion, plan.mechanism.body_index
    assert motion.position is not None
    names = dict.fromkeys([plan.mechanism.frame(foot).body for foot in plan.standing] + _last_moved(plan.branches))
    return {
        name: straight(plan.reference.times, motion.times, motion.position[:, index[name]])
        for name in names
        if name in index
    }


def _last_moved(branches: Sequence[Branch]) -> list[str]:
    """Return the bodies behind a motor's joint behind which no other joint moves."""
    above: dict[str, str] = {}  # by body, the last one up the tree that a joint moves
    bears: set[str] = set()
    for branch in branches:
        parent = above.get(branch.parent, branch.parent)
        above[branch.body.name] = branch.body.name if branch.motions else parent
        if branch.motions:
            bears.add(parent)
    moved = [branch for branch in branches if branch.joint is not None and branch.joint.actuated and branch.motions]
    return [branch.body.name for branch in moved if branch.body.name not in bears]


def _sensors(bodies: tuple[str, ...]) -> str:
    """Return the MJCF of sensors of bodies' places."""
    each = "".join(f'    <framepos objtype="xbody" objname={quoteattr(name)}/>\n' for name in bodies)
    return f"  <sensor>\n{each}  </sensor>\n"


def _rehearsal(
    plan: Plan,
    found: dict[str, Any],
    bodies: tuple[str, ...],
    record: Record,
    arrays: Mapping[str, np.ndarray],
    ends: Mapping[str, np.ndarray],
) -> Rehearsal:
    """Return the rehearsal that a process made."""
    count, begin = len(arrays["goals"]), float(plan.reference.times[0])
    ahead = len(plan.goals) - len(plan.reference.values)  # goals before the motion begins
    rows = np.searchsorted(record.times, (np.arange(max(count - ahead, 1)) - 0.01) / plan.rate)
    rows = np.unique(np.minimum(rows, len(record.times) - 1))
    sent = replace(plan, goals=np.concatenate([arrays["goals"], plan.goals[count:]]))
    verdict, is_whole = judged(sent, [NOMINAL], [found], bodies, record), count == len(plan.goals)
    made = _made(plan, record, rows, arrays)
    places = {name: (record.position[rows, bodies.index(name)], at[: len(rows)]) for name, at in ends.items()}
    return Rehearsal(
        motion=made,
        goals=Motion(
            times=begin + (np.arange(count) - ahead) / plan.rate,
            actuators=plan.mechanism.actuators,
            values=arrays["goals"],
        ),
        contact={
            foot: record.touching[rows][:, record.foot_of == k].any(axis=1) for k, foot in enumerate(plan.standing)
        },
        torque=record.forces[rows],
        verdict=verdict,
        replay=finish(simulate(sent, (HEAVIER, *draws(REPLAYS)))) if is_whole and verdict.stands else None,
        likeness=likeness_of(plan, made, places),
        until=begin + found["until"],
        is_whole=is_whole,
        seconds=found["seconds"],
    )


def _made(plan: Plan, record: Record, rows: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Motion:
    """Return the motion of a record's rows, with the base's pose and all speeds from the same moments."""
    base = arrays["base"][rows]
    return Motion(
        times=float(plan.reference.times[0]) + np.arange(len(rows)) / plan.rate,
        actuators=plan.mechanism.actuators,
        values=record.values[rows],
        base=BaseTrack(body=plan.base_body, position=base[:, :3], quaternion=base[:, 3:]),
        rates=Rates(**{name: arrays[name][rows] for name in ("values", "linear", "angular")}),
    )


def _told_of_replay(replay: Verdict) -> str:
    """Return in words what became of goals that were sent without looking."""
    falls = [name for name, stands in replay.disturbances.items() if not stands]
    stood = round((replay.stands_share or 0.0) * replay.trials)
    return (
        f"its goals sent without looking: {'stands' if replay.stands else 'falls'} on this very robot,"
        f" {'falls' if falls else 'stands'} with {HEAVIER.name}, stands in {stood} of {replay.trials} disturbed trials"
        + ("; they need the planner's feedback" if falls or stood < replay.trials else "")
    )
