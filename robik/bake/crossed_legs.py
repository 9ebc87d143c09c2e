"""Legs in each other: what footholds ask for when a dancer's feet cross closer than a robot's can.

Legs that stand hold both feet, so walls between them (`robik.collision`) can only move what is above. Where that is not
enough, one of the footholds is wrong for the robot.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..collision.apart import Between, Walls
from ..collision.judge import Pair
from ..collision.standing_walls import Depths, StandingWalls
from ..feet.finding import feet
from ..feet.held_contacts import held_tracks
from ..feet.phases import runs
from ..mechanism import Mechanism
from ..motions import Motion
from ..objectives.clearance import Clearance
from .adjusting import Bench, Solution
from .freed_soles import Phase
from .passes import Passes

PASSES = 3  # with walls that move what is above the feet
DEEP = (
    5e-4  # m: legs that walls leave less deep in each other are apart; half of what walls are for, as samples are few
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossed:
    """Legs in each other while the feet of both stand.

    Attributes:
        part: clip with walls between them, where they are deepest in each other.
        deep: how deep in the samples of each foot's phase, in multiples of `DEEP`.
        bodies: names of the two bodies that are deepest in each other, likewise.
    """

    part: TargetClip
    deep: dict[Phase, np.ndarray]
    bodies: dict[Phase, tuple[str, str]]


class _Legs:
    """Keeper of the legs apart, and of nothing else."""

    def __init__(self, between: Between, pairs: set[Pair]) -> None:
        self._between, self._pairs = between, pairs

    def depths(self, motion: Motion) -> Depths:
        """Return how deep legs are in each other (T,) [m], by pair."""
        return {pair: depth for pair, depth in self._between.depths(motion).items() if pair in self._pairs}

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> Sequence[Clearance]:
        """Return walls between pairs of bodies."""
        return self._between.walls(motion, pairs)


def crossed_legs(bench: Bench, solution: Solution, walls: Walls) -> Generator[int, None, Crossed | None]:
    """Find legs that are in each other even with walls between them; yield the number of frames that are done.

    The solution is without walls, on soles that lie flat. The generator returns the legs; None where they are apart.
    """
    mechanism, part = bench.mechanism, solution.part
    legs = _leg_of(mechanism, feet(mechanism, part))
    pairs = {pair: (legs[a], legs[b]) for pair in walls.between.pairs for a, b in [pair] if a in legs and b in legs}
    keeper = _Legs(walls.between, {pair for pair, (one, other) in pairs.items() if one != other})
    passes = StandingWalls(part, [keeper], solution.motion)
    if not passes.total:
        return None
    yield from passes.improve(Passes(lambda each: bench.begin(each, flat=True)).solve, PASSES)
    motion = passes.found[1]
    depths = {pair: depth for pair, depth in keeper.depths(motion).items() if depth.max() > DEEP}
    deep: dict[Phase, np.ndarray] = {}
    bodies: dict[Phase, tuple[str, str]] = {}
    for pair, depth in sorted(depths.items(), key=lambda item: -float(item[1].max())):
        for phase, gap in _phases(part, pairs[pair], depth / DEEP):
            bodies.setdefault(phase, (mechanism.bodies[pair[0]].name, mechanism.bodies[pair[1]].name))
            deep[phase] = np.maximum(deep.get(phase, 0.0), gap)
    if not deep:
        return None
    between = walls.between.walls(motion, sorted(depths))
    return Crossed(part=replace(part, objectives=(*part.objectives, *between)), deep=deep, bodies=bodies)


def _leg_of(mechanism: Mechanism, names: Sequence[str]) -> dict[int, str]:
    """Return the foot of each body that belongs to one leg alone, by the body's number."""
    chains = {}
    for name in names:
        chain = {mechanism.frame(name).body}
        for _ in mechanism.joints:
            chain |= {joint.parent for joint in mechanism.joints if joint.child in chain}
        chains[name] = chain & set(mechanism.body_index)
    return {
        mechanism.body_index[body]: name
        for name, chain in chains.items()
        for body in chain
        if sum(body in other for other in chains.values()) == 1
    }


def _phases(part: TargetClip, names: tuple[str, str], gap: np.ndarray) -> list[tuple[Phase, np.ndarray]]:
    """Return the phases of two feet in which both stand with a gap (T,) beyond 1, each with the gap in its samples."""
    held = held_tracks(part)
    if not all(name in held and part.tracks[name].ground_position is None for name in names):
        return []
    one, other = (held[name].contact.stands for name in names)
    gap = np.where(one & other, gap, 0.0)
    return [
        ((name, start, stop), gap[start:stop])
        for name in names
        for start, stop in runs(held[name].contact.stands)
        if gap[start:stop].max() > 1.0
    ]
