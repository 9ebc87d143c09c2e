"""Make It Stand: the least change of a motion with which the robot stands in nine of ten disturbed trials.

Changes are tried from the cheapest on, each beside those that helped: set-points that carry the weight, stiffer
servos, feedback of tilt where the robot has a sensor, a margin, a balance that knows momentum, shorter swings, softer
landings, a rehearsal, a slower pace where the robot falls and then everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from ..balance.giving import motors_give
from ..clips.clip import TargetClip
from ..dynamics.drives import STANDING, Drive
from ..errors import ClipError
from ..motions import Motion
from ..simulation.trials import Trial, draws
from ..steps import finish, relay
from .motors import Motors
from .obstacles import obstacles, soft_legs
from .plan import RATE, Plan, planned
from .process import simulate
from .rehearsal import rehearsal_steps
from .remedies import NORMAL, Remedy, Source
from .verdict import Verdict

ENOUGH = 0.9  # of the disturbed trials
SLOWER = (0.8, 0.65, 0.5)  # paces that are tried
STIFFER = (STANDING, 3.0, 4.5, 6.0)  # shares of m g h that are tried with servos
AROUND = (1.5, 1.0)  # [s] before and after the time of a fall that are played slower
NARROWER = 0.7  # of their way that swings go then


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One row of what was tried.

    Attributes:
        name: what was changed last, in words.
        remedy: all that was changed.
        motion: what came out.
        clip: that it follows; None where it is the motion as it was.
        plan: of its simulation; None where there is no such motion.
        verdict: of it; None likewise.
        problem: why there is none; empty where there is.
    """

    name: str
    remedy: Remedy
    motion: Motion | None = None
    clip: TargetClip | None = None
    plan: Plan | None = None
    verdict: Verdict | None = None
    problem: str = ""

    @property
    def stands(self) -> bool:
        """Return whether it stands as it is and in nine of ten disturbed trials."""
        verdict = self.verdict
        if verdict is None or self.remedy.rehearsed:  # a planner's goals do not go out with the motion
            return False
        return verdict.stands and (verdict.stands_share is None or verdict.stands_share >= ENOUGH)

    @property
    def score(self) -> tuple[float, float]:
        """Return how good it is: first by its share of trials, then by the time until it falls."""
        verdict = self.verdict
        if verdict is None:
            return -1.0, 0.0
        share = (1.0 if verdict.stands_share is None else verdict.stands_share) if verdict.stands else -0.5
        return share, inf if verdict.falls_at_s is None else verdict.falls_at_s

    def told(self) -> str:
        """Return what became of it, in words."""
        if self.verdict is None:
            return self.problem
        verdict = self.verdict
        if not verdict.stands:
            return f"falls after {verdict.falls_at_s:.1f} of {verdict.seconds:.1f} s"
        if verdict.stands_share is None:
            return "stands to the end"
        return f"stands, and in {round(verdict.stands_share * verdict.trials)} of {verdict.trials} disturbed trials"

    def as_data(self) -> dict[str, Any]:
        """Return plain data, as `robik physics --make-it-stand --json` prints it."""
        remedy = self.remedy
        return {
            "name": self.name,
            "told": self.told(),
            "stands": self.stands,
            "falls_at_s": None if self.verdict is None else self.verdict.falls_at_s,
            "stands_share": None if self.verdict is None else self.verdict.stands_share,
            "carry_weight": remedy.carry,
            "p_gain": remedy.p_gain,
            "stiffness": remedy.stiffness or None,
            "tilt_feedback": remedy.feedback,
            "pace": remedy.pace,
            "margin_m": remedy.margin,
            "speed": remedy.speed,
            "slow_s": [[max(a, 0.0), b] for a, b in remedy.windows if b < inf],
            "swing": remedy.swing,
            "soft_landing": remedy.soft,
            "rehearsed": remedy.rehearsed,
        }


@dataclass(frozen=True, kw_only=True)
class Search:
    """Result of a search.

    Attributes:
        attempts: in the order in which they were tried.
        chosen: index of the least change that stands, else of the best one.
        needs: what would have to change in the robot, sentences; none where one stands.
    """

    attempts: tuple[Attempt, ...]
    chosen: int
    needs: tuple[str, ...]

    @property
    def best(self) -> Attempt:
        """Return the attempt that was chosen."""
        return self.attempts[self.chosen]

    def lines(self) -> list[str]:
        """Return it in words, a row per attempt."""
        width = max(len(attempt.name) for attempt in self.attempts)
        rows = [
            f"{'→' if k == self.chosen else ' '} {attempt.name:<{width}}  {attempt.told()}"
            for k, attempt in enumerate(self.attempts)
        ]
        return rows + [f"does not stand like that; {need}" for need in self.needs]

    def as_data(self) -> dict[str, Any]:
        """Return plain data."""
        attempts = [attempt.as_data() for attempt in self.attempts]
        return {"attempts": attempts, "chosen": self.chosen, "stands": self.best.stands, "needs": list(self.needs)}


def make_it_stand(
    source: Source, motors: Motors, trials: int = 20, tell: Callable[[str], object] | None = None, **options: Any
) -> Search:
    """Return the search for a remedy that makes a motion stand; arguments as for `standing_steps`.

    `tell` is called once with each remedy that is tried, in words.
    """
    said = ""

    def told(step: tuple[float, str]) -> None:
        nonlocal said
        if tell is not None and step[1] != said:
            tell(step[1])
        said = step[1]

    return finish(standing_steps(source, motors, trials, **options), told)


def standing_steps(
    source: Source,
    motors: Motors,
    trials: int = 20,
    *,
    p_gain: float | None = None,
    rate: float = RATE,
    feedback: bool = False,
) -> Generator[tuple[float, str], None, Search]:
    """Search for a remedy as `make_it_stand` does; yield the share that is done and the remedy being tried.

    `trials` is the number of disturbed ones. `p_gain` is that of the servos; the chain's if left out, else the
    factory's. Goals come at `rate` [Hz]. With `feedback` tilt is fed back in every trial; else only where the servos
    have a sensor beside them, as a remedy to try. The generator returns the search.
    """
    bench = _Bench(source, motors, draws(trials), rate)
    kept = Remedy(p_gain=p_gain, feedback=feedback)
    yield from bench.tries("as it is", kept)
    for step, change in enumerate(_CHANGES):
        if bench.chosen.stands:
            break
        for name, remedy in change(bench):
            bench.share = (step + 1) / (len(_CHANGES) + 1)
            yield from bench.tries(name, remedy)
            if bench.chosen.stands:
                break
    best = bench.chosen
    needs: tuple[str, ...] = ()
    plain = bench.best
    if not best.stands and plain.plan is not None and plain.verdict is not None:
        needs = (*soft_legs(plain.plan), *(plain.verdict.obstacles or obstacles(plain.plan)))
    return Search(attempts=tuple(bench.attempts), chosen=bench.attempts.index(best), needs=needs)


class _Bench:
    """Robot, trials and attempts so far."""

    def __init__(self, source: Source, motors: Motors, trials: tuple[Trial, ...], rate: float) -> None:
        self.source, self.motors, self.trials, self.rate = source, motors, trials, rate
        self.attempts: list[Attempt] = []
        self.share = 0.0
        self._made: dict[Remedy, tuple[Motion, TargetClip | None]] = {}

    @property
    def best(self) -> Attempt:
        """Return the best attempt so far on which others can build, the earliest of equals."""
        found = [attempt for attempt in self.attempts if not attempt.remedy.rehearsed]
        return max(found, key=lambda attempt: attempt.score)

    @property
    def chosen(self) -> Attempt:
        """Return the best attempt so far, the earliest of equals."""
        return max(self.attempts, key=lambda attempt: attempt.score)

    def drives(self, remedy: Remedy) -> dict[str, Drive]:
        """Return the motors' drives with a remedy."""
        motors = replace(self.motors, stiffness=remedy.stiffness) if remedy.stiffness else self.motors
        return motors.drives(remedy.p_gain)

    def tries(self, name: str, remedy: Remedy) -> Iterator[tuple[float, str]]:
        """Try a remedy, unless it was tried before; yield how far it is."""
        if any(attempt.remedy == remedy for attempt in self.attempts):
            return
        yield self.share, name
        try:
            motion, clip = self._motion(remedy)
            if remedy.rehearsed:
                yield from self._rehearses(name, remedy, motion)
                return
            plan = planned(
                self.source.mechanism,
                motion,
                self.drives(remedy),
                carry=remedy.carry,
                rate=self.rate,
                delay=self.motors.delay,
                feedback=remedy.feedback,
            )
        except ClipError as error:
            self.attempts.append(Attempt(name=name, remedy=remedy, problem=str(error)))
            return
        allowed = int((1.0 - ENOUGH) * len(self.trials) + 1e-9)
        verdict = yield from relay(simulate(plan, self.trials, allowed), lambda _: (self.share, name))
        self.attempts.append(Attempt(name=name, remedy=remedy, motion=motion, clip=clip, plan=plan, verdict=verdict))

    def _rehearses(self, name: str, remedy: Remedy, motion: Motion) -> Iterator[tuple[float, str]]:
        """Rehearse a motion, judged by what its goals do without the planner; yield how far it is."""
        mechanism, delay = self.source.mechanism, self.motors.delay
        steps = rehearsal_steps(mechanism, motion, self.drives(remedy), delay=delay)
        made = yield from relay(steps, lambda until: (self.share, f"{name}, until {until:.1f} s"))
        verdict, problem = made.replay, "" if made.replay else made.lines()[0]
        self.attempts.append(
            Attempt(name=name, remedy=remedy, motion=made.motion if verdict else None, verdict=verdict, problem=problem)
        )

    def _motion(self, remedy: Remedy) -> tuple[Motion, TargetClip | None]:
        """Return the motion with a remedy, made once for all settings of the motors."""
        change = remedy.of_motion
        if change not in self._made:
            self._made[change] = self.source.made(remedy)
        return self._made[change]


def _carried(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    if not bench.best.remedy.carry:
        yield "carry weight", replace(bench.best.remedy, carry=True)


def _stiffer(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    """Raise gains to twice what standing needs, where they are less."""
    if (stiffer := bench.motors.stiffer) is not None:
        yield str(stiffer.raised), replace(bench.best.remedy, stiffness=stiffer.stiffness, carry=True)
    now = bench.best.remedy.p_gain or bench.motors.factory_gain
    if now is None:
        return
    share = bench.motors.leg(now)
    if share < STANDING and (raised := bench.motors.gain(now * STANDING / share)) > now:
        yield _gain_name(bench, raised), replace(bench.best.remedy, p_gain=raised, carry=True)


def _righted(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    """Feed the tilt back, where there is a sensor for it and the motors are not tied to each other."""
    chain, remedy = bench.motors.chain, bench.best.remedy
    if chain is not None and chain.imu is not None and not bench.motors.room.following_motors and not remedy.feedback:
        yield "tilt feedback", replace(remedy, carry=True, feedback=True)


def _gain_name(bench: _Bench, p_gain: float) -> str:
    return f"P gain {p_gain:.0f}, {bench.motors.leg(p_gain):.1f} times what standing needs"


def _margin(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    remedy = replace(bench.best.remedy, carry=True)
    margin = NORMAL + motors_give(bench.source.mechanism, bench.drives(remedy))
    pace = bench.source.request.balance.mode if bench.source.request.balance.over_feet else "still"
    yield f"balance with {1e3 * margin:.0f} mm of margin", replace(remedy, pace=pace, margin=margin)


def _moving(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    remedy = replace(bench.best.remedy, carry=True)
    margin = NORMAL + motors_give(bench.source.mechanism, bench.drives(remedy))
    yield f"balance Moving, {1e3 * margin:.0f} mm of margin", replace(remedy, pace="moving", margin=margin)


def _much_stiffer(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    """Raise the servos' P gain further, with the margin that this asks for."""
    for share in STIFFER:
        remedy = bench.best.remedy
        now = remedy.p_gain or bench.motors.factory_gain
        if now is None:
            return
        if (raised := bench.motors.gain(now * share / bench.motors.leg(now))) > now:
            margin = NORMAL + motors_give(bench.source.mechanism, bench.motors.drives(raised))
            yield _gain_name(bench, raised), replace(remedy, p_gain=raised, margin=margin if remedy.pace else 0.0)


def _slower_there(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    """Slow down around each fall, at most three times."""
    windows: tuple[tuple[float, float], ...] = ()
    remedy = replace(bench.best.remedy, carry=True)
    for speed in SLOWER[1:]:
        last = bench.best if not windows else bench.attempts[-1]
        fall = None if last.verdict is None else last.verdict.falls_at_s
        if fall is None or last.motion is None:
            return
        own = _own_time(last.remedy, bench.source.motion, fall)
        windows = (*windows, (own - AROUND[0], own + AROUND[1]))
        slow = replace(remedy, windows=windows, speed=speed, pace=remedy.pace or "moving")
        yield f"{100 * speed:.0f} % of the pace around {', '.join(f'{sum(w) / 2:.1f} s' for w in windows)}", slow


def _own_time(remedy: Remedy, motion: Motion, time: float) -> float:
    """Return the time in the motion as it was of a time in the slower one [s]."""
    times = motion.times - motion.times[0]
    return float(np.interp(time, remedy.times(times), times))


def _slower(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    for speed in SLOWER:
        remedy = replace(bench.best.remedy, carry=True, windows=((-inf, inf),), speed=speed)
        yield f"{100 * speed:.0f} % of the pace", replace(remedy, pace=remedy.pace or "moving")


def _narrower(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    remedy = replace(bench.best.remedy, swing=NARROWER)
    yield f"swings go {100 * NARROWER:.0f} % of their way", replace(remedy, pace=remedy.pace or "moving")


def _softer(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    remedy = replace(bench.best.remedy, soft=True)
    yield "feet land softly", replace(remedy, pace=remedy.pace or "moving")


def _rehearsed(bench: _Bench) -> Iterator[tuple[str, Remedy]]:
    yield "rehearsed, its goals sent without looking", replace(bench.best.remedy, carry=True, rehearsed=True)


_CHANGES = (
    _carried, _stiffer, _righted, _margin, _moving, _much_stiffer, _narrower, _softer, _rehearsed, _slower_there,
    _slower,
)  # fmt: skip
