"""Walls between bodies that get into each other: built from a motion, kept in the next, removed where of no help."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from ..clips.clip import TargetClip
from ..motions import Motion
from ..objectives.objective import Objective
from .judge import Pair

DEEP = 1e-3  # m: bodies that go into each other by less are left alone
JUMP = 0.2  # rad or m: planes are not taken if a motor then steps further in a frame, and did not do so before
ALIKE = 1e-4  # m: contacts that are further off by less are as good as before
WORTH = 20.0  # times the depth that walls take away: what targets may be missed by more for it (4.8 where it helped)
HELPS = 0.8  # share of the depth without walls: a wall that leaves more is removed
Step = TypeVar("Step")
Depths = dict[Pair, np.ndarray]
Solve = Callable[[TargetClip], Generator[Step, None, Motion]]
Finish = Callable[[Motion, TargetClip], Generator[Step, None, Motion]]


class Keeper(Protocol):
    """Keeper of pairs apart: it finds bodies in each other, or in obstacles, and builds walls between them."""

    def depths(self, motion: Motion) -> Depths:
        """Return the depths (T,) [m] by pair that touches at some time in a motion."""

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> Sequence[Objective]:
        """Return the walls of pairs as objectives, placed by a motion's poses."""


class StandingWalls:
    """Walls of a clip that stand, pass by pass.

    It begins with a motion without walls; `keepers` have the pairs that are kept apart. `found` is the clip with
    the best walls so far, with its motion; `last` is the motion that was solved last, from which walls are built;
    `tried` is how often. `before` is the largest depth without walls, `least` in the best motion [m], and `where` (T,)
    are the samples without walls in which bodies are in each other.
    """

    found: tuple[TargetClip, Motion]
    least: float

    def __init__(self, clip: TargetClip, keepers: Sequence[Keeper], motion: Motion) -> None:
        self._clip, self._keepers = clip, keepers
        self._standing: list[set[Pair]] = [set() for _ in keepers]
        self._best = self._standing  # with which the best motion was solved
        self._given_up: set[Pair] = set()
        self._most, self.tried = 0.0, 0  # depth in sum with which a pass has begun, at most
        self.take(clip, motion)
        self._without, self.before = self._depths, self.least
        deep = [depth > DEEP for depths in self._depths for depth in depths.values()]
        self.where = np.any([np.zeros(len(clip.times), bool), *deep], axis=0)

    def take(self, walled: TargetClip, motion: Motion) -> None:
        """Store a motion, with the clip that it follows, as the best so far."""
        self.look(motion)
        self.found, self.last, self._total, self.least = (walled, motion), motion, self.total, self.worst

    def improve(self, solve: Solve[Step], walls: int, sided: int = 0) -> Generator[Step, None, None]:
        """Solve the clip again with walls, and keep the motion with the least depth; yield as `solve` does.

        There are at most `walls` passes, and `sided` further ones with planes. They begin with the walls of the
        best motion, not with those against what others were driven into, and end where walls do more harm than
        good.
        """
        self._standing = [set(pairs) for pairs in self._best]
        self._most = max(self._most, self._total)
        for k in range(walls + sided):
            if not (self.build() if k < walls else self.build_sided()):
                continue
            walled = replace(self._clip, objectives=(*self._clip.objectives, *self.walls(self.last)))
            motion = self.last = yield from solve(walled)
            self.tried += 1
            self.look(motion)
            best = self.found[1]
            calm = k < walls or (self.worst < self.least + DEEP and _jump(motion) < max(2.0 * _jump(best), JUMP))
            stands = _contact_off(motion) <= max(_contact_off(best) + ALIKE, DEEP)  # contacts go before walls
            worth = _missed(motion) - _missed(best) <= WORTH * (self._total - self.total)
            if self.total < self._total and calm and stands and worth:
                self.take(walled, motion)
                self._best = [set(pairs) for pairs in self._standing]
            if self.total > self._most:
                return

    @property
    def total(self) -> float:
        """Sum over all frames and pairs of the depth beyond `DEEP` [m]."""
        return sum(map(_total, self._depths[:1] + self._depths[2:]))

    @property
    def worst(self) -> float:
        """Largest depth [m]."""
        return max((float(depth.max()) for depths in self._depths for depth in depths.values()), default=0.0)

    def look(self, motion: Motion) -> None:
        """Judge the depths of a motion."""
        self._depths = [keeper.depths(motion) for keeper in self._keepers]

    def build(self) -> bool:
        """Build walls between bodies that are deep in each other, and remove those that do not help.

        Return True if there is a pair for which a wall may help.
        """
        for depths, without, standing in zip(self._depths, self._without, self._standing, strict=True):
            for pair in list(standing):
                if _total(depths, pair) > HELPS * _total(without, pair) > 0.0:
                    standing.discard(pair)
                    self._given_up.add(pair)
        deep = [self._deep(depths) - self._given_up for depths in self._depths]
        for k in (0, *range(2, len(deep))):
            self._standing[k] |= deep[k]
        return any(deep[:1] + deep[2:])

    def build_sided(self) -> bool:
        """Build planes between bodies still deep in each other because walls did not help.

        Return True if there are any.
        """
        self._standing[1] |= self._given_up & self._deep(self._depths[1])
        self._standing[0] -= self._standing[1]
        return bool(self._standing[1])

    @staticmethod
    def _deep(depths: Depths) -> set[Pair]:
        return {pair for pair, depth in depths.items() if depth.max() > DEEP}

    def walls(self, motion: Motion) -> list[Objective]:
        """Return the walls as objectives, placed by a motion's poses."""
        pairs = zip(self._keepers, self._standing, strict=True)
        return [wall for keeper, standing in pairs for wall in keeper.walls(motion, sorted(standing))]


def _jump(motion: Motion) -> float:
    """Return the largest step of a motor from frame to frame [rad or m]."""
    return float(np.abs(np.diff(motion.values, axis=0)).max(initial=0.0))


def _missed(motion: Motion) -> float:
    """Return the sum over all frames of the mean distance from targets [m]."""
    if motion.report is None or not motion.report.targets:
        return 0.0
    return float(np.nansum(motion.report.position_error)) / len(motion.report.targets)


def _contact_off(motion: Motion) -> float:
    """Return how far a held contact is off its place at most [m]."""
    off = motion.report.quality.contact_off_mm if motion.report is not None else None
    return 1e-3 * (off or 0.0)


def _total(depths: Depths, *pairs: Pair) -> float:
    """Return the sum over all frames of the depth beyond `DEEP` [m], of these pairs or of all."""
    none = np.zeros(0)
    return float(sum(np.maximum(depths.get(pair, none) - DEEP, 0.0).sum() for pair in pairs or depths))
