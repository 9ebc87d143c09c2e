"""Verdict of a simulation, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..dynamics.drives import STANDING
from ..dynamics.loads import Load, battery_power, motor_loads
from ..simulation.trials import Trial
from ..words import counted
from .falling import Record, cause, least_margin
from .motors import Raised
from .obstacles import obstacles
from .plan import Plan

BURNT = 10.0  # of the heat of a stalled motor, from which it does not matter how much
HOT = 0.05  # of the heat of a stalled motor, from which it is worth a word


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Outcome of a motion in physics.

    Attributes:
        stands: whether the robot stands to the end.
        falls_at_s: when it has fallen, in the motion's time [s]; None if it stands.
        falls_at_sample: which sample of the motion that is; None if it stands.
        cause: why it falls, in words; empty if it stands.
        disturbances: by the name of a single disturbance, whether the robot stands with it.
        stands_share: of the trials with all disturbances at once that stand; None without any.
        trials: how many there were.
        seconds: the motion's length [s].
        margin: the smallest distance of the weight inside the support [m], and when [s]; None without feet.
        zero_moment_inside: share of samples whose zero-moment point is inside the support; None without feet.
        torque_share: largest torque of each actuator in the simulation, of what its motor can at rest.
        heat_share: mean square of that share.
        obstacles: why a robot that falls cannot stand, sentences.
        leg_stiffness: per foot, stiffness of its leg in shares of m g h.
        loads: of each actuator's motor in the motion as it was planned.
        power: from the battery, on average and at most [W]; None where the motors are unknown.
        is_fixed: whether the robot's base is fixed to the world, so that it cannot fall.
        raised: by how much gains were above those of the robot's file; None where they were not.
        stiffer: for a robot that falls on legs with its file's gains: gains that standing needs, and when it falls
            with them [s], None if it stands; None for others.
        bodies: names, and the simulated motion: `times` (K,), `position` (K, n, 3), `quaternion` (K, n, 4).
    """

    stands: bool
    falls_at_s: float | None
    falls_at_sample: int | None
    cause: str
    disturbances: Mapping[str, bool]
    stands_share: float | None
    trials: int
    seconds: float
    margin: tuple[float, float] | None
    zero_moment_inside: float | None
    torque_share: Mapping[str, float]
    heat_share: Mapping[str, float]
    obstacles: tuple[str, ...]
    leg_stiffness: Mapping[str, float]
    loads: Mapping[str, Load]
    power: tuple[float, float] | None
    is_fixed: bool
    bodies: tuple[str, ...]
    times: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    raised: Raised | None = None
    stiffer: tuple[Raised, float | None] | None = None

    def as_data(self) -> dict[str, Any]:
        """Return plain data, as `robik physics --json` prints it."""
        names = (
            "stands", "falls_at_s", "cause", "stands_share", "zero_moment_inside", "torque_share", "heat_share",
            "leg_stiffness", "disturbances", "obstacles",
        )  # fmt: skip
        raised = None if self.raised is None else asdict(self.raised)
        stiffer = None
        if self.stiffer is not None:
            gains, falls = self.stiffer
            stiffer = {**asdict(gains), "stands": falls is None, "falls_at_s": falls}
        return {name: getattr(self, name) for name in names} | {"gains_raised": raised, "with_stiffer_legs": stiffer}

    def sentence(self) -> str:
        """Return the verdict in one sentence."""
        if self.is_fixed:
            return "cannot fall: its base is fixed to the world"
        if self.stands:
            return "stands to the end"
        return f"falls at frame {self.falls_at_sample}: {self.cause}"

    def lines(self) -> list[str]:
        """Return the verdict in words, as `robik physics` prints it."""
        when = f" ({self.seconds:.1f} s)" if self.stands else f" ({self.falls_at_s:.1f} of {self.seconds:.1f} s)"
        found = [self.sentence() + when, *self.told_of_gains()]
        if self.margin is not None and self.stands:
            apart, when_least = 1e3 * self.margin[0], self.margin[1]
            found.append(
                f"the weight stays {apart:.0f} mm inside the feet, least at {when_least:.1f} s"
                if apart >= 0
                else f"the weight swings up to {-apart:.0f} mm past the feet ({when_least:.1f} s), where the next step"
                " catches it: it may not stop there"
            )
        if self.disturbances:
            found.append(_one_by_one(self.disturbances))
        if self.stands_share is not None:
            found.append(f"stands in {round(self.stands_share * self.trials)} of {self.trials} disturbed trials")
        if self.zero_moment_inside is not None:
            found.append(
                f"the zero-moment point is inside the feet in {100 * self.zero_moment_inside:.0f} % of the frames"
            )
        if self.torque_share:
            name, share = max(self.torque_share.items(), key=lambda item: item[1])
            found.append(f"most torque: {name}, {100 * share:.0f} % of what its motor can")
        found += self._loads()
        found += self.warnings()
        return found

    def told_of_gains(self) -> list[str]:
        """Return by how much gains were raised, and what stiffer legs would do, in words."""
        found = [] if self.raised is None else [f"with {self.raised}"]
        if self.stiffer is not None:
            gains, falls = self.stiffer
            found.append(f"with {gains}, it {'stands' if falls is None else f'falls after {falls:.1f} s'}")
        return found

    def _loads(self) -> list[str]:
        """Return what the motors must give, in words."""
        found = []
        if self.power is not None:
            mean, most = self.power
            found.append(f"the motors take {mean:.1f} W from the battery on average, {most:.1f} W at most")
        hot = max(self.loads.items(), key=lambda item: item[1].heat, default=None)
        if hot is not None and hot[1].heat > HOT:
            heat = f"{100 * hot[1].heat:.0f} % of" if hot[1].heat < BURNT else "many times"
            found.append(f"hottest motor: {hot[0]}, {heat} the heat of a stalled one")
        beyond = {name: load.beyond for name, load in self.loads.items() if load.beyond}
        if beyond:
            named = ", ".join(f"{name} in {counted(count, 'frame')}" for name, count in list(beyond.items())[:3])
            found.append(f"beyond what motors can at their speed: {named}")
        return found

    def warnings(self) -> list[str]:
        """Return what the user should know about the robot itself."""
        soft = {foot: share for foot, share in self.leg_stiffness.items() if share < 0.999 * STANDING}
        if not soft:
            return list(self.obstacles)
        foot, share = min(soft.items(), key=lambda item: item[1])
        verb = "cannot stand" if share < 1.0 else "gives way under its weight"
        return [
            f"the leg of {foot} {verb}: stiffness {share:.1f} of what standing needs (m g h); {STANDING:g} is safe:"
            f" raise the P gain to {STANDING / share:.1f} times",
            *self.obstacles,
        ]


def _one_by_one(disturbances: Mapping[str, bool]) -> str:
    """Return in words with which single disturbances the robot stands."""
    falls = [name for name, stands in disturbances.items() if not stands]
    if not falls:
        return f"stands with each of {len(disturbances)} disturbances alone: {', '.join(disturbances)}"
    stood = len(disturbances) - len(falls)
    if not stood:
        return f"falls with each of {len(disturbances)} disturbances alone, too"
    return f"falls with {', '.join(falls)}; stands with {stood} of {len(disturbances)} disturbances alone"


def judged(
    plan: Plan,
    trials: Sequence[Trial],
    found: Sequence[Mapping[str, Any]],
    bodies: tuple[str, ...],
    record: Record,
) -> Verdict:
    """Return the verdict on the results of simulated trials, of which the undisturbed one is first.

    `bodies` are the simulated bodies in order; `record` is of the first trial.
    """
    fell, power = found[0]["falls_at"], battery_power(plan.dynamics, plan.drives)
    begin, names = float(plan.motion.times[0]), plan.mechanism.actuators
    stands = [each["falls_at"] is None and not each["broken"] for each in found]
    stood = [stands[k] for k in range(1, len(found)) if not trials[k].name]
    sample = None if fell is None else int(np.searchsorted(plan.motion.times, begin + fell))
    least = least_margin(record)
    torque, heat = record.torque_shares(np.array([plan.drives[name].effort for name in names]))
    return Verdict(
        stands=fell is None,
        falls_at_s=None if fell is None else max(begin + fell, begin),
        falls_at_sample=None if sample is None else min(sample, len(plan.motion.times) - 1),
        cause="" if fell is None else cause(record, plan.reference, tuple(plan.standing), plan.leg_motors),
        disturbances={trials[k].name: stands[k] for k in range(1, len(found)) if trials[k].name},
        stands_share=float(np.mean(stood)) if stood else None,
        trials=len(stood),
        seconds=float(plan.motion.times[-1]) - begin,
        margin=None if least is None else (least[0], begin + least[1]),
        zero_moment_inside=plan.zero_moment_inside if plan.standing else None,
        torque_share=dict(zip(names, torque.tolist(), strict=True)),
        heat_share=dict(zip(names, heat.tolist(), strict=True)),
        obstacles=() if fell is None or not plan.standing else tuple(obstacles(plan, found[0])),
        leg_stiffness=plan.shares,
        loads=motor_loads(plan.dynamics, plan.drives),
        power=None if power is None else (float(power.mean()), float(power.max())),
        is_fixed=not plan.standing,
        bodies=bodies,
        times=record.times,
        position=record.position,
        quaternion=record.quaternion,
    )
