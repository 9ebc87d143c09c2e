"""Walls that keep a robot's bodies out of each other and out of obstacles.

A wall keeps the axes of two bodies at a least distance (`robik.objectives.clearance`). That distance differs from pose
to pose: it is the one at which the convex shapes of the bodies are `MARGIN` apart. For obstacles there are `barriers`.
A clip is solved without walls, then again, pass by pass, with walls computed from the motion of the pass before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ..clips.clip import TargetClip
from ..mechanism import Mechanism
from ..motions import Motion
from ..objectives.clearance import Clearance
from ..objectives.objective import Objective, States
from ..surroundings.obstacle import Obstacle
from .barriers import Barriers
from .files import told_collisions
from .judge import Judge, Pair, can_judge
from .pairs import pairs_that_can_touch
from .shapes import CollisionShape, capsule
from .sided import Sided
from .soles import Soles

MARGIN = 0.003  # m between bodies that are kept apart
DEEP = 1e-3  # m: bodies that go into each other by less are left alone
NEAR = 0.05  # m: bodies that are further from each other need no wall between them
PASSES = 3
SIDED = 2  # further passes, with planes where walls did not help: for limbs that went to the wrong side
JUMP = 0.2  # rad or m: planes are not taken if a motor then steps further in a frame, and did not do so before
HELPS = 0.8  # share of the depth without walls: a wall that leaves more is removed

Step = TypeVar("Step")
Depths = dict[Pair, np.ndarray]


class Keeper(Protocol):
    """Keeper of pairs apart: it finds bodies in each other, or in obstacles, and builds walls between them."""

    def depths(self, motion: Motion) -> Depths:
        """Return how deep pairs are in each other.

        Args:
            motion: Poses of the robot's bodies.

        Returns:
            Depths (T,) [m] by pair.
        """

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> Sequence[Objective]:
        """Return the walls of pairs as objectives.

        Args:
            motion: Poses of the robot's bodies, which say where the walls are.
            pairs: What is to be kept apart.

        Returns:
            The objectives.
        """


class Walls:
    """Walls between the bodies of a robot that get into each other.

    Args:
        mechanism: the robot.
        shapes: of its bodies.
        apart: names of two bodies that may go into each other.

    Raises:
        MissingExtraError: MuJoCo is not installed.
    """

    def __init__(
        self, mechanism: Mechanism, shapes: Sequence[CollisionShape], apart: Collection[tuple[str, str]] = ()
    ) -> None:
        self._mechanism, self._shapes = mechanism, shapes
        self._between = Between(mechanism, shapes, apart)

    @property
    def between(self) -> Between:
        """Return what keeps the robot's own bodies apart."""
        return self._between

    def barriers(self, obstacles: Sequence[Obstacle]) -> Barriers:
        """Return what keeps the robot out of obstacles.

        Args:
            obstacles: Of a clip.

        Returns:
            The barriers.
        """
        return Barriers(self._mechanism, self._shapes, obstacles)

    def solve(
        self, clip: TargetClip, solve: Callable[[TargetClip], Generator[Step, None, Motion]]
    ) -> Generator[Step, None, tuple[TargetClip, Motion]]:
        """Solve a clip, and again with walls until the robot's bodies are out of each other or no pass helps.

        Args:
            clip: The targets, with obstacles.
            solve: Solves a clip; its motion has body poses.

        Yields:
            What `solve` does. The generator returns the clip with the walls and the motion with the least depth.
        """
        keepers: list[Keeper] = [self._between, Sided(self._mechanism, self._shapes, self._between)]
        if clip.obstacles:
            keepers.append(self.barriers(clip.obstacles))
        if clip.ground is not None:
            keepers.append(Soles(self._mechanism, clip))
        motion = yield from solve(clip)
        passes = _Passes(keepers, motion)
        found, least, worst = (clip, motion), passes.total, passes.worst
        for k in range(PASSES + SIDED):
            if not (passes.build() if k < PASSES else passes.build_sided()):
                continue
            walled = replace(clip, objectives=(*clip.objectives, *passes.walls(motion)))
            motion = yield from solve(walled)
            passes.look(motion)
            calm = k < PASSES or (passes.worst < worst + DEEP and _jump(motion) < max(2.0 * _jump(found[1]), JUMP))
            stands = _contact_off(motion) <= max(_contact_off(found[1]), DEEP)  # contacts go before walls
            if passes.total < least and calm and stands:
                found, least, worst = (walled, motion), passes.total, passes.worst
        return found


class _Passes:
    """Walls that stand, pass by pass.

    Args:
        keepers: whose pairs are kept apart.
        motion: without walls.
    """

    def __init__(self, keepers: Sequence[Keeper], motion: Motion) -> None:
        self._keepers = keepers
        self._standing: list[set[Pair]] = [set() for _ in keepers]
        self._given_up: set[Pair] = set()
        self.look(motion)
        self._without = self._depths

    @property
    def total(self) -> float:
        """Sum over all frames and pairs of the depth beyond `DEEP` [m]."""
        return sum(map(_total, self._depths[:1] + self._depths[2:]))

    @property
    def worst(self) -> float:
        """Largest depth [m]."""
        return max((float(depth.max()) for depths in self._depths for depth in depths.values()), default=0.0)

    def look(self, motion: Motion) -> None:
        """Take in how deep a motion is.

        Args:
            motion: With body poses.
        """
        self._depths = [keeper.depths(motion) for keeper in self._keepers]

    def build(self) -> bool:
        """Build walls between bodies that are deep in each other, and remove those that do not help.

        Returns:
            Whether there is a pair for which a wall may help.
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
        """Build planes between bodies that are still deep in each other because walls did not help.

        Returns:
            Whether there are any.
        """
        self._standing[1] |= self._given_up & self._deep(self._depths[1])
        self._standing[0] -= self._standing[1]
        return bool(self._standing[1])

    @staticmethod
    def _deep(depths: Depths) -> set[Pair]:
        return {pair for pair, depth in depths.items() if depth.max() > DEEP}

    def walls(self, motion: Motion) -> list[Objective]:
        """Return the walls as objectives, placed by a motion's poses.

        Args:
            motion: With body poses.

        Returns:
            The objectives.
        """
        pairs = zip(self._keepers, self._standing, strict=True)
        return [wall for keeper, standing in pairs for wall in keeper.walls(motion, sorted(standing))]


class Between:
    """Walls between a robot's own bodies.

    Args:
        mechanism: the robot.
        shapes: of its bodies.
        apart: names of two bodies that may go into each other.

    Raises:
        MissingExtraError: MuJoCo is not installed.
    """

    def __init__(
        self, mechanism: Mechanism, shapes: Sequence[CollisionShape], apart: Collection[tuple[str, str]] = ()
    ) -> None:
        self._mechanism, self._shapes = mechanism, shapes
        self._names = [body.name for body in mechanism.bodies]
        pairs = pairs_that_can_touch(mechanism, shapes, apart)
        self._judge = Judge(mechanism, shapes, pairs) if pairs else None
        self._axes: dict[int, np.ndarray] = {}
        self._judged: tuple[Motion, Depths] | None = None  # the last motion, and its depths

    def depths(self, motion: Motion) -> Depths:
        """Return how deep bodies are in each other.

        Args:
            motion: With body poses.

        Returns:
            Depths (T,) [m] of the pairs that touch at some time.
        """
        assert motion.position is not None and motion.quaternion is not None
        if self._judge is None:
            return {}
        if not (self._judged and self._judged[0] is motion):
            self._judged = motion, self._judge.depths(motion.position, motion.quaternion)
        return self._judged[1]

    def ways(self, motion: Motion, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
        """Return how far bodies are from each other, and which way.

        Args:
            motion: With body poses.
            pairs: p pairs of bodies, in either order.

        Returns:
            As `Judge.ways`, for bodies that are near each other.
        """
        assert self._judge is not None and motion.position is not None and motion.quaternion is not None
        return self._judge.ways(motion.position, motion.quaternion, pairs, NEAR)

    def touching(self, motion: Motion) -> list[tuple[tuple[str, str], float, np.ndarray]]:
        """Return where bodies are in each other in one pose.

        Args:
            motion: Of one sample, with body poses.

        Returns:
            Names of two bodies, how deep [m], and where (3,) [m].
        """
        if self._judge is None:
            return []
        assert motion.position is not None and motion.quaternion is not None
        found = self._judge.touching(motion.position[0], motion.quaternion[0])
        return [((self._names[a], self._names[b]), depth, where) for (a, b), depth, where in found]

    def _axis(self, number: int) -> np.ndarray:
        """Return both ends of a body's axis (2, 3) in its own frame [m]."""
        if number not in self._axes:
            name = self._names[number]
            around = capsule(name, np.concatenate([shape.corners() for shape in self._shapes if shape.body == name]))
            axis = self._mechanism.frame(name).pose.inverse() @ around.pose
            self._axes[number] = np.array([axis.point((0.0, 0.0, side * around.size[1])) for side in (-1.0, 1.0)])
        return self._axes[number]

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Clearance]:
        """Return the walls of pairs as objectives, with the least distances that a motion's poses need.

        Args:
            motion: With body poses.
            pairs: Of bodies.

        Returns:
            An objective a pair.
        """
        if not pairs:
            return []
        assert self._judge is not None and motion.position is not None and motion.quaternion is not None
        states = States(self._mechanism, motion.position, motion.quaternion)
        free = self._judge.distances(motion.position, motion.quaternion, pairs, NEAR)
        found = []
        for pair, far in zip(pairs, free.T, strict=True):
            axes = np.array([self._axis(number) for number in pair])
            wall = Clearance(self._names[pair[0]], self._names[pair[1]], least=np.zeros(len(far)), points=axes)
            least = np.maximum(wall.gaps(states) + MARGIN - far, 0.0)
            found.append(replace(wall, least=np.where(far < NEAR, least, 0.0)))
        return found


def solved_apart(
    clip: TargetClip, solve: Callable[[TargetClip], Generator[Step, None, Motion]], walls: Walls | None
) -> Generator[Step, None, tuple[TargetClip, Motion]]:
    """Solve a clip, with walls where there are any.

    Args:
        clip: The targets.
        solve: Solves a clip; its motion has body poses.
        walls: Of the robot.

    Yields:
        What `solve` does. The generator returns the clip that was followed and the motion.
    """
    if walls is None:
        return clip, (yield from solve(clip))
    return (yield from walls.solve(clip, solve))


def walls_of(mechanism: Mechanism, robot_file: str | Path | None = None) -> Walls | None:
    """Return the walls of a robot by its collision shapes, or by what is seen of it; kept for the next clip.

    Args:
        mechanism: The robot.
        robot_file: That it was read from, for its collision shapes and meshes.

    Returns:
        The walls; None where nothing is known of its shape, or MuJoCo is not installed.
    """
    if not can_judge():
        return None
    if not (_last and _last[0] == robot_file and _last[1] == mechanism):
        told = told_collisions(mechanism, robot_file)
        _last[:] = robot_file, mechanism, Walls(mechanism, told.shapes, told.apart) if told.shapes else None
    return _last[2]


_last: list[Any] = []  # file, robot and walls of the last one


def _jump(motion: Motion) -> float:
    """Return the largest step of a motor from frame to frame [rad or m]."""
    return float(np.abs(np.diff(motion.values, axis=0)).max(initial=0.0))


def _contact_off(motion: Motion) -> float:
    """Return how far a held contact is off its place at most [m]."""
    off = motion.report.quality.contact_off_mm if motion.report is not None else None
    return 1e-3 * (off or 0.0)


def _total(depths: Depths, *pairs: Pair) -> float:
    """Return the sum over all frames of the depth beyond `DEEP` [m], of these pairs or of all."""
    none = np.zeros(0)
    return float(sum(np.maximum(depths.get(pair, none) - DEEP, 0.0).sum() for pair in pairs or depths))
