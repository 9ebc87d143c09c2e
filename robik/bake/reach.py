"""Footholds within reach: soles that a robot's legs cannot hold are moved and turned by as little as it takes.

A recording may ask for feet that are further apart, or turned further against each other, than the robot's joints
allow. If soles were held there, the rest of the body could not follow. So the clip is first solved as it is. If a sole
does not reach its hold, the clip is solved again: only the sole's centre is held, and its yaw is one target among
others. The yaw that the sole then has is the one that it is held at, flat, during the whole contact.

A recording may also ask for feet so near or so turned that the robot's legs are in each other. Then both soles may move
and turn over the ground, walls push the legs apart, and the soles are held where that leaves them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..collision.apart import Walls
from ..feet.finding import feet
from ..feet.held_contacts import held_tracks
from ..feet.phases import runs
from ..feet.pinning import held_elsewhere
from ..mechanism import Mechanism
from ..motions import Motion
from ..motions.adjusted import MovedFoothold
from ..report.quality import contact_gaps
from ..steps import relay
from .adjusting import Adjustment, Bench, Finding, Solution
from .crossed_legs import DEEP, Crossed, crossed_legs
from .draft import Draft
from .freed_soles import Phase, freed, off_hold

TURNS = 2  # the first rounds, in which late footholds are turned; in the others they are moved
FURTHER = 1.3  # factor on what a foothold is off, so that fewer rounds are needed
APART = 1.4  # likewise where legs are in each other
LATE = (0.002, 0.01)  # of the robot's size, and rad: a sole further off is out of reach
LEAST = (1e-3, 0.01)  # likewise: one that would be moved by less stays where it is


class Reach(Adjustment):
    """Adjustment of footholds that are out of reach or, with `walls`, put legs into each other."""

    name, doing, most, patience, is_flat = "footholds", "Moving footholds", 6, 6, True

    def __init__(self, walls: Walls | None) -> None:
        self._walls, self._round = walls, 0

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[float, None, Finding]:
        mechanism, part = bench.mechanism, solution.part
        found = _Found(late=_late(mechanism, part, solution.motion))
        if self._walls is not None:
            crossed = yield from relay(crossed_legs(bench, solution, self._walls), lambda _: 1.0)
            found = replace(found, crossed=crossed)
        where, far = np.zeros(len(part.times), bool), found.far(mechanism)
        for (_, start, stop), gap in found.gaps:
            where[start:stop] |= gap > 1.0
        return Finding(cost=found.short, off=far, where=where, details=found)

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        self._round += 1
        moved = _moved(bench, draft.pinned, solution, finding.details, self._round <= TURNS)
        return None if moved is None else replace(draft, pinned=moved)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """Phases whose footholds are wrong for the robot; late ones are brought into reach first."""

    late: dict[Phase, np.ndarray]
    crossed: Crossed | None = None

    @property
    def gaps(self) -> list[tuple[Phase, np.ndarray]]:
        """Distances of each of them, sample by sample, in multiples of what is too far."""
        return [*self.late.items(), *(self.crossed.deep.items() if self.crossed else ())]

    @property
    def short(self) -> float:
        """Sum of how far all of them are off; zero where none is wrong."""
        return sum(float(np.sum(gap)) for _, gap in self.gaps)

    def far(self, mechanism: Mechanism) -> float:
        """Return how far one of them is off at most, an angle as an arc of the robot's size [m]."""
        late = LATE[0] * mechanism.extent * max((float(gap.max()) for gap in self.late.values()), default=0.0)
        deep = self.crossed.deep.values() if self.crossed else ()
        return max(late, DEEP * max((float(gap.max()) for gap in deep), default=0.0))


def _late(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> dict[Phase, np.ndarray]:
    """Return the phases in which a pinned sole is out of reach, with how far in multiples of `LATE`, by sample."""
    found = {}
    pinned = set(feet(mechanism, clip))
    for name, track in held_tracks(clip).items():
        if name in pinned and clip.tracks[name].ground_position is None:
            distance, angle = contact_gaps(mechanism, name, track, motion)
            gap = np.fmax(distance / (LATE[0] * mechanism.extent), angle / LATE[1])
            for start, stop in runs(track.contact.stands):
                found[name, start, stop] = gap[start:stop]
    beside = np.zeros(len(clip.times), bool)
    for (_, start, stop), gap in found.items():
        beside[start:stop] |= gap > 1.0
    return {phase: gap for phase, gap in found.items() if beside[phase[1] : phase[2]].any()}


def _moved(bench: Bench, clip: TargetClip, solution: Solution, found: _Found, turns: bool) -> TargetClip | None:
    """Return the clip with wrong footholds turned or moved to where they are right; None if that is nowhere.

    Late ones are turned, or else moved, to where the legs reach; others are turned and moved to where legs are apart.
    """
    mechanism, part, late = bench.mechanism, solution.part, found.late
    legs = _leg_coordinates(mechanism, feet(mechanism, clip))
    places: dict[str, dict[int, tuple[np.ndarray, float]]] = {}
    told: list[MovedFoothold] = []
    for phase, (shift, turn) in _moves(bench, solution, found, turns).items():
        name, start, stop = phase
        if np.linalg.norm(shift) < LEAST[0] * mechanism.extent and abs(turn) < LEAST[1]:
            continue
        first, last = _phase(clip, name, part.times[[start, stop - 1]] + clip.times[0])
        places.setdefault(name, {})[first] = shift, turn
        worst = int(start + np.nanargmax(late[phase])) if phase in late else None
        at_limit = [] if worst is None else [each for each in solution.solving.reasons.at_limit(worst) if each in legs]
        told.append(
            MovedFoothold(
                frame=name, start=float(clip.times[first]), end=float(clip.times[last - 1]),
                shift=(float(shift[0]), float(shift[1])), turned=turn, limits=tuple(at_limit),
                bodies=found.crossed.bodies[phase] if worst is None and found.crossed else (),
            )
        )  # fmt: skip
    if not places:
        return None
    for name, moves in places.items():
        clip = held_elsewhere(mechanism, clip, name, moves)
    return replace(clip, moved=_together(clip.moved, told))


def _moves(bench: Bench, solution: Solution, found: _Found, turns: bool) -> dict[Phase, tuple[np.ndarray, float]]:
    """Return by how much each wrong foothold is to be moved (2,) [m] and turned [rad]."""
    mechanism, part, late, motion, moves = bench.mechanism, solution.part, found.late, solution.motion, {}
    if late and turns:
        motion = freed(bench, part, late, held=True)
    for phase, gap in late.items():
        shifts, angles = off_hold(mechanism, part, motion, phase)
        worst = FURTHER * shifts[np.nanargmax(gap)]
        moves[phase] = (np.zeros(2), float(angles.mean())) if turns else (worst, 0.0)
    if found.crossed is None:
        return moves
    deep = {phase: gap for phase, gap in found.crossed.deep.items() if phase not in late}
    if not deep:
        return moves
    motion = freed(bench, found.crossed.part, deep, held=False)
    for phase, gap in deep.items():
        shifts, angles = off_hold(mechanism, part, motion, phase)
        worst = np.nanargmax(gap)
        moves[phase] = APART * shifts[worst], APART * float(angles[worst])
    return moves


def _leg_coordinates(mechanism: Mechanism, names: tuple[str, ...]) -> set[str]:
    """Return the coordinates between feet and what the robot hangs on."""
    bodies, found = {mechanism.frame(name).body for name in names}, set()
    for _ in mechanism.joints:
        above = [joint for joint in mechanism.joints if joint.child in bodies]
        found = {name for joint in above for name in joint.coordinate_names}
        bodies |= {joint.parent for joint in above}
    return found


def _phase(clip: TargetClip, name: str, times: np.ndarray) -> tuple[int, int]:
    """Return the phase of a foot in a clip that lasts over these first and last times of its part."""
    contact = clip.tracks[name].contact
    assert contact is not None
    return next(
        (start, stop)
        for start, stop in runs(contact)
        if clip.times[start] <= times[1] and clip.times[stop - 1] >= times[0]
    )


def _together(before: tuple[MovedFoothold, ...], more: list[MovedFoothold]) -> tuple[MovedFoothold, ...]:
    """Return what was moved in all rounds, each foothold once."""
    found = {(item.frame, item.start): item for item in before}
    for item in more:
        key = item.frame, item.start
        if key in found:
            known = found[key]
            shift = (known.shift[0] + item.shift[0], known.shift[1] + item.shift[1])
            bodies, limits = known.bodies or item.bodies, known.limits or item.limits
            item = replace(known, shift=shift, turned=known.turned + item.turned, bodies=bodies, limits=limits)
        found[key] = item
    return tuple(sorted(found.values(), key=lambda item: (item.start, item.frame)))
